// SPDX-License-Identifier: Apache-2.0
/// wanprobe: asks the lab's link whether it is what it says. Each verb prints one JSON object.
///
///   wanprobe echo PORT                      answers each datagram, until it is ended
///   wanprobe rtt ADDRESS PORT COUNT         round trips, one at a time
///   wanprobe delay ADDRESS PORT EACH_MS     round trips, one begun each so often, answered or not, until SIGTERM
///   wanprobe count PORT                     counts numbered datagrams until one says that it is the last
///   wanprobe blast ADDRESS PORT RATE SECONDS BYTES   sends numbered datagrams, evenly
///   wanprobe tcp-receive PORT               one connection, each byte compared with what must come
///   wanprobe tcp-send ADDRESS PORT BYTES    sends them
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include "wan/descriptor.hpp"

namespace udtcat::wan {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kPatienceMs = 10'000;  // guess: nothing here waits longer than a round trip and a queue
constexpr std::uint64_t kLast = ~std::uint64_t{0};

[[noreturn]] void die(const std::string& what) {
  std::cerr << "wanprobe: " << what << ": " << std::strerror(errno) << std::endl;
  std::exit(1);
}

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
  [[nodiscard]] const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

Address parse(const std::string& text, int port) {
  Address address;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&address.storage, &v4, address.length = sizeof v4);
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&address.storage, &v6, address.length = sizeof v6);
  } else {
    errno = EINVAL;
    die("address " + text);
  }
  return address;
}

/// Of both families.
Descriptor bound(int type, int port) {
  Descriptor socket(::socket(AF_INET6, type | SOCK_CLOEXEC, 0));
  const Address any = parse("::", port);
  const int yes = 1;
  constexpr int kBufferBytes = 8 << 20;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (type == SOCK_DGRAM &&
      ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes, sizeof kBufferBytes) != 0)
    ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  if (::bind(socket.fd(), any.generic(), any.length) != 0) die("bind");
  return socket;
}

Descriptor connected(int type, const Address& to) {
  Descriptor socket(::socket(to.family(), type | SOCK_CLOEXEC, 0));
  const auto deadline = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (::connect(socket.fd(), to.generic(), to.length) != 0) {
    if (errno != ECONNREFUSED || Clock::now() > deadline) die("connect");
    const timespec pause{.tv_sec = 0, .tv_nsec = 20'000'000};
    ::nanosleep(&pause, nullptr);  // the other end is starting
    socket = Descriptor(::socket(to.family(), type | SOCK_CLOEXEC, 0));
  }
  return socket;
}

bool readable(int fd, int patience_ms) {
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, patience_ms) == 1;
}

int echo(int port) {
  const Descriptor socket = bound(SOCK_DGRAM, port);
  std::array<char, 65536> buffer{};
  for (;;) {
    Address from;
    from.length = sizeof from.storage;
    // SAFETY: as Address::generic(), for an address that is written to.
    const ssize_t bytes = ::recvfrom(socket.fd(), buffer.data(), buffer.size(), 0,
                                     reinterpret_cast<sockaddr*>(&from.storage), &from.length);
    if (bytes >= 0)
      ::sendto(socket.fd(), buffer.data(), static_cast<std::size_t>(bytes), 0, from.generic(), from.length);
  }
}

int rtt(const Address& to, int count) {
  const Descriptor socket = connected(SOCK_DGRAM, to);
  std::vector<double> milliseconds;
  int unanswered = 0;
  for (int i = 0; i < count; ++i) {
    const auto begin = Clock::now();
    const auto sent = begin.time_since_epoch().count();
    ::send(socket.fd(), &sent, sizeof sent, 0);
    auto echoed = sent - 1;
    constexpr int kAnswerMs = 2000;
    while (echoed != sent && readable(socket.fd(), kAnswerMs))
      if (::recv(socket.fd(), &echoed, sizeof echoed, 0) < 0) break;  // refused: the other end is starting
    if (echoed == sent)
      milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    else if (milliseconds.empty() && ++unanswered < 500)
      --i;
  }
  if (milliseconds.empty()) die("no answer");
  std::ranges::sort(milliseconds);
  std::cout << fmt::format("{{\"answers\": {}, \"median_ms\": {:.4f}, \"min_ms\": {:.4f}, \"max_ms\": {:.4f}}}\n",
                           milliseconds.size(), milliseconds[milliseconds.size() / 2], milliseconds.front(),
                           milliseconds.back());
  return 0;
}

