#include "lib/transport/native/native_channel.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"

namespace udtcat::transport::native {

NativeChannel::NativeChannel(boost::asio::io_context& io, UdpPort& port, Link& link)
    : io_(io), port_(port), link_(link) {
  port_.set_user(link_, *this);
}

NativeChannel::~NativeChannel() { port_.release(link_); }

void NativeChannel::async_read(std::span<std::byte> into, ReadHandler handler) {
  UDTCAT_INVARIANT(!into.empty() && !read_handler_ && !read_some_handler_, "callers read one at a time");
  into_ = into;
  read_handler_ = std::move(handler);
  progress_read();
}

void NativeChannel::async_read_some(std::span<std::byte> into, ReadSomeHandler handler) {
  UDTCAT_INVARIANT(!into.empty() && !read_handler_ && !read_some_handler_, "callers read one at a time");
  into_ = into;
  read_some_handler_ = std::move(handler);
  progress_read_some();
}

void NativeChannel::async_write(core::SharedBytes from, WriteHandler handler) {
  if (closed_ || ended()) return post(std::move(handler), tl::unexpected(broken("send to")));
  port_.write(link_, std::move(from));
  writes_.push_back({link_.connection.written_bytes(), std::move(handler)});
}

void NativeChannel::async_drained(DrainedHandler handler) {
  UDTCAT_INVARIANT(!drained_handler_, "callers wait for one drain at a time");
  drained_handler_ = std::move(handler);
  drained_offset_ = link_.connection.written_bytes();
  progress_drain();
}

void NativeChannel::close(std::chrono::milliseconds drain) {
  if (std::exchange(closed_, true)) return;
  port_.close(link_, drain);
  progress_read();
  progress_read_some();
}

ChannelStats NativeChannel::stats() { return link_.connection.stats(); }

void NativeChannel::on_progress() {
  progress_read();
  progress_read_some();
  progress_writes();
  progress_drain();
}

void NativeChannel::progress_read() {
  if (!read_handler_) return;
  if (closed_) return finish_read(tl::unexpected(broken("receive from")));
  if (link_.connection.readable_bytes() > 0) into_ = into_.subspan(port_.read(link_, into_));
  if (into_.empty()) return finish_read({});
  if (ended()) finish_read(tl::unexpected(broken("receive from")));
}

void NativeChannel::progress_read_some() {
  if (!read_some_handler_) return;
  if (closed_) return finish_read_some(tl::unexpected(broken("receive from")));
  if (link_.connection.readable_bytes() > 0) return finish_read_some(port_.read(link_, into_));
  if (!ended()) return;
  if (link_.connection.ended_in_order()) return finish_read_some(0);
  finish_read_some(tl::unexpected(broken("receive from")));
}

void NativeChannel::progress_drain() {
  if (!drained_handler_) return;
  if (link_.connection.acknowledged_offset() >= drained_offset_)
    return post(std::exchange(drained_handler_, nullptr), {});
  if (ended()) post(std::exchange(drained_handler_, nullptr), tl::unexpected(broken("drain")));
}

void NativeChannel::progress_writes() {
  while (!writes_.empty() && writes_.front().end_offset <= link_.connection.sent_offset()) {
    post(std::move(writes_.front().handler), {});
    writes_.pop_front();
  }
  if (!ended()) return;
  for (Write& write : writes_) post(std::move(write.handler), tl::unexpected(broken("send to")));
  writes_.clear();
}

void NativeChannel::finish_read(Status status) { post(std::exchange(read_handler_, nullptr), std::move(status)); }

void NativeChannel::finish_read_some(Result<std::size_t> result) {
  boost::asio::post(io_, lifetime_.guard([handler = std::exchange(read_some_handler_, nullptr),
                                          result = std::move(result)] { handler(result); }));
}

bool NativeChannel::ended() const {
  const auto state = link_.connection.state();
  return state != Connection::State::open && state != Connection::State::draining;
}

Error NativeChannel::broken(const char* doing) const {
  const std::string what = std::string(doing) + " udp " + link_.connection.peer_address().to_string();
  if (closed_) return {Errc::connection_broken, what, "the channel is closed"};
  if (link_.connection.state() == Connection::State::lost)
    return {Errc::connection_broken, what, "nothing was heard from it, or acknowledged, for too long"};
  if (link_.connection.state() == Connection::State::forgotten)
    return {Errc::connection_broken, what,
            "the other end knows nothing of this session: it was started again, or has given it up"};
  return {Errc::connection_broken, what, "the peer's transport closed the connection"};
}

void NativeChannel::post(std::function<void(Status)> handler, Status status) {
  boost::asio::post(io_,
                    lifetime_.guard([handler = std::move(handler), status = std::move(status)] { handler(status); }));
}

}  // namespace udtcat::transport::native
