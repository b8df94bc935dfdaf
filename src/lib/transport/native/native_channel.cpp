// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/native_channel.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"

namespace udtcat::transport::native {

NativeChannel::NativeChannel(boost::asio::io_context& io, UdpPort& port, UdtLink& link)
    : io_(io), port_(port), link_(link), connection_(link.connection) {
  port_.use(link_, [this] { on_progress(); });
}

NativeChannel::~NativeChannel() { port_.release(link_); }

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
  progress_read();
}

void NativeChannel::async_write(core::SharedBytes from, WriteHandler handler) {
  if (closed_ || ended()) return post(std::move(handler), tl::unexpected(broken("send to")));
  connection_.write(std::move(from));
  port_.schedule(link_);
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
  port_.schedule(link_);
  progress_read();
}

std::size_t NativeChannel::datagram_room_bytes() const {
  return closed_ ? 0 : connection_.datagram_room_bytes(clock_now());
}

void NativeChannel::send_datagram(std::span<const std::byte> bytes) {
  connection_.send_datagram(bytes);
  port_.schedule(link_);
}

ChannelStats NativeChannel::stats() { return connection_.stats(); }

void NativeChannel::add_end_stats(EndStats& end) const {
  connection_.add_end_stats(clock_now(), end);
  port_.add_end_stats(end);
}

void NativeChannel::trust_peer() {
  connection_.trust_peer(clock_now());
  port_.schedule(link_);
}

void NativeChannel::try_path(const Endpoint& address) {
  connection_.try_path(clock_now(), address);
  port_.schedule(link_);
}

void NativeChannel::on_progress() {
  take_datagrams();
  progress_read();
  progress_writes();
  progress_drain();
}

void NativeChannel::take_datagrams() {
  while (auto datagram = connection_.take_datagram())
    if (datagram_handler_ && !closed_)
      boost::asio::post(io_, lifetime_.guard([this, bytes = std::move(*datagram)] { datagram_handler_(bytes); }));
}

std::size_t NativeChannel::read_into(std::span<std::byte> into) {
  const TimePoint now = clock_now();
  const std::size_t bytes = connection_.read(now, into);
  // The peer may wait to hear that there is room again.
  if (const auto due = connection_.deadline(now); due && *due <= now) port_.schedule(link_);
  return bytes;
}

void NativeChannel::progress_read() {
  if (!read_) return;
  if (closed_) return finish_read(tl::unexpected(broken("receive from")));
  if (connection_.readable_bytes() > 0) read_->bytes += read_into(read_->into.subspan(read_->bytes));
  if (read_->bytes >= read_->least_bytes) return finish_read(read_->bytes);
  if (!ended()) return;
  if (read_->tells_the_end && connection_.ended_in_order()) return finish_read(0);
  finish_read(tl::unexpected(broken("receive from")));
}

void NativeChannel::progress_drain() {
  if (!drained_handler_) return;
  if (connection_.kept_offset() >= drained_offset_) return post(std::exchange(drained_handler_, nullptr), {});
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
  if (connection_.vanishing_bytes() > 0)
    return {Errc::connection_broken, what,
            "packets of " + std::to_string(connection_.vanishing_bytes()) +
                " bytes do not arrive, and smaller ones do: the path carries no packets of that size"};
  if (connection_.state() == UdtConnection::State::lost)
    return {Errc::connection_broken, what, "nothing was heard from it, or acknowledged, for too long"};
  if (connection_.state() == UdtConnection::State::forgotten)
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
