/// A stranger's program: makes a key, reads it back, listens, says which library it runs on.
#include <cstdio>
#include <cstring>

#include <udtcat/udtcat.hpp>

int main() {
  const auto key = udtcat::Key::generate();
  if (!key) return 1;
  const auto again = udtcat::Key::parse(key->reveal_text());
  if (!again || std::memcmp(again->bytes().data(), key->bytes().data(), udtcat::Key::kBytes) != 0) return 1;
  boost::asio::io_context io;
  const auto here = udtcat::resolve({.host = "127.0.0.1", .port = 0}, udtcat::AddressFamily::ipv4);
  if (!here) return 1;
  auto listener =
      udtcat::listen(io, {.locals = *here, .key = key->duplicate(), .session = {}, .transport = {}}, {}, {});
  if (!listener || (*listener)->local_endpoints().empty()) return 1;
  std::printf("udtcat %s\n", udtcat::version());
  return 0;
}
