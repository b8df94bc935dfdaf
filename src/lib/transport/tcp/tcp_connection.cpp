// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/tcp_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>
#include <utility>

#include <boost/asio/post.hpp>

namespace udtcat::transport::tcp {

namespace {

using namespace std::chrono_literals;

// Bytes that the system holds and has not sent go before any word that is written later: so much of time.
constexpr auto kUnsentTime = 8ms;                        // guess: a few turns of a busy event loop
constexpr std::uint64_t kLeastUnsentBytes = 16 * kKiB;   // guess: some packets
constexpr std::uint64_t kMostUnsentBytes = 1 * kMiB;     // guess: four blocks; 10 Gbit/s for a millisecond
constexpr std::uint64_t kFirstUnsentBytes = 128 * kKiB;  // guess: until the rate is known
constexpr std::size_t kMostBytesInTurn = 1 * kMiB;       // guess: others wait for that long, some 0.2 ms
constexpr auto kLookWhileSending = 10ms;                 // guess: one system call
constexpr int kLooksInIdleTimeout = 8;                   // guess: it is kept within an eighth
constexpr unsigned kUnanswered = 2;                      // guess: one may be lost
constexpr auto kSlowestLook = 5s;                        // guess
constexpr auto kFastestLook = 20ms;                      // guess
constexpr auto kFastestAcknowledgementPoll = 1ms;        // guess: at the end of a connection alone
constexpr auto kSlowestAcknowledgementPoll = 50ms;       // guess
constexpr std::size_t kScratchBytes = 16 * kKiB;         // guess: on the stack; of what nobody reads any more

}  // namespace

TcpConnection::TcpConnection(boost::asio::io_context& io, Socket socket, const Endpoint& peer,
                             const TransportOptions& options, bool proved, std::function<void()> on_over)
    : io_(io),
      socket_(std::move(socket)),
      peer_(peer),
      options_(options),
      proved_(proved),
      on_over_(std::move(on_over)),
      unsent_limit_bytes_(kFirstUnsentBytes),
      acknowledged_at_(Clock::now()),
      timer_(io) {
  set_up(socket_, options_);
  limit_unsent(socket_, unsent_limit_bytes_);
  arm(Clock::now() + look_interval());
}

// ---- Bytes ----------------------------------------------------------------------------------------------------------

Received TcpConnection::receive(std::span<std::byte> into) {
  if (end_ == End::peer_closed) return {.state = Received::State::end};
  const Received failed{.state = Received::State::failed, .errno_value = errno_value_};
  if (state_ == State::over) return failed;
  const Received got = tcp::receive(socket_, into);
  if (got.state == Received::State::data) received_bytes_ += got.bytes;
  // Bytes that came before a failure to send are there; an end behind them is none.
  if (end_ != End::none) return got.state == Received::State::data ? got : failed;
  if (got.state == Received::State::end) fail_with(End::peer_closed, 0);
  if (got.state == Received::State::failed) fail_with(End::broken, got.errno_value);
  return got;
}

void TcpConnection::wait_readable() {
  if (state_ == State::over || std::exchange(waits_readable_, true)) return;
  socket_.async_wait(Socket::wait_read, lifetime_.guard([this](const boost::system::error_code& cancelled) {
    waits_readable_ = false;
    if (cancelled) return;
    if (state_ == State::draining) {
      discard_received();
      return;
    }
    if (user_ != nullptr) user_->on_readable();
  }));
}

void TcpConnection::write(core::SharedBytes bytes) {
  written_bytes_ += bytes.size();
  if (bytes.size() > 0) queue_.push_back(std::move(bytes));
  schedule_flush();
}

/// Posted, so that what is written in one turn of the event loop is one call of the system.
void TcpConnection::schedule_flush() {
  if (waits_writable_ || std::exchange(flush_scheduled_, true)) return;
  boost::asio::post(io_, lifetime_.guard([this] {
    flush_scheduled_ = false;
    flush();
  }));
}

void TcpConnection::flush() {
  if (ended()) return;
  const std::uint64_t before = taken_bytes_;
  while (!queue_.empty() && send_some())
    if (taken_bytes_ - before >= kMostBytesInTurn) {
      schedule_flush();
      break;
    }
  const TimePoint now = Clock::now();
  stalls_.set(now, waits_writable_ ? std::optional(StallReason::path) : std::nullopt);
  if (state_ == State::draining) return finish_drain(now);
  if (now - looked_at_ >= kLookWhileSending) look(now);
  if (user_ != nullptr) user_->on_sent();
}

/// returns   whether the system may take more
bool TcpConnection::send_some() {
  std::array<std::span<const std::byte>, kMaxPieces> pieces;
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const core::SharedBytes& each : queue_) {
    if (count == pieces.size() || bytes >= kMostBytesInTurn) break;
    pieces[count] = each.bytes().subspan(count == 0 ? front_taken_bytes_ : 0);
    bytes += pieces[count++].size();
  }
  const Sent sent = tcp::send(socket_, std::span(pieces).first(count));
  if (sent.failed) {
    fail_with(End::broken, sent.errno_value);
    return false;
  }
  take(sent.bytes);
  if (sent.bytes == bytes) return true;
  wait_writable();
  return false;
}

