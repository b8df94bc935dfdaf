// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_service.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "bench/bench_lines.hpp"
#include "bench/bench_message.hpp"
#include "lib/core/cores.hpp"
#include "tool/cli/applications.hpp"
#include "tool/run/transfer_event.hpp"
#include "tool/run/warnings.hpp"

namespace udtcat::bench {

namespace {

constexpr std::size_t kStreams = 2;     // spec: docs/spec/bench.md §1: questions, and one that measures
constexpr std::size_t kMaxClients = 8;  // guess: addresses under which one peer dials
constexpr auto kRequestDeadline = std::chrono::seconds(10);   // spec: docs/spec/bench.md §1
constexpr auto kMeasureDeadline = std::chrono::seconds(180);  // spec: docs/spec/bench.md §1

}  // namespace

FurtherApplication application_beside(const SessionOptions& session) {
  FurtherApplication bench{.session = session, .limits = {.peers = 1, .sessions_per_peer = 1}};
  bench.session.application = tool::kBench;
  bench.session.sends = bench.session.receives = true;
  bench.session.one_stream = false;
  bench.session.streams = kStreams;
  bench.session.services.clear();
  return bench;
}

class BenchService::BenchClient {
 public:
  BenchClient(BenchService& service, std::unique_ptr<Connection> connection)
      : service_(service), timeout_(service.io_), connection_(std::move(connection)) {
    connection_->on_stream([this](StreamId id) { take(id); });
    connection_->on_closed([this](const Status& status) { service_.on_closed(*this, status); });
    give_up_after(kRequestDeadline, "it asked nothing");
  }

  [[nodiscard]] Connection& connection() const { return *connection_; }

 private:
  void give_up_after(std::chrono::seconds time, const char* why) {
    timeout_.expires_after(time);
    timeout_.async_wait([this, why](const boost::system::error_code& cancelled) {
      if (!cancelled) connection_->abort({Errc::stream_refused, "serve a bench", why});
    });
  }

  void take(StreamId id) {
    const auto refuse = [&](const char* why) {
      connection_->refuse_stream(id, {Errc::stream_refused, "serve a bench", why});
    };
    if (id == kBenchControl) {
      if (!service_.admit(*this)) return refuse("another one is under way");
      give_up_after(kMeasureDeadline, "it takes more than 3 minutes");
      lines_.emplace(connection_->accept_stream(id));
      return listen();
    }
    if (!lines_ || (id != kBenchOut && id != kBenchBack)) return refuse("it has three streams, and begins with 0");
    const auto sends_for = id == kBenchBack ? sends_for_ : std::chrono::seconds(0);
    connection_->accept_stream(id, std::make_unique<BenchStream>(*connection_, sends_for, goodput_),
                               [](const StreamOutcome&) {});
  }

  void listen() {
    lines_->async_read([this](const Result<std::string>& line) {
      if (!line) return line.error().code == Errc::connection_broken ? void() : connection_->abort(line.error());
      const auto request = parse_bench_request(*line);
      if (!request) return connection_->abort(request.error());
      sends_for_ = request->sends_for;
      response(request->number);
    });
  }

  void response(std::uint64_t number) {
    BenchResponse response{
        .number = number, .cores = core::available_cores(), .counters = bench_counters(connection_->stats())};
    response.counters.taken_bytes = goodput_->bytes;
    response.counters.taking = goodput_->time();
    connection_->send_report();  // of the way that is over
    lines_->async_write(to_json(response), [this](const Status& written) {
      if (written) listen();  // else the connection is about to end
    });
  }

  BenchService& service_;
  boost::asio::steady_timer timeout_;
  std::chrono::seconds sends_for_{0};
  const std::shared_ptr<Goodput> goodput_ = std::make_shared<Goodput>();
  const std::unique_ptr<Connection> connection_;
  std::optional<BenchLines> lines_;
};

BenchService::BenchService(boost::asio::io_context& io, Handlers handlers)
    : io_(io), handlers_(std::move(handlers)), rejected_(io) {}

BenchService::~BenchService() = default;

void BenchService::serve(std::unique_ptr<Connection> connection) {
  if (clients_.size() >= kMaxClients)
    return rejected_.reject(std::move(connection), {Errc::stream_refused, "serve a bench", "too many wait for one"});
  clients_.push_back(std::make_unique<BenchClient>(*this, std::move(connection)));
}

void BenchService::abort_all(const Error& why) {
  for (const auto& client : clients_) client->connection().abort(why);
}

/// Whether the client, which asks, is the one that is served.
bool BenchService::admit(BenchClient& client) {
  if (asked_ != nullptr || (handlers_.on_asked && !handlers_.on_asked(client.connection()))) return false;
  asked_ = &client;
  tool::LogEvent event = tool::peer_event(tool::EventKind::peer_up, client.connection());
  event.severity = tool::Severity::info;
  event.message = "a bench for " + tool::peer_text(client.connection());
  tool::log_event(event);
  return true;
}

void BenchService::on_closed(const BenchClient& client, const Status& status) {
  const bool was_served = asked_ == &client;
  if (was_served) {
    asked_ = nullptr;
    const bool is_over = status || status.error().code == Errc::peer_interrupted;  // its client leaves when it has all
    // Told alone: nothing of anybody's was moved, and who counts transfers would take it for a mirror's.
    tool::tell_event(
        tool::transfer_event(tool::transfer_of(client.connection(), "bench", is_over ? Status() : status)));
  }
  // Posted: the caller is the client's own connection.
  boost::asio::post(io_, lifetime_.guard([this, &client, was_served, status] {
    if (handlers_.on_gone) handlers_.on_gone(client.connection());
    std::erase_if(clients_, [&client](const auto& each) { return each.get() == &client; });
    if (was_served && handlers_.on_over) handlers_.on_over(status);
  }));
}

}  // namespace udtcat::bench
