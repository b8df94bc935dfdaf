// SPDX-License-Identifier: Apache-2.0
#include "interop/peer_process.hpp"

#include <cstdio>
#include <string>

#include <poll.h>
#include <unistd.h>

#include "interop/our_end.hpp"
#include "interop/raw_udt.hpp"

namespace udtcat::test::interop {

namespace {

constexpr auto kPatience = 60s;

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void wait_for_the_end_of_stdin() {
  char never = 0;
  while (::read(STDIN_FILENO, &never, 1) > 0) {
  }
}

int be_libudt(std::uint16_t port) {
  std::unique_ptr<RawSocket> socket;
  std::unique_ptr<RawListener> listener;
  if (port != 0) {
    socket = RawSocket::connect(loopback(AddressFamily::ipv4, port));
  } else {
    listener = std::make_unique<RawListener>();
    say(std::to_string(listener->port()));
    socket = listener->accept(kPatience);
  }
  if (!socket) return 1;
  say("connected");
  std::ignore = socket->send(std::vector<std::byte>(1, std::byte{'.'}));
  wait_for_the_end_of_stdin();
  ::_exit(0);  // without a goodbye
}

int be_ours(std::uint16_t port) {
  OurEnd end;
  std::unique_ptr<OurChannel> channel;
  if (port != 0) {
    auto connected = end.connect(loopback(AddressFamily::ipv4, port), kPatience);
    if (connected) channel = std::move(*connected);
  } else {
    say(std::to_string(end.listen()));
    end.start_accept();
    channel = end.accepted(kPatience);
  }
  if (!channel) return 1;
  say("connected");
  channel->start_write(std::vector<std::byte>(1, std::byte{'.'}));
  wait_for_the_end_of_stdin();
  ::_exit(0);
}

Command command(Who who, std::uint16_t port, const Pipe& to, const Pipe& from) {
  return {.argv = {"/proc/self/exe", std::string(kBePeer), who == Who::ours ? "ours" : "libudt", std::to_string(port)},
          .in = Descriptor(::dup(to.reading.fd())),
          .out = Descriptor(::dup(from.writing.fd()))};
}

}  // namespace

int be_peer(std::string_view who, std::uint16_t port) {
  const RawRuntime runtime;
  return who == "ours" ? be_ours(port) : be_libudt(port);
}

PeerProcess::PeerProcess(Who who, std::uint16_t port) : process_(command(who, port, to_, from_)), port_(port) {
  if (port == 0) port_ = static_cast<std::uint16_t>(std::atoi(line(10s).c_str()));
}

std::string PeerProcess::line(std::chrono::milliseconds limit) const {
  const auto deadline = Clock::now() + limit;
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd event{.fd = from_.reading.fd(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&event, 1, static_cast<int>(left.count())) <= 0) return text;
    char each = 0;
    if (::read(from_.reading.fd(), &each, 1) <= 0 || each == '\n') return text;
    text += each;
  }
}

}  // namespace udtcat::test::interop
