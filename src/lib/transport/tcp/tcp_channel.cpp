// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/tcp_channel.hpp"

#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::transport::tcp {

TcpChannel::TcpChannel(boost::asio::io_context& io, TcpConnection& connection) : io_(io), connection_(connection) {
  connection_.use(*this);
}

TcpChannel::~TcpChannel() { connection_.release(); }

void TcpChannel::async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) {
  begin_read({into, least_bytes, false, std::move(handler)});
}

void TcpChannel::async_read_some(std::span<std::byte> into, ReadSomeHandler handler) {
  begin_read({into, 1, true, std::move(handler)});
}

void TcpChannel::begin_read(Read read) {
  UDTCAT_INVARIANT(read.least_bytes > 0 && read.least_bytes <= read.into.size() && !read_,
                   "callers read one at a time");
  read_ = std::move(read);
  read_more();
}

void TcpChannel::async_write(core::SharedBytes from, WriteHandler handler) {
  if (closed_ || connection_.ended()) return post(std::move(handler), tl::unexpected(broken("send to")));
  connection_.write(std::move(from));
  writes_.push_back({connection_.written_bytes(), std::move(handler)});
}

void TcpChannel::async_drained(DrainedHandler handler) {
  UDTCAT_INVARIANT(!drained_handler_, "callers wait for one drain at a time");
  drained_handler_ = std::move(handler);
  drained_offset_ = connection_.written_bytes();
  progress_drain();
}

void TcpChannel::close(std::chrono::milliseconds drain) {
  if (std::exchange(closed_, true)) return;
  connection_.close(drain);
  read_more();
}

void TcpChannel::on_readable() { read_more(); }

void TcpChannel::on_sent() {
  progress_writes();
  progress_drain();
}

void TcpChannel::read_more() {
  if (!read_) return;
  if (closed_) return end_read(false);
  while (read_->bytes < read_->into.size()) {
    const std::span<std::byte> room = read_->into.subspan(read_->bytes);
    const Received got = connection_.receive(room);
    if (got.state == Received::State::end || got.state == Received::State::failed)
      return end_read(got.state == Received::State::end);
    read_->bytes += got.bytes;
    // Less than there is room for: there was no more.
    if (got.bytes < room.size()) break;
  }
  if (read_->bytes >= read_->least_bytes) return finish_read(read_->bytes);
  connection_.wait_readable();
}

void TcpChannel::end_read(bool in_order) {
  // Enough had come before the end, which the next read meets.
  if (read_->bytes >= read_->least_bytes) return finish_read(read_->bytes);
  if (in_order && read_->tells_the_end) return finish_read(0);
  finish_read(tl::unexpected(broken("receive from")));
}

void TcpChannel::finish_read(Result<std::size_t> result) {
  boost::asio::post(
      io_, lifetime_.guard([handler = std::move(read_->handler), result = std::move(result)] { handler(result); }));
  read_.reset();
}

void TcpChannel::progress_writes() {
  while (!writes_.empty() && writes_.front().end_offset <= connection_.taken_bytes()) {
    post(std::move(writes_.front().handler), {});
    writes_.pop_front();
  }
  if (!connection_.ended()) return;
  for (Write& write : writes_) post(std::move(write.handler), tl::unexpected(broken("send to")));
  writes_.clear();
}

void TcpChannel::progress_drain() {
  if (!drained_handler_) return;
  if (connection_.taken_bytes() >= drained_offset_ && connection_.acknowledged_bytes() >= drained_offset_)
    return post(std::exchange(drained_handler_, nullptr), {});
  if (connection_.ended()) return post(std::exchange(drained_handler_, nullptr), tl::unexpected(broken("drain")));
  connection_.watch_acknowledgements();
}

Error TcpChannel::broken(const char* doing) const {
  const std::string what = std::string(doing) + " tcp " + connection_.peer().to_string();
  if (closed_) return {Errc::connection_broken, what, "the channel is closed"};
  switch (connection_.end()) {
    case TcpConnection::End::silence:
    case TcpConnection::End::no_acknowledgement:
      return {Errc::connection_broken, what, "nothing was heard from it, or acknowledged, for too long"};
    case TcpConnection::End::broken:
      return {Errc::connection_broken, what, core::errno_text(connection_.errno_value()), connection_.errno_value()};
    case TcpConnection::End::none:
    case TcpConnection::End::peer_closed:
      break;
  }
  return {Errc::connection_broken, what, "the peer's transport closed the connection"};
}

void TcpChannel::post(std::function<void(Status)> handler, Status status) {
  boost::asio::post(io_,
                    lifetime_.guard([handler = std::move(handler), status = std::move(status)] { handler(status); }));
}

}  // namespace udtcat::transport::tcp
