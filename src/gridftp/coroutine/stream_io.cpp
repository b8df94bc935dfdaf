// SPDX-License-Identifier: Apache-2.0
#include "gridftp/coroutine/stream_io.hpp"

#include <boost/asio/async_result.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/bridge/tcp_connect.hpp"
#include "lib/net/resolver.hpp"

namespace udtcat::gridftp {

namespace {

using boost::asio::use_awaitable;
using boost::asio::use_awaitable_t;
using boost::asio::ip::tcp;

tl::unexpected<Error> broken(const char* doing, const std::string& name, const std::error_code& error) {
  return fail(Errc::connection_broken, std::string(doing) + ' ' + name, error.message());
}

struct Written {
  std::error_code error;
  std::size_t bytes = 0;
};

Task<Written> write_some(LocalStream& stream, std::span<const std::byte> from) {
  co_return co_await boost::asio::async_initiate<const use_awaitable_t<>&, void(Written)>(
      [&](auto handler) {
        stream.async_write_some(
            from, [handler = shared_handler(std::move(handler))](std::error_code error, std::size_t bytes) {
              handler(Written{error, bytes});
            });
      },
      use_awaitable);
}

}  // namespace

Task<void> StreamIo::wait_readable() {
  co_await boost::asio::async_initiate<const use_awaitable_t<>&, void()>(
      [this](auto handler) { stream_->async_wait_readable(shared_handler(std::move(handler))); }, use_awaitable);
}

Result<std::optional<std::size_t>> StreamIo::take(std::span<std::byte> into) {
  const auto read = stream_->read_some(into);
  switch (read.state) {
    case LocalStream::ReadState::data:
      count(read.bytes);
      return read.bytes;
    case LocalStream::ReadState::would_block:
      return std::nullopt;
    case LocalStream::ReadState::end:
      return std::size_t{0};
    case LocalStream::ReadState::failed:
      break;
  }
  return broken("read from", stream_->source_name(), read.error);
}

Task<Result<std::size_t>> StreamIo::read(std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    UDTCAT_CO_TRY(const auto taken, take(into.subspan(filled)));
    if (!taken)
      co_await wait_readable();
    else if (*taken == 0)
      break;
    else
      filled += *taken;
  }
  co_return filled;
}

Task<Status> StreamIo::write(std::span<const std::byte> from) {
  while (!from.empty()) {
    const Written written = co_await write_some(*stream_, from);
    if (written.error) co_return broken("write to", stream_->sink_name(), written.error);
    count(written.bytes);
    from = from.subspan(written.bytes);
  }
  co_return Status{};
}

Task<Status> StreamIo::finish() {
  const auto error = co_await boost::asio::async_initiate<const use_awaitable_t<>&, void(std::error_code)>(
      [this](auto handler) { stream_->async_finish(shared_handler(std::move(handler))); }, use_awaitable);
  if (error) co_return broken("finish", stream_->sink_name(), error);
  co_return Status{};
}

Task<Result<std::vector<Endpoint>>> look_up(boost::asio::io_context& io, HostPort host,
                                            std::chrono::milliseconds timeout) {
  net::Resolver resolver(io, AddressFamily::any, {.timeout = timeout});
  Promise<Result<std::vector<Endpoint>>> answered(io);
  resolver.look_up(host, [&](Result<std::vector<Endpoint>> found) { answered.set(std::move(found)); });
  co_return co_await answered.get();
}

Task<Result<tcp::socket>> connect_tcp(boost::asio::io_context& io, std::vector<Endpoint> addresses,
                                      std::chrono::milliseconds timeout, std::string doing) {
  tcp::socket connected(io);
  Promise<std::error_code> ended(io);
  const bridge::TcpConnect race(io, addresses, timeout, [&](std::error_code error, tcp::socket socket) {
    connected = std::move(socket);
    ended.set(error);
  });
  if (const auto error = co_await ended.get(); error)
    co_return fail(Errc::cannot_reach, std::move(doing), bridge::cause_of(error));
  boost::system::error_code gone;  // then the first read says so
  connected.set_option(boost::asio::socket_base::linger(false, 0), gone);
  co_return connected;
}

}  // namespace udtcat::gridftp
