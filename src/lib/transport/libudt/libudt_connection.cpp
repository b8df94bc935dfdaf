// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/libudt_connection.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <udt/udt.h>

#include "lib/core/try.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::transport::libudt {

namespace {

// libudt sends something at least every 0.3 s, and gives a peer up after 5 s of silence at the very least.
constexpr std::chrono::seconds kSilenceOfTheLost{3};  // spec: between the two

// Where libudt begins; no measured mean of microseconds is likely to be just this.
constexpr std::chrono::milliseconds kInitialRtt{100};     // spec: libudt, ten of its SYN intervals
constexpr std::chrono::milliseconds kCheckInterval{250};  // guess: one call of libudt's each
constexpr std::chrono::seconds kMissedChecks{2};          // guess: this process did not run
constexpr int kFullWindowPackets = 16;  // spec: udt4.md §8: a peer whose reader takes nothing announces fewer

constexpr std::size_t kMaxBytesAtOnce = std::numeric_limits<int>::max();  // spec: libudt counts in int

std::size_t payload_bytes_of(const UdtSocket& socket) {
  int mss = 0;
  int length = sizeof mss;
  // Gone already: any payload will do, the first send fails.
  if (UDT::getsockopt(socket.id(), 0, UDT_MSS, &mss, &length) == UDT::ERROR) return kInternetMtu - kMssOverheadBytes;
  return static_cast<std::size_t>(mss) - kMssOverheadBytes;
}

std::uint64_t count(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)); }

}  // namespace

LibudtConnection::LibudtConnection(Established established)
    : socket_(std::move(established.socket)),
      peer_(established.peer),
      payload_bytes_(payload_bytes_of(socket_)),
      port_watch_(std::move(established.port_watch)),
      idle_timeout_(established.idle_timeout),
      last_byte_at_(Clock::now().time_since_epoch()),
      answered_at_(Clock::now()),
      answers_checked_(answered_at_) {
  port_watch_->watch(peer_);
}

LibudtConnection::~LibudtConnection() { port_watch_->unwatch(peer_); }

Result<std::size_t> LibudtConnection::receive(std::span<std::byte> into) {
  UDTCAT_CHECK(check_answers());
  const auto most = static_cast<int>(std::min(into.size(), kMaxBytesAtOnce));
  // SAFETY: libudt writes plain bytes.
  const int received = UDT::recv(socket_.id(), reinterpret_cast<char*>(into.data()), most, 0);
  if (received == UDT::ERROR && !last_error_is_try_again()) {
    const bool socket_is_gone = last_error_is_no_socket();
    note_end();
    const core::MutexLock lock(mutex_);
    bytes_dropped_ = socket_is_gone && !all_read_;
    return tl::unexpected(broken("receive from"));
  }
  if (received <= 0) {
    port_watch_->take(Clock::now());
    return std::size_t{0};
  }
  bytes_received_ += static_cast<std::size_t>(received);
  last_byte_at_ = Clock::now().time_since_epoch();
  note_all_read();
  return static_cast<std::size_t>(received);
}

Result<std::size_t> LibudtConnection::send(std::span<const std::byte> from, bool last) {
  std::size_t most = std::min(from.size(), kMaxBytesAtOnce);
  // The receiver's libudt hands up a full packet only 100 ms later unless a short one follows: leave one byte for that.
  if (last && most > 1 && most % payload_bytes_ == 0) --most;
  // SAFETY: libudt reads plain bytes.
  const int sent = UDT::send(socket_.id(), reinterpret_cast<const char*>(from.data()), static_cast<int>(most), 0);
  if (sent == UDT::ERROR && !last_error_is_try_again()) return tl::unexpected(broken("send to"));
  UDTCAT_CHECK(check_answers());
  const auto taken = static_cast<std::size_t>(std::max(sent, 0));
  packets_given_ += static_cast<std::int64_t>((taken + payload_bytes_ - 1) / payload_bytes_);
  return taken;
}

/// libudt takes any packet of the peer's for life, also where none of ours gets through.
Status LibudtConnection::check_answers() {
  const auto now = Clock::now();
  const core::MutexLock lock(mutex_);
  if (now - answers_checked_ < kCheckInterval) return {};
  if (now - answers_checked_ > kMissedChecks) answered_at_ += now - answers_checked_;
  answers_checked_ = now;
  const auto unacknowledged = unacknowledged_packets();
  UDT::TRACEINFO trace;
  if (!unacknowledged || UDT::perfmon(socket_.id(), &trace, false) == UDT::ERROR) return {};
  const std::int64_t answered = packets_given_ - *unacknowledged;
  if (*unacknowledged == 0 || trace.pktFlowWindow < kFullWindowPackets ||
      std::exchange(packets_answered_, answered) != answered)
    answered_at_ = now;
  if (now - answered_at_ < idle_timeout_) return {};
  return fail(Errc::connection_broken, fmt::format("send to udp {}", peer_.to_string()),
              "nothing was acknowledged for too long");
}

