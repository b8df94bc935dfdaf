// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/udt_strangers.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>

#include <netinet/in.h>
#include <poll.h>
#include <udt/udt.h>
#include <unistd.h>

#include "support/deadline.hpp"

namespace udtcat::test::e2e {

namespace {

constexpr int kSettled = 0;

/// Starts to connect without waiting, so that one that is turned away does not hold up the others.
UDTSOCKET send_stranger(std::uint16_t port) {
  const UDTSOCKET socket = UDT::socket(AF_INET, SOCK_STREAM, 0);
  const bool wait = false;
  UDT::setsockopt(socket, 0, UDT_RCVSYN, &wait, sizeof wait);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
  UDT::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return socket;
}

bool still_connecting(UDTSOCKET socket) {
  const UDTSTATUS state = UDT::getsockstate(socket);
  return state == INIT || state == OPENED || state == CONNECTING;
}

bool readable(const Descriptor& descriptor, std::chrono::milliseconds limit) {
  pollfd event{.fd = descriptor.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&event, 1, static_cast<int>(limit.count())) > 0;
}

Command self(std::uint16_t port, int count, const Pipe& leave, const Pipe& arrived) {
  return {.argv = {"/proc/self/exe", std::string(kBeStrangers), std::to_string(port), std::to_string(count)},
          .in = Descriptor(::dup(leave.reading.fd())),
          .out = Descriptor(::dup(arrived.writing.fd()))};
}

}  // namespace

int be_strangers(const char* port, const char* count) {
  UDT::startup();
  std::vector<UDTSOCKET> strangers;
  for (int left = std::atoi(count); left > 0; --left)
    strangers.push_back(send_stranger(static_cast<std::uint16_t>(std::atoi(port))));
  // libudt itself gives up after three seconds, without a word to its state; a stranger that is not answered has still
  // knocked.
  std::ignore = eventually(std::chrono::seconds(5), [&] { return std::ranges::none_of(strangers, still_connecting); });
  const char arrived = '.';
  std::ignore = ::write(STDOUT_FILENO, &arrived, sizeof arrived);
  char never = 0;
  std::ignore = ::read(STDIN_FILENO, &never, sizeof never);
  ::_exit(kSettled);  // leaves without a goodbye, as strangers do
}

UdtStrangers::UdtStrangers(std::uint16_t port, int count) : process_(self(port, count, leave_, arrived_)) {}

bool UdtStrangers::arrived(std::chrono::milliseconds limit) const { return readable(arrived_.reading, limit); }

}  // namespace udtcat::test::e2e
