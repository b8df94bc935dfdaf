// SPDX-License-Identifier: Apache-2.0
#include "support/udp_relay.hpp"

#include <algorithm>
#include <tuple>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "support/ports.hpp"

namespace udtcat::test {

namespace {

constexpr std::size_t kMaxDatagramBytes = 65536;       // spec: RFC 768
constexpr int kSocketBufferBytes = 4 * 1024 * 1024;    // guess: a flight of libudt's
constexpr int kBatch = 64;                             // guess: neither direction waits long for the other
constexpr std::size_t kOutside = ~std::size_t{0};      // not a flow
constexpr std::size_t kMaxCaptured = 4 * 1000 * 1000;  // a bound; tests that come near it capture too much

// SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
sockaddr* generic(sockaddr_in* address) { return reinterpret_cast<sockaddr*>(address); }

sockaddr_in ipv4_loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Descriptor open_socket() {
  Descriptor socket = bind_udp().socket;
  set_non_blocking(socket);
  for (const int buffer : {SO_RCVBUF, SO_SNDBUF})
    if (::setsockopt(socket.fd(), SOL_SOCKET, buffer, &kSocketBufferBytes, sizeof kSocketBufferBytes) != 0)
      die("setsockopt");
  return socket;
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket.fd(), generic(&address), &length) != 0) die("getsockname");
  return ntohs(address.sin_port);
}

bool happens(std::mt19937_64& random, double chance) {
  return chance > 0 && std::uniform_real_distribution<double>(0, 1)(random) < chance;
}

}  // namespace

UdpRelay::UdpRelay(std::uint16_t listener_port)
    : listener_port_(listener_port), outside_(open_socket()), outside_port_(port_of(outside_)) {
  thread_ = std::thread([this] { relay(); });
}

UdpRelay::~UdpRelay() {
  set_event(stop_);
  thread_.join();
}

void UdpRelay::impair(Towards towards, const Impairment& impairment) {
  const std::lock_guard lock(mutex_);
  side(towards).impairment = impairment;
  side(towards).random.seed(impairment.seed);
}

void UdpRelay::rule(Towards towards, Rule rule) {
  const std::lock_guard lock(mutex_);
  side(towards).rule = std::move(rule);
}

void UdpRelay::rewrite(Towards towards, Rewrite rewrite) {
  const std::lock_guard lock(mutex_);
  side(towards).rewrite = std::move(rewrite);
}

void UdpRelay::blackhole(Towards towards, bool on) {
  const std::lock_guard lock(mutex_);
  side(towards).blackhole = on;
}

void UdpRelay::change_source_ports() {
  const std::lock_guard lock(mutex_);
  for (Flow& flow : flows_) {
    // The new one first, so that it is another one; the old number may be polled once more, and then has nothing.
    Descriptor fresh = open_socket();
    flow.inside = std::move(fresh);
  }
}

void UdpRelay::cut(std::size_t flow) {
  const std::lock_guard lock(mutex_);
  flows_.at(flow).cut = true;
}

std::size_t UdpRelay::flows() const {
  const std::lock_guard lock(mutex_);
  return flows_.size();
}

void UdpRelay::inject(Towards towards, std::span<const std::byte> datagram) {
  const std::lock_guard lock(mutex_);
  for (std::size_t flow = 0; flow < flows_.size(); ++flow) send(towards, flow, datagram);
}

void UdpRelay::capture(std::size_t head_bytes) {
  const std::lock_guard lock(mutex_);
  captured_.clear();
  head_bytes_ = head_bytes;
}

std::vector<Captured> UdpRelay::captured() const {
  const std::lock_guard lock(mutex_);
  return captured_;
}

std::vector<Captured> UdpRelay::captured(Towards towards, const std::function<bool(const PacketView&)>& which) const {
  const std::lock_guard lock(mutex_);
  std::vector<Captured> found;
  for (const Captured& each : captured_)
    if (each.towards == towards && which(each.view())) found.push_back(each);
  return found;
}

bool UdpRelay::wait_for(const Match& match, std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  std::size_t looked_at = 0;
  return seen_.wait_for(lock, limit, [&] {
    looked_at = std::min(looked_at, captured_.size());
    while (looked_at < captured_.size())
      if (match(captured_[looked_at++])) return true;
    return false;
  });
}

std::size_t UdpRelay::dropped(Towards towards) const {
  const std::lock_guard lock(mutex_);
  return side(towards).dropped;
}

std::size_t UdpRelay::passed(Towards towards) const {
  const std::lock_guard lock(mutex_);
  return side(towards).passed;
}

std::string UdpRelay::last_words(std::size_t packets) const {
  const std::lock_guard lock(mutex_);
  std::string text = "the last packets at the relay:\n";
  const std::size_t first = captured_.size() > packets ? captured_.size() - packets : 0;
  for (std::size_t i = first; i < captured_.size(); ++i) {
    const auto ago = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - captured_[i].at);
    text += "  " + std::to_string(-ago.count()) + " us " +
            (captured_[i].towards == Towards::listener ? "C->L " : "L->C ") + captured_[i].view().text() + " of " +
            std::to_string(captured_[i].datagram_bytes) + (captured_[i].dropped ? " DROPPED\n" : "\n");
  }
  return text;
}

