// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/native_channel.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"

namespace udtcat::transport::native {

NativeChannel::NativeChannel(boost::asio::io_context& io, UdtLink& link, FarUser user)
    : io_(io), link_(link), connection_(link.connection), user_(std::move(user)) {
  link_.use(*this);
}

NativeChannel::~NativeChannel() { link_.release(); }

void NativeChannel::async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) {
  begin_read({into, least_bytes, false, std::move(handler)});
}

void NativeChannel::async_read_some(std::span<std::byte> into, ReadSomeHandler handler) {
  begin_read({into, 1, true, std::move(handler)});
}

void NativeChannel::begin_read(Read read) {
  UDTCAT_INVARIANT(read.least_bytes > 0 && read.least_bytes <= read.into.size() && !read_,
                   "callers read one at a time");
  read_ = std::move(read);
  read_more();
  end_read();
}

void NativeChannel::async_write(core::SharedBytes from, WriteHandler handler) {
  if (closed_ || ended()) return post(std::move(handler), tl::unexpected(broken("send to")));
  connection_.write(std::move(from));
  link_.schedule();
  writes_.push_back({connection_.written_bytes(), std::move(handler)});
}

void NativeChannel::async_drained(DrainedHandler handler) {
  UDTCAT_INVARIANT(!drained_handler_, "callers wait for one drain at a time");
  drained_handler_ = std::move(handler);
  drained_offset_ = connection_.written_bytes();
  progress_drain();
}

void NativeChannel::close(std::chrono::milliseconds drain) {
  if (std::exchange(closed_, true)) return;
  connection_.close(clock_now(), drain);
  link_.schedule();
  end_read();
}

std::size_t NativeChannel::datagram_room_bytes() const {
  return closed_ ? 0 : connection_.datagram_room_bytes(clock_now());
}

void NativeChannel::send_datagram(std::span<const std::byte> bytes) {
  connection_.send_datagram(bytes);
  link_.schedule();
}

ChannelStats NativeChannel::stats() { return connection_.stats(); }

void NativeChannel::add_end_stats(EndStats& end) const {
  connection_.add_end_stats(clock_now(), end);
  link_.port.add_end_stats(end);
}

void NativeChannel::trust_peer() {
  connection_.trust_peer(clock_now());
  link_.schedule();
}

void NativeChannel::try_path(const Endpoint& address) {
  connection_.try_path(clock_now(), address);
  link_.schedule();
}

void NativeChannel::on_received() {
  take_datagrams();
  read_more();
}

void NativeChannel::on_sent() {
  end_read();
  progress_writes();
  progress_drain();
  if (user_.on_event) user_.on_event();
}

void NativeChannel::take_datagrams() {
  while (auto datagram = connection_.take_datagram())
    if (datagram_handler_ && !closed_)
      boost::asio::post(io_, lifetime_.guard([this, bytes = std::move(*datagram)] { datagram_handler_(bytes); }));
}

void NativeChannel::read_more() {
  if (!read_ || closed_) return;
  if (connection_.readable_bytes() > 0) {
    if (user_.memory)
      user_.memory->fill([this] { take_bytes(); });
    else
      take_bytes();
  }
  if (read_->bytes >= read_->least_bytes) finish_read(read_->bytes);
}

void NativeChannel::take_bytes() {
  const TimePoint now = clock_now();
  read_->bytes += connection_.read(now, read_->into.subspan(read_->bytes));
  // An ACK that tells the peer of room may be due now.
  if (const auto due = connection_.deadline(now); due && *due <= now) link_.schedule();
}

/// Completes the read where nothing more will come.
void NativeChannel::end_read() {
  if (!read_ || (!closed_ && !ended())) return;
  if (!closed_ && read_->tells_the_end && connection_.ended_in_order()) return finish_read(0);
  finish_read(tl::unexpected(broken("receive from")));
}

void NativeChannel::progress_drain() {
  if (!drained_handler_) return;
  if (connection_.fully_acknowledged_offset() >= drained_offset_)
    return post(std::exchange(drained_handler_, nullptr), {});
  if (ended()) post(std::exchange(drained_handler_, nullptr), tl::unexpected(broken("drain")));
}

void NativeChannel::progress_writes() {
  while (!writes_.empty() && writes_.front().end_offset <= connection_.sent_offset()) {
    post(std::move(writes_.front().handler), {});
    writes_.pop_front();
  }
  if (!ended()) return;
  for (Write& write : writes_) post(std::move(write.handler), tl::unexpected(broken("send to")));
  writes_.clear();
}

void NativeChannel::finish_read(Result<std::size_t> result) {
  boost::asio::post(
      io_, lifetime_.guard([handler = std::move(read_->handler), result = std::move(result)] { handler(result); }));
  read_.reset();
}

bool NativeChannel::ended() const {
  const auto state = connection_.state();
  return state != UdtConnection::State::open && state != UdtConnection::State::draining;
}

Error NativeChannel::broken(const char* doing) const {
  const std::string what = std::string(doing) + " udp " + connection_.peer_address().to_string();
  if (closed_) return {Errc::connection_broken, what, "the channel is closed"};
  if (connection_.black_hole_bytes() > 0)
    return {Errc::connection_broken, what,
            "packets of " + std::to_string(connection_.black_hole_bytes()) +
                " bytes do not arrive, and smaller ones do: the path carries no packets of that size"};
  if (connection_.state() == UdtConnection::State::lost)
    return {Errc::connection_broken, what, "nothing was heard from it, or acknowledged, for too long"};
  if (connection_.state() == UdtConnection::State::reset)
    return {Errc::connection_broken, what,
            "the other end knows nothing of this session: it was started again, or has given it up"};
  return {Errc::connection_broken, what,
          "the peer's transport closed the connection: it has ended, or heard nothing of us for too long"};
}

void NativeChannel::post(std::function<void(Status)> handler, Status status) {
  boost::asio::post(io_,
                    lifetime_.guard([handler = std::move(handler), status = std::move(status)] { handler(status); }));
}

}  // namespace udtcat::transport::native
