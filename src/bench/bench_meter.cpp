// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_meter.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/cores.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"
#include "tool/run/warnings.hpp"
#include "tool/status/why_text.hpp"

namespace udtcat::bench {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::microseconds;

constexpr std::size_t kIdleRoundTrips = 12;          // guess: the middle of a dozen is no outlier
constexpr auto kIdleTime = std::chrono::seconds(3);  // guess: nobody waits longer for a path that is far
constexpr auto kTimeout = std::chrono::seconds(10);  // guess: what is on its way when the time is over
constexpr std::size_t kWays = 2;
constexpr auto kRequestInterval = std::chrono::milliseconds(100);  // guess: 50 round trips in 5 s, a load of nothing

}  // namespace

BenchMeter::BenchMeter(boost::asio::io_context& io, std::unique_ptr<Connection> connection,
                       std::chrono::seconds each_way, Handlers handlers)
    : each_way_(each_way),
      handlers_(std::move(handlers)),
      timer_(io),
      deadline_(io),
      connection_(std::move(connection)) {
  const ConnectionStats stats = connection_->stats();
  result_.peer = tool::peer_text(*connection_);
  result_.protection = stats.protection;
  result_.cipher = stats.cipher;
  result_.transport = stats.transport;
  result_.flows = stats.flows;
  result_.selected_pair = stats.selected_pair;
  result_.cores_here = core::available_cores();
}

void BenchMeter::start() {
  connection_->on_closed([this](const Status& status) { on_closed(status); });
  lines_.emplace(connection_->open_stream());
  begin_phase(kIdleTime);
  handlers_.on_step("the round trip of the empty path");
  send_request();
}

void BenchMeter::begin_phase(std::chrono::seconds time) {
  phase_began_ = Clock::now();
  deadline_.expires_after(time + kTimeout);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) on_late();
  }));
}

/// The phase has not ended in time: the peer sends for too long or not at all, or a slow path still carries much.
void BenchMeter::on_late() {
  BenchResult so_far = result_so_far();
  const Error late{Errc::connection_broken, "measure",
                   so_far.directions.empty()
                       ? "the other end does not come to an end"
                       : fmt::format("not all had arrived {} s after the end of the sending; the rates are of what had",
                                     kTimeout.count())};
  if (so_far.directions.size() < kWays) return give_up(late);
  core::log().warn("{}", late.message());
  result_ = std::move(so_far);
  state_ = State::closing;
  connection_->abort(late);
}

void BenchMeter::on_closed(const Status& status) {
  timer_.cancel();
  deadline_.cancel();
  Status over;
  if (error_)
    over = tl::unexpected(*error_);
  else if (state_ != State::closing)
    over = status ? fail(Errc::peer_interrupted, "measure", "the other end left") : status;
  handlers_.on_over(over, result_so_far());
}

BenchResult BenchMeter::result_so_far() {
  BenchResult result = result_;
  // A response during the load has the peer's counters for this direction.
  const bool has_way = state_ == State::loaded || state_ == State::drained || state_ == State::counting;
  if (has_way && !loaded_.all.empty()) result.directions.push_back(direction_result(true));
  return result;
}

void BenchMeter::send_request() {
  UDTCAT_INVARIANT(!request_pending_, "one question at a time");
  request_pending_ = true;
  requested_at_ = Clock::now();
  request_written_ = false;
  lines_->async_write(to_json(BenchRequest{++number_, each_way_}), [this](const Status& written) {
    if (!written) return give_up(written.error());
    request_written_ = true;
  });
  lines_->async_read([this](const Result<std::string>& line) { on_response(line); });
}

void BenchMeter::send_request_soon() {
  timer_.expires_after(kRequestInterval);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled && !request_pending_) send_request();
  }));
}

void BenchMeter::on_response(const Result<std::string>& line) {
  const auto now = Clock::now();
  request_pending_ = false;
  if (!line) return give_up(line.error());
  if (!request_written_)
    return give_up({Errc::protocol_violated, "read a message of a bench", "it answers what was not asked"});
  auto response = parse_bench_response(*line);
  if (!response) return give_up(response.error());
  if (response->number != number_)
    return give_up({Errc::protocol_violated, "read a message of a bench", "it answers another question"});
  response_ = *response;
  result_.cores_there = response_.cores;
  const auto round_trip = duration_cast<microseconds>(now - requested_at_);
  switch (state_) {
    case State::idle:
      result_.idle_rtts.all.push_back(round_trip);
      if (result_.idle_rtts.all.size() < kIdleRoundTrips && now - phase_began_ < kIdleTime) return send_request();
      return load(BenchDirection::out);
    case State::loaded:
      loaded_.all.push_back(round_trip);
      return send_request_soon();
    case State::drained:
      loaded_.all.push_back(round_trip);
      return request_counters();
    case State::counting:
      result_.directions.push_back(direction_result(false));
      if (direction_ == BenchDirection::out) return load(BenchDirection::back);
      state_ = State::closing;
      return connection_->close();
    case State::closing:
      return;
  }
}

void BenchMeter::load(BenchDirection direction) {
  direction_ = direction;
  state_ = State::loaded;
  loaded_ = {};
  goodput_ = std::make_shared<Goodput>();
  here_before_ = bench_counters(connection_->stats());
  there_before_ = response_.counters;
  ends_before_ = connection_->stats().ends;
  ends_after_.reset();
  begin_phase(each_way_);
  const bool out = direction == BenchDirection::out;
  handlers_.on_step(out ? "the way out" : "the way back");
  const auto sends_for = out ? each_way_ : std::chrono::seconds(0);
  connection_->open_stream(std::make_unique<BenchStream>(*connection_, sends_for, goodput_),
                           lifetime_.guard([this](const StreamOutcome& outcome) { on_loaded(outcome); }));
  send_request_soon();
}

void BenchMeter::on_loaded(const StreamOutcome& outcome) {
  if (outcome.error) return give_up(*outcome.error);
  state_ = State::drained;
  ends_after_ = connection_->stats().ends;
  if (!request_pending_) request_counters();
}

/// Asks for the peer's final counters of this direction.
void BenchMeter::request_counters() {
  timer_.cancel();
  state_ = State::counting;
  send_request();
}

BenchCounters BenchMeter::counters_here() {
  BenchCounters counters = since(here_before_, bench_counters(connection_->stats()));
  counters.taken_bytes = goodput_->bytes;
  counters.taking = goodput_->time();
  return counters;
}

DirectionResult BenchMeter::direction_result(bool is_cut) {
  DirectionResult result{.direction = direction_,
                         .here = counters_here(),
                         .there = since(there_before_, response_.counters),
                         .elapsed = duration_cast<microseconds>(Clock::now() - phase_began_),
                         .loaded = loaded_,
                         .limited_by = {}};
  const ConnectionStats stats = connection_->stats();
  result_.selected_pair = stats.selected_pair;
  BothEndsStats now = stats.ends;
  if (ends_after_) now.here = ends_after_->here;
  const BothEndsStats grown = udtcat::since(ends_before_, now);
  result.limited_by = why_of_bench(grown);
  // The request is queued behind the data; reports are not.
  if (is_cut && direction_ == BenchDirection::out && grown.there &&
      grown.there->bytes_received > result.there.taken_bytes) {
    result.there.taken_bytes = grown.there->bytes_received;
    result.there.taking = grown.there->elapsed;
  }
  return result;
}

void BenchMeter::give_up(const Error& why) {
  if (error_ || state_ == State::closing) return;
  error_ = why;
  connection_->abort(why);
}

}  // namespace udtcat::bench
