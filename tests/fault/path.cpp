// SPDX-License-Identifier: Apache-2.0
#include "fault/path.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

namespace udtcat::fault {

namespace {

using std::chrono::milliseconds;

constexpr unsigned kMtuBytes = 1500;             // spec: Ethernet
constexpr int kPacketsATurn = 32;                // guess: the other direction must not wait long
constexpr std::size_t kMaxUnderWay = 20'000;     // guess: 30 MB, more than any run has
constexpr std::uint64_t kMaxLateMs = 30;         // guess: dozens of packets overtake
constexpr std::size_t kUdpHeaderBytes = 8;       // spec: RFC 768
constexpr std::size_t kUdtHeaderBytes = 16;      // spec: UDT draft §3
constexpr std::byte kUdtControlBit{0x80};        // spec: UDT draft §3.1
constexpr std::size_t kTcpHeaderBytes = 20;      // spec: RFC 9293, without options
constexpr std::byte kProtocolTcp{6};             // spec: RFC 9293
constexpr std::byte kProtocolUdp{17};            // spec: RFC 768
constexpr std::size_t kIpv4MinHeaderBytes = 20;  // spec: RFC 791

/// A path that cannot be made is no finding.
template <typename T>
T must(Result<T> made) {
  if (made) return std::move(*made);
  std::fprintf(stderr, "the test cannot go on: %s\n", made.error().message().c_str());
  std::abort();
}
void must(const Status& done) {
  if (done) return;
  std::fprintf(stderr, "the test cannot go on: %s\n", done.error().message().c_str());
  std::abort();
}

/// The thread's namespace, and the way back to it.
class Visit {
 public:
  explicit Visit(const wan::NetworkNamespace& place) { must(wan::enter(place)); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() {
    if (::setns(home_.fd(), CLONE_NEWNET) != 0) test::die("return from a network namespace");
  }

 private:
  const test::Descriptor home_ = test::open_for_reading("/proc/thread-self/ns/net");
};

/// The transport's header and its payload; empty for packets of another protocol, and those that carry nothing.
std::span<std::byte> carried_by(std::byte protocol, std::size_t least_header, std::span<std::byte> packet) {
  const auto ip = packet.subspan(std::min(packet.size(), wan::kVirtioHeaderBytes));
  if (ip.size() < kIpv4MinHeaderBytes || ip[0] >> 4 != std::byte{4} || ip[9] != protocol) return {};
  const std::size_t header = std::to_integer<std::size_t>(ip[0] & std::byte{0x0f}) * 4;
  return ip.size() > header + least_header ? ip.subspan(header) : std::span<std::byte>{};
}

/// No checksum at all, which IPv4 allows, and nothing for the kernel to complete.
void drop_checksum(std::span<std::byte> packet, std::span<std::byte> udp) {
  std::ranges::fill(packet.first(wan::kVirtioHeaderBytes), std::byte{0});
  std::ranges::fill(udp.subspan(6, 2), std::byte{0});
}

}  // namespace

Path::Path() {
  const test::Descriptor home = test::open_for_reading("/proc/self/ns/net");
  near_ = must(wan::make_network_namespace());
  near_device_ = must(wan::TunDevice::create(wan::addresses_of(1), kMtuBytes));
  far_ = must(wan::make_network_namespace());
  far_device_ = must(wan::TunDevice::create(wan::addresses_of(2), kMtuBytes));
  if (::setns(home.fd(), CLONE_NEWNET) != 0) test::die("return from a network namespace");
  thread_ = std::thread([this] { carry(); });
}

Path::~Path() {
  test::set_event(stop_);
  thread_.join();
}

test::Namespaces::Host Path::host(Side side) const {
  const auto& place = side == Side::near ? *near_ : *far_;
  return {.name = side == Side::near ? "near" : "far",
          .file = "/proc/self/fd/" + std::to_string(place.descriptor.fd()),
          .ipv4 = side == Side::near ? kNearAddress : kFarAddress,
          .ipv6 = side == Side::near ? "fd77::1" : "fd77::2"};
}

test::Descriptor Path::tcp_socket(Side side) const {
  const Visit visit(side == Side::near ? *near_ : *far_);
  test::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) test::die("make a TCP socket");
  return socket;
}

void Path::heal(milliseconds one_way_delay, std::uint64_t seed, Counted counted) {
  if (std::exchange(moved_, false)) must(near_device_->readdress(wan::addresses_of(1)));
  const std::lock_guard lock(mutex_);
  directions_ = {};
  dice_ = Dice(seed);
  one_way_delay_ = one_way_delay;
  counted_ = counted;
  packets_ = 0;
  bytes_ = 0;
}

void Path::set(Side from, const Trouble& trouble) {
  const std::lock_guard lock(mutex_);
  direction(from).trouble = trouble;
}

void Path::move_near() {
  moved_ = true;
  must(near_device_->readdress(wan::addresses_of(3)));
}

std::uint64_t Path::packets() const {
  const std::lock_guard lock(mutex_);
  return packets_;
}

std::uint64_t Path::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void Path::carry() {
  std::array<pollfd, 3> events{{{.fd = stop_.fd(), .events = POLLIN, .revents = 0},
                                {.fd = near_device_->fd(), .events = POLLIN, .revents = 0},
                                {.fd = far_device_->fd(), .events = POLLIN, .revents = 0}}};
  constexpr int kWaitMs = 1;  // how late a delayed packet is at most
  for (bool waiting = false;;) {
    if (::poll(events.data(), events.size(), waiting ? kWaitMs : -1) < 0 || events[0].revents != 0) return;
    if (events[1].revents != 0) take(Side::near);
    if (events[2].revents != 0) take(Side::far);
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    deliver(Side::near, now);
    deliver(Side::far, now);
    waiting = !directions_[0].under_way.empty() || !directions_[1].under_way.empty();
  }
}

void Path::take(Side from) {
  static thread_local std::array<std::byte, wan::kMaxPacketBytes> whole;
  static thread_local std::array<std::byte, wan::kMaxPacketBytes> piece;
  for (int i = 0; i < kPacketsATurn; ++i) {
    const auto packet = std::span(whole).first(device(from).read(whole));
    if (packet.empty()) return;
    const auto shape = wan::shape_of(packet);
    if (!shape) continue;
    const std::lock_guard lock(mutex_);
    for (std::size_t segment = 0; segment < shape->segments; ++segment)
      pass(direction(from), std::span(piece).first(wan::copy_segments(packet, *shape, segment, 1, piece)));
  }
}

void Path::pass(Direction& direction, std::span<std::byte> packet) {
  if (!strike(direction, packet) || direction.under_way.size() >= kMaxUnderWay) return;
  auto due = Clock::now() + one_way_delay_;
  if (dice_.happens(direction.trouble.late)) due += milliseconds(dice_.between(1, kMaxLateMs));
  const Packet copy(packet.begin(), packet.end());
  direction.under_way.emplace(due, copy);
  if (dice_.happens(direction.trouble.repeat))
    direction.under_way.emplace(due + milliseconds(dice_.between(0, kMaxLateMs)), copy);
}

bool Path::strike(Direction& direction, std::span<std::byte> packet) {
  const Trouble& trouble = direction.trouble;
  const auto udp = carried_by(kProtocolUdp, kUdpHeaderBytes, packet);
  const bool is_udp = counted_ == Counted::udp;
  const std::size_t header = is_udp ? kUdpHeaderBytes : kTcpHeaderBytes;
  if (const auto counted = is_udp ? udp : carried_by(kProtocolTcp, header, packet); !counted.empty()) {
    ++packets_;
    bytes_ += counted.size() - header;
  }
  if (trouble.hole || packet.size() - wan::kVirtioHeaderBytes > trouble.most_bytes || dice_.happens(trouble.drop))
    return false;
  if (!udp.empty()) strike_udp(direction, packet, udp);
  return true;
}

void Path::strike_udp(Direction& direction, std::span<std::byte> packet, std::span<std::byte> udp) {
  const auto carried = udp.subspan(kUdpHeaderBytes);
  if (dice_.happens(direction.trouble.flip)) {
    carried[dice_.below(carried.size())] ^= std::byte{1} << static_cast<int>(dice_.below(8));
    drop_checksum(packet, udp);
  }
  const bool is_data = carried.size() > kUdtHeaderBytes && (carried[0] & kUdtControlBit) == std::byte{0};
  if (direction.trouble.splice == 0 || !is_data) return;
  FlowName flow;
  std::ranges::copy(udp.first(flow.size()), flow.begin());
  drop_checksum(packet, udp);
  splice(direction, flow, carried.subspan(kUdtHeaderBytes));
}

void Path::splice(Direction& direction, const FlowName& flow, std::span<std::byte> payload) {
  const Packet own(payload.begin(), payload.end());
  if (dice_.happens(direction.trouble.splice)) {
    for (const auto& [name, other] : direction.last_payloads) {
      if (name == flow) continue;
      std::ranges::copy(std::span(other).first(std::min(other.size(), payload.size())), payload.begin());
      break;
    }
  }
  direction.last_payloads[flow] = own;
}

void Path::deliver(Side from, Clock::time_point now) {
  auto& under_way = direction(from).under_way;
  while (!under_way.empty() && under_way.begin()->first <= now) {
    // A packet that the kernel does not take is lost, as on any path.
    std::ignore = device(from == Side::near ? Side::far : Side::near).write(under_way.begin()->second);
    under_way.erase(under_way.begin());
  }
}

}  // namespace udtcat::fault
