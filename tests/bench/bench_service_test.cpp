// SPDX-License-Identifier: Apache-2.0
// src/bench/bench_service.cpp and bench_meter.cpp, its counterpart, over the real transport.
#include "bench/bench_service.hpp"

#include <gtest/gtest.h>

#include "bench/bench_lines.hpp"
#include "bench/bench_meter.hpp"
#include "lib/connection/two_ends.hpp"
#include "tool/cli/log_event.hpp"

namespace udtcat::bench {
namespace {

using namespace std::chrono_literals;

class BenchServiceTest : public connection::TwoEnds {
 protected:
  void SetUp() override {
    TwoEnds::SetUp();
    ListenRequest request = listen_request();
    // As of a pipe that only receives.
    request.session.one_stream = true;
    request.session.sends = false;
    request.further.push_back(application_beside(request.session));
    request.limits.peers = request.limits.sessions_per_peer = 1;
    serve(std::move(request));
  }
  void serve(ListenRequest request) {
    listener.reset();
    auto made = listen(
        io, std::move(request), [this](std::unique_ptr<Connection> client) { service_.serve(std::move(client)); },
        [this](const Endpoint&, const Error& why) { refusals.push_back(why); });
    ASSERT_TRUE(made) << made.error().message();
    listener = std::move(*made);
  }
  [[nodiscard]] std::unique_ptr<Connection> client() {
    DialRequest request = dial_request();
    request.session.application = "bench";
    start_dialing(std::move(request));
    run_until_dialed();
    return std::move(**result);
  }
  [[nodiscard]] Result<std::string> send_request(BenchLines& lines, const std::string& line) {
    std::optional<Result<std::string>> response;
    lines.async_write(line, [](const Status&) {});
    lines.async_read([&](Result<std::string> text) { response = std::move(text); });
    run_until([&] { return response.has_value(); });
    return *response;
  }

