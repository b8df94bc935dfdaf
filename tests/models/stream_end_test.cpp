// SPDX-License-Identifier: Apache-2.0
/// src/lib/connection and src/lib/session against tests/models/stream_end.pml: two ends, one stream.
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "lib/connection/multiplexer_fixture.hpp"
#include "lib/core/program_exit.hpp"
#include "models/runs.hpp"
#include "models/stepped_channel.hpp"
#include "models/stepped_stream.hpp"
#include "support/run_until.hpp"

namespace udtcat::models {
namespace {

constexpr std::size_t kDatagramBytes = 2048;  // guess: more than a priority datagram has

/// The model's numbers of outcomes.
char outcome_of(const std::optional<Error>& error) {
  if (!error) return '1';
  switch (error->code) {
    case Errc::interrupted:
      return '2';
    case Errc::local_read_failed:
      return '3';
    case Errc::local_write_failed:
      return '4';
    case Errc::remote_read_failed:
      return '5';
    case Errc::remote_write_failed:
      return '6';
    case Errc::peer_interrupted:
      return '7';
    case Errc::connection_broken:
      return '8';
    case Errc::tampered:
      return '9';
    case Errc::peer_reports_tampering:
      return 'a';
    case Errc::protocol_violated:
      return 'b';
    case Errc::peer_lost:
      return 'c';
    default:
      return '?';
  }
}

class StreamOfTwoEnds {
 public:
  /// copies   whether there are priority datagrams
  explicit StreamOfTwoEnds(bool copies) {
    make(0, session::Role::connector, copies);
    make(1, session::Role::listener, copies);
    ends_[1].connection->on_stream([this](StreamId id) {
      ends_[1].connection->accept_stream(id, std::make_unique<test::SteppedStream>(ends_[1].local), note_outcome(1));
    });
    ends_[0].connection->open_stream(std::make_unique<test::SteppedStream>(ends_[0].local), note_outcome(0), {});
    test::run_ready(io_);
  }

  void take(const Step& step) {
    const auto found = kSteps.find(step.name);
    ASSERT_NE(found, kSteps.end()) << step.name;
    (this->*found->second)(step.end);
    test::run_ready(io_);
  }
  [[nodiscard]] bool shows(const std::string& wanted) const { return seen() == wanted; }
  /// As the model's OBSERVE has it.
  [[nodiscard]] std::string seen() const { return seen(0) + "," + seen(1); }

 private:
  struct End {
    std::shared_ptr<test::SteppedPipe> incoming = std::make_shared<test::SteppedPipe>();
    std::shared_ptr<test::SteppedEnds> local = std::make_shared<test::SteppedEnds>();
    std::unique_ptr<Connection> connection;
    char outcome = '0';
    char closed = '0';
  };

  void make(std::size_t e, session::Role role, bool copies) {
    session::NegotiatedParameters agreed;
    agreed.protection = options_.protection = Protection::private_;
    agreed.window_to_peer_bytes = agreed.window_from_peer_bytes = session::kInitialWindowBytes;
    options_.threads = 0;
    auto channel = std::make_unique<test::SteppedChannel>(io_, ends_[e].incoming, ends_[1 - e].incoming,
                                                          copies ? kDatagramBytes : 0);
    auto session = connection::session_after_handshake(io_, role, agreed, std::move(channel));
    ends_[e].connection = std::move(*connection::Multiplexer::create(io_, std::move(session), options_, {}));
    ends_[e].connection->on_closed([&end = ends_[e]](const Status& status) {
      end.closed = outcome_of(status ? std::nullopt : std::optional(status.error()));
    });
  }
  Connection::OutcomeHandler note_outcome(std::size_t e) {
    return [&end = ends_[e]](const StreamOutcome& outcome) { end.outcome = outcome_of(outcome.error); };
  }
  [[nodiscard]] std::string seen(std::size_t e) const {
    const End& end = ends_[e];
    const bool listens = end.incoming->open && !end.incoming->broken;
    const std::size_t records = listens ? end.incoming->records.size() : 0;
    return std::string{end.outcome, end.closed} + std::to_string(end.local->consumed) +
           (end.local->finished ? '1' : '0') + (end.local->receipted ? '1' : '0') + std::to_string(records);
  }

