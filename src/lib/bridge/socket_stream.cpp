// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/socket_stream.hpp"

#include <memory>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <udtcat/bridges.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/bridge/reset.hpp"
#include "lib/core/invariant.hpp"

namespace udtcat::bridge {
namespace {

using boost::asio::ip::tcp;

std::string name_of(const StreamSocket& socket) {
  boost::system::error_code error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return "a socket, disconnected";
  if (const auto address = Endpoint::from_sockaddr(peer.data(), peer.size())) return "tcp " + address->to_string();
  // Of the two ends of a unix connection one has a path, the service's.
  const auto local = socket.local_endpoint(error);
  return "unix " + unix_path(peer) + (error ? std::string() : unix_path(local));
}

}  // namespace

SocketStream::SocketStream(StreamSocket socket, GracefulClose close)
    : socket_(std::move(socket)),
      name_(name_of(socket_)),
      open_halves_(close == GracefulClose::receipted ? 2 : 0),
      acks_(socket_, [this] { on_lost(); }) {
  boost::system::error_code error;
  // Each may fail on a socket that the peer has reset meanwhile; the first read or write tells that.
  socket_.non_blocking(true, error);
  socket_.set_option(tcp::no_delay(true), error);
  keep_alive(socket_);
  if (open_halves_ > 0) close_as_a_reset(true);
}

SocketStream::~SocketStream() {
  boost::system::error_code none;
  socket_.close(none);  // the socket's own destructor would make an end of what is still to be a reset
}

/// Without a reset the other side would treat a truncated stream as complete.
void SocketStream::close_as_a_reset(bool on) {
  boost::system::error_code error;
  socket_.set_option(boost::asio::socket_base::linger(on, 0), error);  // fails where it is not connected any more
}

void SocketStream::half_has_ended() {
  if (open_halves_ > 0 && --open_halves_ == 0) close_as_a_reset(false);
}

LocalStream::ReadResult SocketStream::read_some(std::span<std::byte> into) {
  UDTCAT_INVARIANT(!into.empty(), "the caller asks only when it has room");
  if (is_lost_) return {.state = ReadState::failed, .error = std::make_error_code(std::errc::timed_out)};
  boost::system::error_code error;
  const std::size_t bytes = socket_.read_some(boost::asio::buffer(into.data(), into.size()), error);
  if (!error) return {.state = ReadState::data, .bytes = bytes};
  if (error == boost::asio::error::would_block || error == boost::asio::error::try_again)
    return {.state = ReadState::would_block};
  if (error == boost::asio::error::eof) return {.state = ReadState::end};
  return {.state = ReadState::failed, .error = from_asio(error)};
}

void SocketStream::async_wait_readable(WaitHandler handler) {
  // An error of the wait is an error of the read that follows.
  socket_.async_wait(StreamSocket::wait_read,
                     lifetime_.guard([handler = std::move(handler)](const boost::system::error_code&) { handler(); }));
}

void SocketStream::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  socket_.async_write_some(
      boost::asio::buffer(from.data(), from.size()),
      lifetime_.guard([this, handler = std::move(handler)](const boost::system::error_code& error, std::size_t bytes) {
        handler(is_lost_ ? std::make_error_code(std::errc::timed_out) : from_asio(error), bytes);
      }));
  acks_.sent();
}

/// Reads and writes that wait for the socket end with the reason.
void SocketStream::on_lost() {
  is_lost_ = true;
  boost::system::error_code none;
  socket_.cancel(none);
}

void SocketStream::async_finish(FinishHandler handler) {
  half_has_ended();  // first: the peer may close as soon as it sees the end
  boost::system::error_code error;
  socket_.shutdown(StreamSocket::shutdown_send, error);
  acks_.sent();
  boost::asio::post(socket_.get_executor(),
                    lifetime_.guard([handler = std::move(handler), error] { handler(from_asio(error)); }));
}

void SocketStream::abort() {
  lifetime_.end();
  reset(socket_);
}

}  // namespace udtcat::bridge

namespace udtcat {

std::unique_ptr<LocalStream> make_tcp_stream(boost::asio::ip::tcp::socket socket) {
  return std::make_unique<bridge::SocketStream>(std::move(socket), bridge::GracefulClose::always);
}

}  // namespace udtcat