volatile std::sig_atomic_t told_to_end = 0;

int delay(const Address& to, std::chrono::milliseconds each) {
  std::signal(SIGTERM, [](int) { told_to_end = 1; });
  const Descriptor socket = connected(SOCK_DGRAM, to);
  std::vector<double> milliseconds;
  std::uint64_t asked = 0;
  for (auto next = Clock::now(); told_to_end == 0;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    if (left.count() > 0) {
      std::int64_t sent = 0;
      if (readable(socket.fd(), static_cast<int>(left.count())) &&
          ::recv(socket.fd(), &sent, sizeof sent, 0) == sizeof sent)
        milliseconds.push_back(
            std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch() - Clock::duration(sent)).count());
      continue;
    }
    const std::int64_t sent = Clock::now().time_since_epoch().count();
    if (::send(socket.fd(), &sent, sizeof sent, 0) > 0) ++asked;  // refused: the other end is starting
    next += each;
  }
  if (milliseconds.empty()) die("no answer");
  std::ranges::sort(milliseconds);
  std::cout << fmt::format(
      "{{\"asked\": {}, \"answers\": {}, \"min_ms\": {:.3f}, \"median_ms\": {:.3f}, \"p95_ms\": {:.3f}}}\n", asked,
      milliseconds.size(), milliseconds.front(), milliseconds[milliseconds.size() / 2],
      milliseconds[milliseconds.size() * 95 / 100]);
  return 0;
}

/// The bytes that a datagram of this number, or a stream at this position, must have.
char pattern(std::uint64_t position) { return static_cast<char>((position * 0x9e3779b97f4a7c15ULL) >> 56); }

void fill(std::vector<char>& datagram, std::uint64_t number) {
  std::memcpy(datagram.data(), &number, sizeof number);
  for (std::size_t i = sizeof number; i < datagram.size(); ++i) datagram[i] = pattern(number + i);
}

int count(int port) {
  const Descriptor socket = bound(SOCK_DGRAM, port);
  std::array<char, 65536> buffer{};
  std::vector<bool> seen;
  std::uint64_t received = 0, bytes_received = 0, corrupt = 0, twice = 0, overtaken = 0, begin = kLast, next = 0;
  std::optional<Clock::time_point> first;
  Clock::time_point last;
  while (readable(socket.fd(), kPatienceMs)) {
    const ssize_t got = ::recv(socket.fd(), buffer.data(), buffer.size(), 0);
    if (got < static_cast<ssize_t>(sizeof(std::uint64_t))) continue;
    const auto bytes = static_cast<std::size_t>(got);
    std::uint64_t number = 0;
    std::memcpy(&number, buffer.data(), sizeof number);
    if (number == kLast) break;
    last = Clock::now();
    if (!first)
      first = last;  // its bytes do not count: their time is before it
    else
      bytes_received += bytes + 28;
    ++received;
    for (std::size_t i = sizeof number; i < bytes; ++i)
      if (buffer[i] != pattern(number + i)) {
        ++corrupt;
        break;
      }
    if (number >= seen.size()) seen.resize(number + 1);
    if (seen[number])
      ++twice;
    else if (number < next)
      ++overtaken;
    seen[number] = true;
    begin = std::min(begin, number);  // what was sent before we listened is not the link's loss
    next = std::max(next, number + 1);
  }
  const double seconds = first ? Seconds(last - *first).count() : 0;
  std::cout << fmt::format(
      "{{\"received\": {}, \"missing\": {}, \"corrupt\": {}, \"twice\": {}, \"overtaken\": {}, \"ip_bits_per_second\": "
      "{:.0f}}}\n",
      received, received == 0 ? 0 : next - begin - (received - twice), corrupt, twice, overtaken,
      seconds > 0 ? static_cast<double>(bytes_received) * 8 / seconds : 0);
  return 0;
}