  void wake_source(std::size_t e) {
    if (auto wakes = std::exchange(ends_[e].local->waits_readable, nullptr)) wakes();
  }
  void says(std::size_t e) {
    ++ends_[e].local->to_say;
    wake_source(e);
  }
  void says_last(std::size_t e) {
    ++ends_[e].local->to_say;
    ends(e);
  }
  void ends(std::size_t e) {
    ends_[e].local->source_ends = true;
    wake_source(e);
  }
  void reading_fails(std::size_t e) {
    ends_[e].local->source_fails = std::make_error_code(std::errc::io_error);
    wake_source(e);
  }
  void command_fails(std::size_t e) {
    ends_[e].local->source = "command";
    ends_[e].local->source_fails = core::program_exit(1, 0);
    wake_source(e);
  }
  void write_done(std::size_t e, std::error_code error) {
    const auto writes = std::exchange(ends_[e].local->writes, nullptr);
    ASSERT_TRUE(writes) << "nothing is being written";
    if (!error) ++ends_[e].local->consumed;
    writes(error, error ? 0 : 1);
  }
  void consumes(std::size_t e) { write_done(e, {}); }
  void consuming_fails(std::size_t e) { write_done(e, std::make_error_code(std::errc::broken_pipe)); }
  void finish_done(std::size_t e, std::error_code error) {
    const auto finishes = std::exchange(ends_[e].local->finishes, nullptr);
    ASSERT_TRUE(finishes) << "the end of file was not written";
    ends_[e].local->finished = !error;
    finishes(error);
  }
  void finishes(std::size_t e) { finish_done(e, {}); }
  void finishing_fails(std::size_t e) { finish_done(e, std::make_error_code(std::errc::io_error)); }

  void arrives(std::size_t e) {
    repeats(e);
    is_lost(e);
  }
  void repeats(std::size_t e) {
    test::SteppedPipe& pipe = *ends_[e].incoming;
    ASSERT_FALSE(pipe.records.empty()) << "no record is on its way";
    pipe.arrived.insert(pipe.arrived.end(), pipe.records.front().begin(), pipe.records.front().end());
    pipe.wake_reader();
  }
  void is_lost(std::size_t e) {
    ASSERT_FALSE(ends_[e].incoming->records.empty()) << "no record is on its way";
    ends_[e].incoming->records.pop_front();
  }
  void copy_arrives(std::size_t e) {
    test::SteppedPipe& pipe = *ends_[e].incoming;
    ASSERT_FALSE(pipe.datagrams.empty()) << "no datagram is on its way";
    const auto datagram = pipe.datagrams.front();
    pipe.datagrams.pop_front();
    pipe.take_datagram(datagram);
    pipe.take_datagram(datagram);  // a second time it is nothing
  }
  void copy_is_lost(std::size_t e) {
    ASSERT_FALSE(ends_[e].incoming->datagrams.empty()) << "no datagram is on its way";
    ends_[e].incoming->datagrams.pop_front();
  }
  void breaks(std::size_t e) {
    ends_[e].incoming->broken = true;
    ends_[e].incoming->wake_reader();
  }
  void dies(std::size_t e) { ends_[e].connection.reset(); }
  void closes(std::size_t e) { ends_[e].connection->close(); }
  void gives_up(std::size_t e) { ends_[e].connection->abort({Errc::interrupted, "test", "it gives up"}); }

  using Action = void (StreamOfTwoEnds::*)(std::size_t);
  static const std::map<std::string, Action> kSteps;

  SessionOptions options_;
  boost::asio::io_context io_;
  std::array<End, 2> ends_;
};

const std::map<std::string, StreamOfTwoEnds::Action> StreamOfTwoEnds::kSteps{
    {"says", &StreamOfTwoEnds::says},
    {"says_last", &StreamOfTwoEnds::says_last},
    {"ends", &StreamOfTwoEnds::ends},
    {"reading_fails", &StreamOfTwoEnds::reading_fails},
    {"command_fails", &StreamOfTwoEnds::command_fails},
    {"consumes", &StreamOfTwoEnds::consumes},
    {"consuming_fails", &StreamOfTwoEnds::consuming_fails},
    {"finishes", &StreamOfTwoEnds::finishes},
    {"finishing_fails", &StreamOfTwoEnds::finishing_fails},
    {"arrives", &StreamOfTwoEnds::arrives},
    {"repeats", &StreamOfTwoEnds::repeats},
    {"is_lost", &StreamOfTwoEnds::is_lost},
    {"copy_arrives", &StreamOfTwoEnds::copy_arrives},
    {"copy_is_lost", &StreamOfTwoEnds::copy_is_lost},
    {"breaks", &StreamOfTwoEnds::breaks},
    {"dies", &StreamOfTwoEnds::dies},
    {"closes", &StreamOfTwoEnds::closes},
    {"gives_up", &StreamOfTwoEnds::gives_up},
};

std::string play(const Steps& run, bool copies) {
  StreamOfTwoEnds ends(copies);
  return take_steps(run, ends);
}

/// The multiplexer's clock is the real one: a run that is held up for so long that PING is due is done again.
std::string play_in_time(const Steps& run, bool copies) {
  constexpr auto kInTime = std::chrono::milliseconds(500);  // guess: half of the interval of PING
  for (;;) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string difference = play(run, copies);
    if (difference.empty() || std::chrono::steady_clock::now() - begin < kInTime) return difference;
  }
}

TEST(StreamEnd, DoesWhatItsModelDoes) {
  play_all_runs([](const Steps& run) { return play_in_time(run, false); });
}
TEST(StreamEnd, DoesWhatItsModelDoesWithPriorityDatagrams) {
  play_all_runs([](const Steps& run) { return play_in_time(run, true); });
}

}  // namespace
}  // namespace udtcat::models
