// SPDX-License-Identifier: Apache-2.0
/// Sends a file to an echo_server, or to `udtcat -l --key-file KEY_FILE PORT`, and writes what comes back to stdout.
/// Exits 0 only with the receipt: the consumer at the other end has taken every byte, and stdout has all that came.
///
/// usage: send_file HOST:PORT KEY_FILE FILE
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <udtcat/udtcat.hpp>

[[noreturn]] void fail(const std::string& why) { std::fprintf(stderr, "send_file: %s\n", why.c_str()), std::exit(1); }
template <typename T>
T need(udtcat::Result<T> result) {
  if (!result) fail(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct Transfer {
  std::ifstream file;
  std::unique_ptr<udtcat::Connection> connection{};
  std::unique_ptr<udtcat::Stream> stream{};
  std::array<char, 65536> outgoing{}, incoming{};
  int open_directions = 2;

  void send() {
    if (file.read(outgoing.data(), std::ssize(outgoing)); file.bad()) fail("the file cannot be read");
    const auto piece = std::as_bytes(std::span(outgoing)).first(static_cast<std::size_t>(file.gcount()));
    if (piece.empty()) return stream->async_finish([this](udtcat::Status receipt) { end(receipt); });
    stream->async_write(piece, [this](udtcat::Status taken) { need(taken), send(); });
  }
  void receive() {
    stream->async_read(std::as_writable_bytes(std::span(incoming)), [this](udtcat::Result<std::size_t> bytes) {
      if (std::fwrite(incoming.data(), 1, need(bytes), stdout) < *bytes) fail("standard output cannot be written");
      *bytes > 0 ? receive() : end({});
    });
  }
  void end(udtcat::Status direction) {
    if (need(direction); --open_directions == 0) connection->close();
  }
};

int main(int argc, char** argv) {
  if (argc != 4) return std::fputs("usage: send_file HOST:PORT KEY_FILE FILE\n", stderr), 2;
  boost::asio::io_context io;
  Transfer transfer{.file = std::ifstream(argv[3], std::ios::binary)};
  if (!transfer.file) return std::perror(argv[3]), 1;
  udtcat::DialRequest request;
  request.addresses = need(udtcat::resolve(need(udtcat::parse_peer(argv[1])), udtcat::AddressFamily::any));
  request.peer_name = argv[1];
  request.credentials = need(udtcat::Key::from_file(argv[2]));
  request.session.application = "pipe";  // as udtcat -l PORT has it
  const auto dialer = udtcat::dial(io, std::move(request), [&](auto made) {
    transfer.connection = need(std::move(made));
    transfer.connection->on_closed([&](udtcat::Status how) { need(how), io.stop(); });
    transfer.stream = transfer.connection->open_stream();
    transfer.send(), transfer.receive();
  });
  io.run();
  if (std::fflush(stdout) != 0) fail("standard output cannot be written");
}
