#include "e2e/support/udp_relay.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <tuple>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

namespace udtcat::e2e {

namespace {

constexpr std::size_t kHeaderBytes = 16;           // spec: UDT draft §3
constexpr std::size_t kDestinationOffset = 12;     // spec: UDT draft §3
constexpr std::uint32_t kControlBit = 0x80000000;  // spec: UDT draft §3.1
constexpr std::uint32_t kShutdown = 0x80050000;    // spec: UDT draft §3.2, type 5
constexpr std::size_t kMaxDatagramBytes = 65536;   // spec: RFC 768
constexpr int kSocketBufferBytes =
    4 * 1024 * 1024;  // guess: a flight of libudt's, so that the relay itself loses little

std::uint32_t word_at(std::span<const unsigned char> datagram, std::size_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, datagram.data() + offset, sizeof word);
  return ntohl(word);
}

// SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
sockaddr* generic(sockaddr_in* address) { return reinterpret_cast<sockaddr*>(address); }

void enlarge(const Descriptor& socket) {
  for (const int buffer : {SO_RCVBUF, SO_SNDBUF}) {
    if (::setsockopt(socket.fd(), SOL_SOCKET, buffer, &kSocketBufferBytes, sizeof kSocketBufferBytes) != 0)
      die("setsockopt");
  }
}

}  // namespace

UdpRelay::UdpRelay(std::uint16_t listener_port) : listener_port_(listener_port) {
  enlarge(outside_.socket);
  enlarge(inside_.socket);
  set_non_blocking(outside_.socket);
  set_non_blocking(inside_.socket);
  thread_ = std::thread([this] { relay(); });
}

UdpRelay::~UdpRelay() {
  set_event(stop_);
  thread_.join();
}

void UdpRelay::flip_bit(Towards towards, std::size_t nth, std::size_t min_payload_bytes) {
  const std::lock_guard lock(mutex_);
  sides_[towards].flip = Flip{.left = nth, .min_payload_bytes = min_payload_bytes, .packet_number = std::nullopt};
}

void UdpRelay::forge_shutdown(Towards towards) {
  const std::lock_guard lock(mutex_);
  const std::array<std::uint32_t, 5> words{htonl(kShutdown), 0, 0, htonl(sides_[towards].socket_id.value_or(0)), 0};
  std::array<unsigned char, sizeof words> datagram{};
  std::memcpy(datagram.data(), words.data(), sizeof words);
  send(towards, datagram);
}

void UdpRelay::drop_all(bool drop) {
  const std::lock_guard lock(mutex_);
  drop_ = drop;
}

std::size_t UdpRelay::flipped() const {
  const std::lock_guard lock(mutex_);
  return flipped_;
}

void UdpRelay::relay() {
  std::array<pollfd, 3> events{{{.fd = outside_.socket.fd(), .events = POLLIN, .revents = 0},
                                {.fd = inside_.socket.fd(), .events = POLLIN, .revents = 0},
                                {.fd = stop_.fd(), .events = POLLIN, .revents = 0}}};
  while (::poll(events.data(), events.size(), -1) > 0 && events[2].revents == 0) {
    if (events[0].revents != 0) pass(Towards::listener);
    if (events[1].revents != 0) pass(Towards::connector);
  }
}

void UdpRelay::pass(Towards towards) {
  constexpr int kBatch = 64;  // guess: neither direction waits long for the other
  std::array<unsigned char, kMaxDatagramBytes> buffer;
  const auto& from = towards == Towards::listener ? outside_.socket : inside_.socket;
  for (int i = 0; i < kBatch; ++i) {
    sockaddr_in sender{};
    socklen_t length = sizeof sender;
    const auto got = ::recvfrom(from.fd(), buffer.data(), buffer.size(), 0, generic(&sender), &length);
    if (got < 0) return;
    const auto datagram = std::span(buffer).first(static_cast<std::size_t>(got));
    const std::lock_guard lock(mutex_);
    if (towards == Towards::listener) connector_ = sender;
    if (admit(towards, datagram)) send(towards, datagram);
  }
}

bool UdpRelay::admit(Towards towards, std::span<unsigned char> datagram) {
  if (drop_) return false;
  if (datagram.size() < kHeaderBytes) return true;
  Side& side = sides_[towards];
  if (const auto id = word_at(datagram, kDestinationOffset); id != 0) side.socket_id = id;
  tamper(side, datagram);
  return true;
}

void UdpRelay::tamper(Side& side, std::span<unsigned char> datagram) {
  const std::uint32_t number = word_at(datagram, 0);
  if (!side.flip || (number & kControlBit) != 0 || datagram.size() < kHeaderBytes + side.flip->min_payload_bytes)
    return;
  Flip& flip = *side.flip;
  if (!flip.packet_number && --flip.left == 0) flip.packet_number = number;
  if (flip.packet_number != number) return;
  datagram[kHeaderBytes + (datagram.size() - kHeaderBytes) / 2] ^= 1;
  ++flipped_;
}

void UdpRelay::send(Towards towards, std::span<const unsigned char> datagram) {
  sockaddr_in target = connector_;
  if (towards == Towards::listener) {
    target.sin_family = AF_INET;
    target.sin_port = htons(listener_port_);
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  const auto& socket = towards == Towards::listener ? inside_.socket : outside_.socket;
  // A datagram that does not get through is lost, as on any path.
  std::ignore = ::sendto(socket.fd(), datagram.data(), datagram.size(), 0, generic(&target), sizeof target);
}

}  // namespace udtcat::e2e