int blast(const Address& to, double bits_per_second, double seconds, std::size_t bytes) {
  const Descriptor socket = connected(SOCK_DGRAM, to);
  std::vector<char> datagram(bytes);
  const double datagrams_per_second = bits_per_second / 8 / static_cast<double>(bytes + 28);
  const auto total = static_cast<std::uint64_t>(datagrams_per_second * seconds);
  const auto begin = Clock::now();
  for (std::uint64_t number = 0; number < total;) {
    const timespec pause{.tv_sec = 0, .tv_nsec = 200'000};
    ::nanosleep(&pause, nullptr);
    const auto due = static_cast<std::uint64_t>(Seconds(Clock::now() - begin).count() * datagrams_per_second) + 1;
    for (; number < std::min(total, due); ++number) {
      fill(datagram, number);
      // ECONNREFUSED speaks of an earlier one, before the other end listened; this one has not been sent.
      while (::send(socket.fd(), datagram.data(), datagram.size(), 0) < 0 &&
             (errno == ENOBUFS || errno == ECONNREFUSED)) {
      }
    }
  }
  // Behind everything, and often enough that one of them is not lost.
  fill(datagram, kLast);
  for (int i = 0; i < 100; ++i) {
    const timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
    ::nanosleep(&pause, nullptr);
    ::send(socket.fd(), datagram.data(), datagram.size(), 0);
  }
  std::cout << fmt::format("{{\"sent\": {}}}\n", total);
  return 0;
}

int tcp_receive(int port) {
  const Descriptor listener = bound(SOCK_STREAM, port);
  if (::listen(listener.fd(), 1) != 0 || !readable(listener.fd(), kPatienceMs)) die("listen");
  const Descriptor socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  std::vector<char> buffer(1 << 20);
  std::uint64_t received = 0, corrupt = 0;
  const auto begin = Clock::now();
  while (readable(socket.fd(), kPatienceMs)) {
    const ssize_t got = ::recv(socket.fd(), buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    for (ssize_t i = 0; i < got; ++i, ++received)
      if (buffer[static_cast<std::size_t>(i)] != pattern(received)) ++corrupt;
  }
  std::cout << fmt::format("{{\"received\": {}, \"corrupt\": {}, \"seconds\": {:.3f}}}\n", received, corrupt,
                           Seconds(Clock::now() - begin).count())
            << std::flush;
  return 0;
}

int tcp_send(const Address& to, std::uint64_t bytes) {
  const Descriptor socket = connected(SOCK_STREAM, to);
  std::vector<char> buffer(1 << 20);
  for (std::uint64_t sent = 0; sent < bytes;) {
    const auto chunk = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), bytes - sent));
    for (std::size_t i = 0; i < chunk; ++i) buffer[i] = pattern(sent + i);
    for (std::size_t at = 0; at < chunk;) {
      const ssize_t put = ::send(socket.fd(), buffer.data() + at, chunk - at, MSG_NOSIGNAL);
      if (put <= 0) die("send");
      at += static_cast<std::size_t>(put);
    }
    sent += chunk;
  }
  ::shutdown(socket.fd(), SHUT_WR);
  ::recv(socket.fd(), buffer.data(), buffer.size(), 0);  // until the other end has said what it has
  return 0;
}

int main(const std::vector<std::string>& words) {
  const auto is = [&](const char* verb, std::size_t count) { return words.size() == count + 1 && words[0] == verb; };
  const auto number = [&](std::size_t i) { return std::stoi(words[i]); };
  if (is("echo", 1)) return echo(number(1));
  if (is("rtt", 3)) return rtt(parse(words[1], number(2)), number(3));
  if (is("delay", 3)) return delay(parse(words[1], number(2)), std::chrono::milliseconds(number(3)));
  if (is("count", 1)) return count(number(1));
  if (is("blast", 5))
    return blast(parse(words[1], number(2)), std::stod(words[3]), std::stod(words[4]), std::stoul(words[5]));
  if (is("tcp-receive", 1)) return tcp_receive(number(1));
  if (is("tcp-send", 3)) return tcp_send(parse(words[1], number(2)), std::stoull(words[3]));
  std::cerr << "wanprobe: the verbs are at the top of bench/wan/probe.cpp\n";
  return 2;
}

}  // namespace
}  // namespace udtcat::wan

int main(int argc, char** argv) { return udtcat::wan::main(std::vector<std::string>(argv + 1, argv + argc)); }