void UdpRelay::relay() {
  std::vector<pollfd> events;
  for (;;) {
    events = {{.fd = stop_.fd(), .events = POLLIN, .revents = 0},
              {.fd = outside_.fd(), .events = POLLIN, .revents = 0}};
    timespec wait{.tv_sec = 0, .tv_nsec = 20'000'000};  // looks for changed flows now and then
    {
      const std::lock_guard lock(mutex_);
      for (const Flow& flow : flows_) events.push_back({.fd = flow.inside.fd(), .events = POLLIN, .revents = 0});
      if (!delayed_.empty()) {
        const auto left = std::chrono::nanoseconds(delayed_.top().due - Clock::now());
        wait.tv_nsec = std::clamp<std::int64_t>(left.count(), 0, wait.tv_nsec);
      }
    }
    if (::ppoll(events.data(), events.size(), &wait, nullptr) < 0 || events[0].revents != 0) return;
    const std::lock_guard lock(mutex_);
    if (events[1].revents != 0) take(outside_, kOutside);
    for (std::size_t i = 2; i < events.size(); ++i)
      if (events[i].revents != 0) take(flows_[i - 2].inside, i - 2);
    send_what_is_due();
  }
}

void UdpRelay::take(const Descriptor& socket, std::size_t flow_or_outside) {
  static thread_local std::array<std::byte, kMaxDatagramBytes> buffer;
  for (int i = 0; i < kBatch; ++i) {
    sockaddr_in sender{};
    socklen_t length = sizeof sender;
    const auto got = ::recvfrom(socket.fd(), buffer.data(), buffer.size(), 0, generic(&sender), &length);
    if (got < 0) return;
    const auto datagram = std::span(buffer).first(static_cast<std::size_t>(got));
    if (flow_or_outside == kOutside) {
      pass(Towards::listener, flow_of(sender), datagram);
    } else {
      pass(Towards::connector, flow_or_outside, datagram);
    }
  }
}

void UdpRelay::pass(Towards towards, std::size_t flow, std::span<std::byte> datagram) {
  Side& its = side(towards);
  if (its.rewrite) its.rewrite(datagram);
  const PacketView packet(datagram);
  const Fate fate = fate_of(its, flows_[flow], packet);
  if (head_bytes_ > 0 && captured_.size() < kMaxCaptured) {
    const auto head = datagram.first(std::min(datagram.size(), head_bytes_));
    captured_.push_back({.at = Clock::now(),
                         .towards = towards,
                         .datagram_bytes = datagram.size(),
                         .dropped = fate.drop,
                         .head = Bytes(head.begin(), head.end())});
    seen_.notify_all();
  }
  if (fate.drop) {
    ++its.dropped;
    return;
  }
  ++its.passed;
  for (int copy = 0; copy < fate.copies; ++copy) {
    if (fate.delay.count() == 0) {
      send(towards, flow, datagram);
    } else {
      delayed_.push({.due = Clock::now() + fate.delay,
                     .order = next_order_++,
                     .towards = towards,
                     .flow = flow,
                     .datagram = Bytes(datagram.begin(), datagram.end())});
    }
  }
}

Fate UdpRelay::fate_of(Side& its, const Flow& flow, const PacketView& packet) {
  if (its.blackhole || flow.cut) return {.drop = true};
  Fate fate;
  if (its.rule) fate = its.rule(packet);
  const Impairment& chances = its.impairment;
  fate.drop = fate.drop || happens(its.random, chances.drop);
  if (happens(its.random, chances.duplicate)) ++fate.copies;
  fate.delay += chances.delay_of_all;
  if (happens(its.random, chances.delayed)) fate.delay += chances.delay;
  return fate;
}

void UdpRelay::send(Towards towards, std::size_t flow, std::span<const std::byte> datagram) {
  sockaddr_in target = towards == Towards::listener ? ipv4_loopback(listener_port_) : flows_[flow].connector;
  const Descriptor& socket = towards == Towards::listener ? flows_[flow].inside : outside_;
  // A datagram that does not get through is lost, as on any path.
  std::ignore = ::sendto(socket.fd(), datagram.data(), datagram.size(), 0, generic(&target), sizeof target);
}

void UdpRelay::send_what_is_due() {
  while (!delayed_.empty() && delayed_.top().due <= Clock::now()) {
    send(delayed_.top().towards, delayed_.top().flow, delayed_.top().datagram);
    delayed_.pop();
  }
}

std::size_t UdpRelay::flow_of(const sockaddr_in& connector) {
  for (std::size_t i = 0; i < flows_.size(); ++i)
    if (flows_[i].connector.sin_port == connector.sin_port) return i;
  flows_.push_back({.connector = connector, .inside = open_socket()});
  return flows_.size() - 1;
}

}  // namespace udtcat::test
