// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/udt_flood.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <random>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "support/deadline.hpp"

namespace udtcat::test::e2e {

namespace {

using Packet = std::vector<std::uint32_t>;  // words in network order

constexpr std::size_t kSockets = 8;
constexpr std::size_t kBatch = 64;
constexpr std::size_t kHandshakeWords = 16;  // 4 of header, 12 of handshake
constexpr std::size_t kRequestWord = 9;
constexpr std::size_t kSocketWord = 10;
constexpr std::uint32_t kInduction = 1;
constexpr std::uint32_t kConclusion = 0xffffffff;
constexpr std::uint32_t kFirstSequence = 1000;

Descriptor socket_towards(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die("connect udp");
  return socket;
}

Packet induction(std::uint32_t id) {
  Packet packet{0x80000000, 0, 0, 0, 4, 1, kFirstSequence, 1500, 8192, kInduction, id, 0, 0x0100007f, 0, 0, 0};
  for (std::uint32_t& word : packet) word = htonl(word);
  return packet;
}

/// The first data of a stranger of this kind.
Packet handshake_data(UdtFlood::Kind kind, std::uint32_t destination) {
  constexpr std::size_t kRecordHeaderBytes = 5;
  constexpr std::size_t kHalfHelloBytes = 256;
  std::array<unsigned char, kHalfHelloBytes> hello{22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};
  const std::size_t bytes = kind == UdtFlood::Kind::one_byte    ? 1
                            : kind == UdtFlood::Kind::tls_start ? kRecordHeaderBytes
                                                                : kHalfHelloBytes;
  Packet packet{htonl(kFirstSequence), htonl(0xc0000001), 0, htonl(destination)};
  packet.resize(4 + (bytes + 3) / 4);
  std::copy_n(hello.data(), bytes, reinterpret_cast<unsigned char*>(packet.data() + 4));  // SAFETY: words are bytes
  return packet;
}

std::size_t length_of(UdtFlood::Kind kind, const Packet& packet) {
  const bool is_data = packet.size() != kHandshakeWords;
  if (!is_data) return packet.size() * 4;
  if (kind == UdtFlood::Kind::one_byte) return 17;
  return kind == UdtFlood::Kind::tls_start ? 21 : packet.size() * 4;
}

/// One socket's strangers.
class Crowd {
 public:
  Crowd(std::uint16_t port, UdtFlood::Kind kind) : kind_(kind), socket_(socket_towards(port)) {}

  /// The next packet of somebody who was answered, or a newcomer's first.
  Packet next() {
    if (due_.empty()) return induction(std::uniform_int_distribution<std::uint32_t>(1, 0x7fffffff)(random_));
    Packet packet = std::move(due_.front());
    due_.pop_front();
    return packet;
  }

  void hear() {
    std::array<std::uint32_t, 64> words{};
    for (int left = 1000; left > 0; --left) {
      const auto bytes = ::recv(socket_.fd(), words.data(), sizeof words, 0);
      if (bytes < 0) return;
      const bool handshake = words[0] == htonl(0x80000000);
      if (!handshake || static_cast<std::size_t>(bytes) < kHandshakeWords * 4 || due_.size() > 1000) continue;
      if (words[kRequestWord] == htonl(kInduction)) {
        Packet conclusion(words.begin(), words.begin() + kHandshakeWords);
        conclusion[1] = conclusion[3] = 0;
        conclusion[kRequestWord] = kConclusion;
        due_.push_back(std::move(conclusion));
      } else if (words[kRequestWord] == kConclusion && kind_ != UdtFlood::Kind::mute) {
        due_.push_back(handshake_data(kind_, ntohl(words[kSocketWord])));
      }
    }
  }

  /// returns   how many bytes left
  std::uint64_t send(std::uint64_t most_bytes) {
    std::array<Packet, kBatch> packets;
    std::array<iovec, kBatch> pieces{};
    std::array<mmsghdr, kBatch> messages{};
    std::uint64_t bytes = 0;
    unsigned count = 0;
    for (; count < kBatch && bytes < most_bytes; ++count) {
      packets[count] = next();
      pieces[count] = {packets[count].data(), length_of(kind_, packets[count])};
      messages[count].msg_hdr.msg_iov = &pieces[count];
      messages[count].msg_hdr.msg_iovlen = 1;
      bytes += pieces[count].iov_len;
    }
    ::sendmmsg(socket_.fd(), messages.data(), count, 0);
    return bytes;
  }

 private:
  const UdtFlood::Kind kind_;
  Descriptor socket_;
  std::deque<Packet> due_;
  std::mt19937 random_{std::random_device{}()};
};

void flood(std::uint16_t port, UdtFlood::Kind kind, std::uint64_t bytes_per_second, const Descriptor& stop) {
  std::vector<Crowd> crowds;
  for (std::size_t i = 0; i < kSockets; ++i) crowds.emplace_back(port, kind);
  const auto began = Clock::now();
  std::uint64_t sent = 0;
  pollfd stopped{.fd = stop.fd(), .events = POLLIN, .revents = 0};
  for (std::size_t turn = 0; ::poll(&stopped, 1, 1) == 0;) {
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    const auto due = static_cast<std::uint64_t>(seconds * static_cast<double>(bytes_per_second));
    sent = std::max(sent, due - std::min(due, bytes_per_second / 20));  // what a stall left undone stays so
    for (Crowd& crowd : crowds) crowd.hear();
    while (sent < due) sent += crowds[turn++ % kSockets].send(due - sent);
  }
}

}  // namespace

UdtFlood::UdtFlood(std::uint16_t port, Kind kind, std::uint64_t bytes_per_second)
    : thread_([this, port, kind, bytes_per_second] { flood(port, kind, bytes_per_second, stop_); }) {}

UdtFlood::~UdtFlood() {
  set_event(stop_);
  thread_.join();
}

}  // namespace udtcat::test::e2e
