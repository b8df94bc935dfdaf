// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/udt_program.hpp"

#include <array>
#include <cstdlib>
#include <span>

#include <netinet/in.h>
#include <udt/udt.h>
#include <unistd.h>

namespace udtcat::test::e2e {

namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr std::size_t kBufferBytes = 100'000;  // guess: like the samples, no multiple of anything

sockaddr_in loopback_at(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

UDTSOCKET meet(bool listens, std::uint16_t port) {
  const UDTSOCKET socket = UDT::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback_at(port);
  // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (!listens) return UDT::connect(socket, name, sizeof address) == UDT::ERROR ? UDT::INVALID_SOCK : socket;
  if (UDT::bind(socket, name, sizeof address) == UDT::ERROR || UDT::listen(socket, 1) == UDT::ERROR)
    return UDT::INVALID_SOCK;
  sockaddr_in peer{};
  int length = sizeof peer;
  return UDT::accept(socket, reinterpret_cast<sockaddr*>(&peer), &length);
}

bool send_all(UDTSOCKET socket, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const int sent = UDT::send(socket, bytes.data(), static_cast<int>(bytes.size()), 0);
    if (sent == UDT::ERROR) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool send_input(UDTSOCKET socket) {
  std::array<char, kBufferBytes> buffer{};
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got <= 0) return got == 0;
    if (!send_all(socket, {buffer.data(), static_cast<std::size_t>(got)})) return false;
  }
}

bool write_all(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// Until the peer closes, which UDT reports as an error like any other.
bool receive(UDTSOCKET socket, bool once) {
  std::array<char, kBufferBytes> buffer{};
  for (;;) {
    const int got = UDT::recv(socket, buffer.data(), buffer.size(), 0);
    if (got == UDT::ERROR) return UDT::getlasterror_code() == UDT::ERRORINFO::ECONNLOST;
    if (!write_all({buffer.data(), static_cast<std::size_t>(got)})) return false;
    if (once) return true;
  }
}

}  // namespace

int be_udt_program(std::string_view meets, std::string_view does, const char* port) {
  UDT::startup();
  const UDTSOCKET socket = meet(meets == "listen", static_cast<std::uint16_t>(std::atoi(port)));
  if (socket == UDT::INVALID_SOCK) return kFailed;
  const bool done = does == "send" ? send_input(socket) : receive(socket, does == "read-some");
  UDT::close(socket);  // UDT lingers until the peer has acknowledged all
  UDT::cleanup();
  return done ? kDone : kFailed;
}

Process udt_program(const std::string& meets, const std::string& does, std::uint16_t port, Descriptor in,
                    Descriptor out) {
  return Process({.argv = {"/proc/self/exe", std::string(kBeUdtProgram), meets, does, std::to_string(port)},
                  .in = std::move(in),
                  .out = std::move(out)});
}

}  // namespace udtcat::test::e2e