std::optional<int> LibudtConnection::unacknowledged_packets() const {
  int packets = 0;
  int length = sizeof packets;
  if (UDT::getsockopt(socket_.id(), 0, UDT_SNDDATA, &packets, &length) == UDT::ERROR) return std::nullopt;
  return packets;
}

/// libudt's garbage collector takes an ended socket a second after its last byte was read, or with bytes in it a minute
/// after the end: what tells one from the other must be known before.
void LibudtConnection::note_all_read() {
  const core::MutexLock lock(mutex_);
  if (ended_amid_talk_ && has_nothing_unread()) all_read_ = true;
}

bool LibudtConnection::has_nothing_unread() const {
  int packets = 0;
  int length = sizeof packets;
  return UDT::getsockopt(socket_.id(), 0, UDT_RCVDATA, &packets, &length) != UDT::ERROR && packets == 0;
}

Result<bool> LibudtConnection::drained() {
  // In this order: what is still open now has a number that can only fall to what it is at the end.
  const bool connected = UDT::getsockstate(socket_.id()) == CONNECTED;
  auto packets = unacknowledged_packets();
  if (!packets) {
    const core::MutexLock lock(mutex_);
    packets = left_unacknowledged_;
  }
  if (packets == 0) return true;
  UDTCAT_CHECK(check_answers());
  if (connected && packets) return false;
  return fail(Errc::connection_broken, fmt::format("send to udp {}", peer_.to_string()),
              "the connection ended before all was acknowledged");
}

void LibudtConnection::watch_its_end() {
  // The first question makes the system keep the time from now on.
  if (!end_is_watched_.exchange(true)) std::ignore = port_watch_->silence();
}

void LibudtConnection::note_end() {
  if (!end_is_watched_ || UDT::getsockstate(socket_.id()) == CONNECTED) return;
  const auto silence = port_watch_->silence();
  const auto unacknowledged = unacknowledged_packets();
  const core::MutexLock lock(mutex_);
  if (ended_amid_talk_) return;
  left_unacknowledged_ = unacknowledged;  // soon libudt's garbage collector takes the number with the socket
  // A system that keeps no time of arrival leaves us the time of the last payload.
  all_read_ = has_nothing_unread();
  ended_amid_talk_ = silence.value_or(Clock::now() - Clock::time_point(last_byte_at_.load())) < kSilenceOfTheLost;
}

bool LibudtConnection::ended_in_order() {
  note_end();
  // The socket that libudt's garbage collector took may have held bytes.
  if (bytes_dropped_ || port_closed_since()) return false;
  const core::MutexLock lock(mutex_);
  return ended_amid_talk_.value_or(false);
}

void LibudtConnection::close() {
  std::ignore = stats();  // for its memory: after close() libudt has none
  socket_.close();
}

ChannelStats LibudtConnection::stats() {
  UDT::TRACEINFO trace;
  const bool known = UDT::perfmon(socket_.id(), &trace, false) != UDT::ERROR;
  const core::MutexLock lock(mutex_);
  if (known) {
    last_stats_.packets_sent = count(trace.pktSentTotal);
    last_stats_.packets_lost = count(trace.pktSndLossTotal);
    last_stats_.packets_resent = count(trace.pktRetransTotal);
    const std::chrono::duration<double, std::milli> rtt(trace.msRTT);
    if (rtt != kInitialRtt) last_stats_.rtt = std::chrono::duration_cast<std::chrono::microseconds>(rtt);
  }
  last_stats_.bytes_received = bytes_received_;
  return last_stats_;
}

std::optional<LibudtConnection::Clock::time_point> LibudtConnection::port_closed_since() {
  port_watch_->take(Clock::now());
  return port_watch_->closed_since(peer_, Clock::time_point(last_byte_at_.load()));
}

Error LibudtConnection::broken(const char* doing) const {
  Error error = last_error(Errc::connection_broken, fmt::format("{} udp {}", doing, peer_.to_string()));
  error.code = Errc::connection_broken;  // whatever libudt's reason, this connection is over
  return error;
}

}  // namespace udtcat::transport::libudt
