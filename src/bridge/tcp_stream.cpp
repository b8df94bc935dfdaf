#include "bridge/tcp_stream.hpp"

#include <memory>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <udtcat/bridges.hpp>

#include "bridge/asio_terms.hpp"
#include "core/invariant.hpp"

namespace udtcat::bridge {
namespace {

using boost::asio::ip::tcp;

std::string name_of(const tcp::socket& socket) {
  boost::system::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  return error ? "tcp, disconnected" : "tcp " + from_asio(peer).to_string();
}

}  // namespace

TcpStream::TcpStream(tcp::socket socket) : socket_(std::move(socket)), name_(name_of(socket_)) {
  boost::system::error_code error;
  // Each may fail on a socket that the peer has reset meanwhile; the first read or write tells that.
  socket_.non_blocking(true, error);
  socket_.set_option(tcp::no_delay(true), error);
  socket_.set_option(boost::asio::socket_base::keep_alive(true), error);
}

LocalStream::ReadResult TcpStream::read_some(std::span<std::byte> into) {
  UDTCAT_INVARIANT(!into.empty(), "the caller asks only when it has room");
  boost::system::error_code error;
  const std::size_t bytes = socket_.read_some(boost::asio::buffer(into.data(), into.size()), error);
  if (!error) return {.state = ReadState::data, .bytes = bytes};
  if (error == boost::asio::error::would_block || error == boost::asio::error::try_again)
    return {.state = ReadState::would_block};
  if (error == boost::asio::error::eof) return {.state = ReadState::end};
  return {.state = ReadState::failed, .error = from_asio(error)};
}

void TcpStream::async_wait_readable(WaitHandler handler) {
  // An error of the wait is an error of the read that follows.
  socket_.async_wait(tcp::socket::wait_read,
                     lifetime_.guard([handler = std::move(handler)](const boost::system::error_code&) { handler(); }));
}

void TcpStream::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  socket_.async_write_some(
      boost::asio::buffer(from.data(), from.size()),
      lifetime_.guard([handler = std::move(handler)](const boost::system::error_code& error, std::size_t bytes) {
        handler(from_asio(error), bytes);
      }));
}

void TcpStream::async_finish(FinishHandler handler) {
  boost::system::error_code error;
  socket_.shutdown(tcp::socket::shutdown_send, error);
  boost::asio::post(socket_.get_executor(),
                    lifetime_.guard([handler = std::move(handler), error] { handler(from_asio(error)); }));
}

void TcpStream::abort() {
  lifetime_.end();
  boost::system::error_code error;
  // Without a reset the other side would take a stream cut short for one that ended. Not connected any more: nobody to tell.
  socket_.set_option(boost::asio::socket_base::linger(true, 0), error);
  socket_.close(error);
}

}  // namespace udtcat::bridge

namespace udtcat {

std::unique_ptr<LocalStream> make_tcp_stream(boost::asio::ip::tcp::socket socket) {
  return std::make_unique<bridge::TcpStream>(std::move(socket));
}

}  // namespace udtcat