void TcpConnection::take(std::size_t bytes) {
  taken_bytes_ += bytes;
  front_taken_bytes_ += bytes;
  while (!queue_.empty() && front_taken_bytes_ >= queue_.front().size()) {
    front_taken_bytes_ -= queue_.front().size();
    queue_.pop_front();
  }
}

void TcpConnection::wait_writable() {
  if (std::exchange(waits_writable_, true)) return;
  socket_.async_wait(Socket::wait_write, lifetime_.guard([this](const boost::system::error_code& cancelled) {
    waits_writable_ = false;
    if (!cancelled) flush();
  }));
}

// ---- The end --------------------------------------------------------------------------------------------------------

void TcpConnection::close(std::chrono::milliseconds drain) {
  if (state_ != State::open) return;
  state_ = State::draining;
  const TimePoint now = Clock::now();
  drain_deadline_ = now + drain;
  if (ended()) return become_over();
  // Later bytes of the peer are thrown away: a close with some that nobody has read would be a reset.
  wait_readable();
  arm(drain_deadline_);
  if (drain > 0ms) return finish_drain(now);
  flush();  // what the system takes at once
  if (state_ != State::over) finish_drain(drain_deadline_);
}

void TcpConnection::release() {
  user_ = nullptr;
  released_ = true;
  if (state_ == State::open) close(0ms);
  if (state_ == State::over) on_over_();
}

void TcpConnection::discard_received() {
  std::array<std::byte, kScratchBytes> scratch;
  for (;;) {
    const Received got = tcp::receive(socket_, scratch);
    if (got.state == Received::State::would_block) return wait_readable();
    if (got.state == Received::State::failed) return fail_with(End::broken, got.errno_value);
    peer_has_ended_ = got.state == Received::State::end;
    if (peer_has_ended_) return;
    received_bytes_ += got.bytes;
  }
}

/// Closes once the peer's system has it all, in order, or once it is too late for that.
void TcpConnection::finish_drain(TimePoint now) {
  if (state_ != State::draining) return;
  if (queue_.empty() && !std::exchange(end_sent_, true)) {
    boost::system::error_code gone;
    socket_.shutdown(Socket::shutdown_send, gone);
  }
  peer_has_all_ = end_sent_ && unacknowledged_bytes(descriptor()) == 0;
  if (peer_has_all_) return become_over();
  if (now >= drain_deadline_) {
    // The system may go on with the rest; of a stream that lacks bytes there must be no end.
    if (!queue_.empty()) reset(socket_);
    return become_over();
  }
  arm(std::min(drain_deadline_, end_sent_ ? now + acknowledgement_interval() : drain_deadline_));
  if (user_ != nullptr) user_->on_sent();
}

void TcpConnection::drain_on(TimePoint now) {
  if (state_ != State::draining) return;
  flush();
  if (state_ == State::draining) discard_received();
  if (state_ == State::draining) finish_drain(now);
}

void TcpConnection::fail_with(End end, int errno_value) {
  if (end_ != End::none) return;
  end_ = end;
  errno_value_ = errno_value;
  queue_.clear();
  stalls_.set(Clock::now(), std::nullopt);
  const bool is_given_up = end == End::silence || end == End::no_acknowledgement;
  if (is_given_up) {
    reset(socket_);
    return become_over();
  }
  if (state_ == State::draining) return become_over();
  // Posted: the user may be in a call.
  boost::asio::post(io_, lifetime_.guard([this] { tell_user(); }));
}

void TcpConnection::become_over() {
  if (std::exchange(state_, State::over) == State::over) return;
  queue_.clear();
  timer_.cancel();
  std::ignore = stats();  // the last
  boost::system::error_code none;
  socket_.close(none);
  boost::asio::post(io_, lifetime_.guard([this] { tell_user(); }));
}

void TcpConnection::tell_user() {
  if (user_ == nullptr) {
    if (released_ && state_ == State::over) on_over_();
    return;
  }
  user_->on_sent();
  if (user_ != nullptr) user_->on_readable();
}

// ---- Whether the peer is there --------------------------------------------------------------------------------------

std::uint64_t TcpConnection::acknowledged_bytes() {
  if (state_ == State::over) return peer_has_all_ ? taken_bytes_ : 0;
  if (end_ == End::broken) return 0;
  const std::uint64_t missing = unacknowledged_bytes(descriptor());
  // A connection that was reset has the same number for ever, or none.
  if (const auto info = tcp_info_of(descriptor()); !info || info->gone) return 0;
  return taken_bytes_ - std::min(missing, taken_bytes_);
}

