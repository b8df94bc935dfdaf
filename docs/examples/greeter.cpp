// SPDX-License-Identifier: Apache-2.0
/// Greets by name whoever comes, and asks such a greeter: coroutines at both ends, and an application of their own, so
/// that no session of udtcat's can be mistaken for one of theirs, whatever the key is good for.
///
/// usage: greeter KEY_FILE PORT                  (udtcat keygen >KEY_FILE makes a key)
///        greeter KEY_FILE HOST:PORT NAME
#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <udtcat/udtcat.hpp>

namespace asio = boost::asio;
using asio::awaitable, asio::use_awaitable, asio::detached;

template <typename T>
T need(udtcat::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

awaitable<std::string> read_all(udtcat::Stream& stream) {
  std::string text;
  for (std::array<char, 4096> piece{};;) {
    const auto bytes = need(co_await stream.async_read(std::as_writable_bytes(std::span(piece)), use_awaitable));
    if (bytes == 0) co_return text;
    text.append(piece.data(), bytes);
  }
}

/// Until the other end has taken it all.
awaitable<void> say(udtcat::Stream& stream, std::string text) {
  need(co_await stream.async_write(std::as_bytes(std::span(text)), use_awaitable));
  need(co_await stream.async_finish(use_awaitable));
}

awaitable<void> answer(std::unique_ptr<udtcat::Stream> stream) {
  const std::string name = co_await read_all(*stream);
  co_await say(*stream, "Good day, " + name + "!\n");
}

awaitable<void> keep(std::unique_ptr<udtcat::Connection> connection) {
  std::ignore = co_await connection->async_wait_closed(use_awaitable);
}

awaitable<void> ask(asio::io_context& io, udtcat::DialRequest request, std::string name) {
  const auto connection = need(co_await udtcat::async_dial(io, std::move(request), use_awaitable));
  const auto stream = connection->open_stream();
  co_await say(*stream, std::move(name));
  std::fputs((co_await read_all(*stream)).c_str(), stdout);
  connection->close();
  need(co_await connection->async_wait_closed(use_awaitable));
}

void complain(std::exception_ptr broken) try {
  if (broken) std::rethrow_exception(broken);
} catch (const std::exception& failed) {
  std::fprintf(stderr, "greeter: %s\n", failed.what());
}

int main(int argc, char** argv) try {
  if (argc < 3) return std::fputs("usage: greeter KEY_FILE PORT, or greeter KEY_FILE HOST:PORT NAME\n", stderr), 2;
  asio::io_context io;
  std::unique_ptr<udtcat::Listener> listener;
  if (argc == 3) {
    udtcat::ListenRequest request;
    request.locals = need(udtcat::resolve(need(udtcat::parse_local(argv[2])), udtcat::AddressFamily::ipv4));
    request.credentials = need(udtcat::Key::from_file(argv[1]));
    request.session.application = "greeter";
    const auto on_peer = [&](std::unique_ptr<udtcat::Connection> connection) {
      udtcat::Connection& peer = *connection;
      peer.on_stream([&](udtcat::StreamId id) { co_spawn(io, answer(peer.accept_stream(id)), complain); });
      co_spawn(io, keep(std::move(connection)), detached);
    };
    const auto on_refused = [](auto&, auto& why) { std::fprintf(stderr, "%s\n", why.message().c_str()); };
    listener = need(udtcat::listen(io, std::move(request), on_peer, on_refused));
    std::printf("%s\n", listener->local_endpoints().front().to_string().c_str());
    std::fflush(stdout);
  } else {
    udtcat::DialRequest request;
    request.addresses = need(udtcat::resolve(need(udtcat::parse_peer(argv[2])), udtcat::AddressFamily::any));
    request.credentials = need(udtcat::Key::from_file(argv[1]));
    request.session.application = "greeter";
    co_spawn(io, ask(io, std::move(request), argv[3]), [](std::exception_ptr broken) {
      if (broken) std::rethrow_exception(broken);
    });
  }
  io.run();
} catch (...) {
  complain(std::current_exception());
  return 1;
}
