// SPDX-License-Identifier: Apache-2.0
/// Sends back what each stream of each peer brings. Prints its address, so that port 0 serves too.
///
/// usage: echo_server PORT KEY_FILE          (udtcat keygen >KEY_FILE makes a key)
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <span>

#include <udtcat/udtcat.hpp>

void say(const udtcat::Error& error) { std::fprintf(stderr, "%s\n", error.message().c_str()); }

/// Lives as long as an operation of its stream.
struct Echo : std::enable_shared_from_this<Echo> {
  explicit Echo(std::unique_ptr<udtcat::Stream> one) : stream(std::move(one)) {}
  std::unique_ptr<udtcat::Stream> stream;
  std::array<std::byte, 65536> piece{};

  void run() {
    stream->async_read(piece, [self = shared_from_this()](udtcat::Result<std::size_t> bytes) {
      if (!bytes) return say(bytes.error());
      if (*bytes == 0)
        return self->stream->async_finish([self](udtcat::Status receipt) {
          if (!receipt) say(receipt.error());
        });
      self->stream->async_write(std::span(self->piece).first(*bytes),
                                [self](udtcat::Status taken) { taken ? self->run() : say(taken.error()); });
    });
  }
};

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: echo_server PORT KEY_FILE\n", stderr), 2;
  udtcat::set_log_sink(udtcat::LogLevel::warn, [](udtcat::LogLevel, std::string_view text) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  });
  boost::asio::io_context io;
  const auto locals = udtcat::parse_local(argv[1]).and_then(
      [](const auto& port) { return udtcat::resolve(port, udtcat::AddressFamily::ipv4); });
  auto key = udtcat::Key::from_file(argv[2]);
  if (!locals) return say(locals.error()), 1;
  if (!key) return say(key.error()), 1;

  std::map<udtcat::Connection*, std::unique_ptr<udtcat::Connection>> peers;
  const auto on_peer = [&](std::unique_ptr<udtcat::Connection> connection) {
    udtcat::Connection& peer = *(peers[connection.get()] = std::move(connection));
    peer.on_stream([&peer](udtcat::StreamId id) { std::make_shared<Echo>(peer.accept_stream(id))->run(); });
    peer.on_closed([&peers, &peer](udtcat::Status) { peers.erase(&peer); });
  };
  udtcat::ListenRequest request;
  request.locals = *locals;
  request.credentials = std::move(*key);
  request.session.application = "pipe";  // as udtcat HOST PORT has it
  const auto listener = udtcat::listen(io, std::move(request), on_peer, [](auto&, auto& why) { say(why); });
  if (!listener) return say(listener.error()), 1;
  std::printf("%s\n", (*listener)->local_endpoints().front().to_string().c_str());
  std::fflush(stdout);
  io.run();
}