void TcpConnection::watch_acknowledgements() {
  watches_acknowledgements_ = true;
  arm(Clock::now() + acknowledgement_interval());
}

TcpConnection::Clock::duration TcpConnection::look_interval() const {
  return std::clamp<Clock::duration>(options_.idle_timeout / kLooksInIdleTimeout, kFastestLook, kSlowestLook);
}

TcpConnection::Clock::duration TcpConnection::acknowledgement_interval() const {
  return std::clamp<Clock::duration>(info_.rtt / 4, kFastestAcknowledgementPoll, kSlowestAcknowledgementPoll);
}

void TcpConnection::arm(TimePoint due) {
  if (state_ == State::over || due >= armed_for_) return;
  armed_for_ = due;
  timer_.expires_at(due);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) on_timer();
  }));
}

void TcpConnection::on_timer() {
  armed_for_ = TimePoint::max();
  const TimePoint now = Clock::now();
  look(now);
  if (state_ == State::over) return;
  arm(now + look_interval());
  if (state_ == State::draining) return finish_drain(now);
  if (!std::exchange(watches_acknowledgements_, false) || user_ == nullptr) return;
  user_->on_sent();  // which asks again, if it is not content
}

/// Learns how fast the path is, and whether the peer is still there.
void TcpConnection::look(TimePoint now) {
  const auto info = tcp_info_of(descriptor());
  if (!info) return;
  if (const auto end = end_in(*info, now); end && end_ == End::none)
    return fail_with(*end, *end == End::broken ? ECONNRESET : ETIMEDOUT);
  looked_at_ = now;
  info_ = *info;
  if (info->rtt > 0us) {
    rtt_sum_ += info->rtt;
    ++rtt_samples_;
  }
  if (info->limited_by_source && info->bytes_per_second < most_bytes_per_second_) return;
  most_bytes_per_second_ = info->bytes_per_second;
  if (most_bytes_per_second_ == 0) return;
  const double seconds = std::chrono::duration<double>(kUnsentTime).count();
  const auto wanted = static_cast<std::uint64_t>(static_cast<double>(most_bytes_per_second_) * seconds);
  const std::uint64_t limit = std::clamp(wanted, kLeastUnsentBytes, kMostUnsentBytes);
  if (limit > unsent_limit_bytes_ / 4 * 5 || limit < unsent_limit_bytes_ / 4 * 3) {
    unsent_limit_bytes_ = limit;
    limit_unsent(socket_, limit);
  }
}

/// TCP_USER_TIMEOUT would also end a connection whose reader pauses. Of a closed window the system asks ever more
/// rarely, so that silence alone says little.
std::optional<TcpConnection::End> TcpConnection::end_in(const TcpInfo& info, TimePoint now) {
  if (info.gone) return End::broken;
  const std::uint64_t before = std::exchange(seen_acknowledged_bytes_, info.bytes_acknowledged);
  if (info.packets_unacknowledged == 0 || info.bytes_acknowledged != before) acknowledged_at_ = now;
  if (info.silence >= options_.idle_timeout && info.unanswered >= kUnanswered) return End::silence;
  if (now - acknowledged_at_ >= options_.idle_timeout) return End::no_acknowledgement;
  return std::nullopt;
}

// ---- What is known of it --------------------------------------------------------------------------------------------

ChannelStats TcpConnection::stats() {
  if (socket_.is_open())
    if (const auto info = tcp_info_of(descriptor())) info_ = *info;
  ChannelStats stats;
  stats.transport = TransportKind::tcp;
  if (info_.rtt > 0us) stats.rtt = info_.rtt;
  stats.packets_sent = info_.packets_sent;
  stats.packets_lost = info_.packets_resent;
  stats.packets_resent = info_.packets_resent;
  stats.packets_late = info_.packets_late;
  stats.bytes_arrived = info_.bytes_arrived;
  stats.bytes_carried = info_.bytes_arrived + info_.bytes_acknowledged;
  stats.bytes_received = received_bytes_;
  return stats;
}

void TcpConnection::add_end_stats(EndStats& end) const {
  EndStats stalled;
  stalls_.add_to(stalled, Clock::now());
  auto& path = stalled.stalled[static_cast<std::size_t>(StallReason::path)];
  const auto by_peer = std::min(path, info_.limited_by_peer);
  const auto waits_for = options_.rate.unlimited() ? StallReason::path : StallReason::rate_cap;
  end.stalled[static_cast<std::size_t>(waits_for)] += path - by_peer;
  end.stalled[static_cast<std::size_t>(StallReason::peer_window)] += by_peer;
  // Losses are left out: the system tells none that came with a queue from one by chance.
  end.path_rate = BitRate::from_bytes_per(most_bytes_per_second_, 1s);
  if (info_.least_rtt > 0us) end.least_rtt = info_.least_rtt;
  end.rtt_sum = rtt_sum_;
  end.rtt_samples = rtt_samples_;
  end.rate_cap = options_.rate;
}

}  // namespace udtcat::transport::tcp