  BenchService service_{io, {}};
};

TEST_F(BenchServiceTest, LetsAPeerMeasureBothWays) {
  std::optional<Status> over;
  BenchResult measured;
  BenchMeter meter(io, client(), 1s,
                   {.on_step = [](const char*) {},
                    .on_over =
                        [&](const Status& how, const BenchResult& found) {
                          over = how;
                          measured = found;
                        }});
  meter.start();
  run_until([&] { return over.has_value(); });
  ASSERT_TRUE(*over) << over->error().message();
  ASSERT_EQ(measured.directions.size(), 2U);
  EXPECT_GT(measured.idle_rtts.all.size(), 1U);
  EXPECT_GT(measured.cores_there, 0U);
  for (const DirectionResult& each : measured.directions) {
    EXPECT_GT(each.receiver().taken_bytes, 100'000U);
    EXPECT_GE(each.receiver().taking, 800ms) << "a second, but for the first bytes' way";
    EXPECT_GT(each.sender().packets_sent, 10 * (each.receiver().packets_late + 1));
    EXPECT_GT(each.loaded.all.size(), 0U);
  }
  run_until([&] { return service_.idle(); });
}

TEST_F(BenchServiceTest, IsToldOfAndIsNoTransferThatIsCounted) {
  int counted = 0;
  std::vector<std::string> told;
  const auto is_transfer = [](const tool::LogEvent& event) { return event.kind == tool::EventKind::transfer; };
  tool::set_event_observer([&](const tool::LogEvent& event) { counted += is_transfer(event) ? 1 : 0; });
  tool::set_event_sink([&](const tool::LogEvent& event) {
    if (is_transfer(event)) told.push_back(event.object.value_or(""));
  });
  for (const bool is_whole : {true, false}) {
    const auto measuring = client();
    BenchLines lines(measuring->open_stream());
    EXPECT_TRUE(send_request(lines, to_json(BenchRequest{1, 1s})));
    is_whole ? measuring->close() : measuring->abort({Errc::interrupted, "measure", "enough"});
    run_until([&] { return service_.idle(); });
  }
  tool::set_event_observer({});
  tool::set_event_sink({});
  EXPECT_EQ(told, (std::vector<std::string>{"bench", "bench"}));
  EXPECT_EQ(counted, 0);
}

TEST_F(BenchServiceTest, TellsWhatItHasMeasuredBeforeEachAnswer) {
  const auto measuring = client();
  BenchLines lines(measuring->open_stream());
  ASSERT_TRUE(send_request(lines, to_json(BenchRequest{1, 1s})));
  const auto first = measuring->stats().ends.there;
  ASSERT_TRUE(first);
  ASSERT_TRUE(send_request(lines, to_json(BenchRequest{2, 1s})));
  EXPECT_GT(measuring->stats().ends.there->bytes_received, first->bytes_received);
}

/// Proves: threat-model.bench-time
TEST_F(BenchServiceTest, ServesOneAtATime) {
  ListenRequest for_benches = listen_request();
  for_benches.session.application = "bench";
  serve(std::move(for_benches));
  const auto first = client();
  BenchLines lines(first->open_stream());
  ASSERT_TRUE(send_request(lines, to_json(BenchRequest{1, 1s})));
  const auto second = client();
  BenchLines others(second->open_stream());
  const auto refused = send_request(others, to_json(BenchRequest{1, 1s}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::stream_refused);
  EXPECT_TRUE(send_request(lines, to_json(BenchRequest{2, 1s}))) << "which disturbs the first in nothing";
}

TEST_F(BenchServiceTest, TakesNoSlotFromThePeersOfTheListener) {
  const auto measuring = client();
  start_dialing(dial_request());
  run_until_dialed();
  EXPECT_EQ((**result)->application(), "pipe");
}

/// A question that is so long without its newline.
std::string padded(std::size_t bytes) {
  std::string line = to_json(BenchRequest{1, 1s});
  line.insert(1, bytes - line.size(), ' ');
  return line;
}

/// Proves: bench.line-length
TEST_F(BenchServiceTest, AnswersAQuestionOf4096BytesWithItsNewline) {
  const auto measuring = client();
  BenchLines lines(measuring->open_stream());
  EXPECT_TRUE(send_request(lines, padded(4095)));
}

/// Proves: bench.line-length
TEST_F(BenchServiceTest, ClosesAConnectionThatBreaksTheProtocol) {
  for (const std::string& line : {std::string("{}"), std::string("hello"), padded(4096),
                                  to_json(BenchRequest{1, 1s}) + "\n" + to_json(BenchRequest{2, 1s})}) {
    const auto rude = client();
    std::optional<Status> closed;
    rude->on_closed([&](const Status& how) { closed = how; });
    BenchLines lines(rude->open_stream());
    EXPECT_FALSE(send_request(lines, line)) << line.substr(0, 20);
    run_until([&] { return closed.has_value(); });
    EXPECT_FALSE(*closed);
    run_until([&] { return service_.idle(); });
  }
}

TEST_F(BenchServiceTest, SendsNothingBeforeARequest) {
  const auto eager = client();
  const auto questions = eager->open_stream();
  std::optional<StreamOutcome> outcome;
  const auto goodput = std::make_shared<Goodput>();
  const auto open = [&] {
    outcome.reset();
    eager->open_stream(std::make_unique<BenchStream>(*eager, 0s, goodput),
                       [&](const StreamOutcome& how) { outcome = how; });
    run_until([&] { return outcome.has_value(); });
  };
  open();
  ASSERT_FALSE(outcome->error) << outcome->error->message();
  open();
  ASSERT_FALSE(outcome->error) << "stream 4, for the 0 seconds that nobody has asked for yet";
  EXPECT_EQ(goodput->bytes, 0U);
  open();
  ASSERT_TRUE(outcome->error) << "stream 6";
}

TEST_F(BenchServiceTest, RefusesAnotherApplication) {
  DialRequest request = dial_request();
  request.session.application = "forward";
  start_dialing(std::move(request));
  run_until_dialed();
  ASSERT_FALSE(*result);
  EXPECT_EQ(error(), Errc::parameters_refused);
}

}  // namespace
}  // namespace udtcat::bench
