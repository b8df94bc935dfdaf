// SPDX-License-Identifier: Apache-2.0
#include "interop/scripted_peer.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "interop/raw_udt.hpp"

namespace udtcat::test::interop {

namespace {

constexpr std::size_t kMaxDatagramBytes = 65536;  // spec: RFC 768
constexpr auto kRetry = 250ms;                    // libudt's
constexpr std::size_t kMaxLog = 5000;
constexpr std::size_t kLogTail = 60;

std::chrono::milliseconds left_until(Clock::time_point deadline) {
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()), 0ms);
}

}  // namespace

ScriptedPort::ScriptedPort(AddressFamily family)
    : family_(family),
      socket_(::socket(family == AddressFamily::ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  const Endpoint any = loopback(family, 0);
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  constexpr int kBufferBytes = 4 << 20;
  // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_.fd(), any.data(), static_cast<socklen_t>(any.size_bytes())) != 0 ||
      ::setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes) != 0 ||
      ::getsockname(socket_.fd(), generic, &length) != 0)
    die("bind a UDP port");
  port_ = Endpoint::from_sockaddr(generic, length).value().port();
}

Endpoint ScriptedPort::endpoint() const { return loopback(family_, port_); }

void ScriptedPort::send(const Endpoint& to, std::span<const std::byte> datagram) const {
  // A datagram that does not get through is lost, as on any path.
  std::ignore =
      ::sendto(socket_.fd(), datagram.data(), datagram.size(), 0, to.data(), static_cast<socklen_t>(to.size_bytes()));
}

std::optional<Heard> ScriptedPort::hear(std::chrono::milliseconds limit) {
  pollfd event{.fd = socket_.fd(), .events = POLLIN, .revents = 0};
  if (::poll(&event, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
  static thread_local std::array<std::byte, kMaxDatagramBytes> buffer;
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const auto got = ::recvfrom(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT, generic, &length);
  if (got < 0) return std::nullopt;
  Heard heard{.datagram = Bytes(buffer.begin(), buffer.begin() + got),
              .from = Endpoint::from_sockaddr(generic, length).value(),
              .at = Clock::now()};
  if (log_.size() < kMaxLog) {
    const auto when = std::chrono::duration_cast<std::chrono::microseconds>(heard.at - begin_);
    log_.push_back(std::to_string(when.count()) + " us: " + heard.view().text());
  }
  return heard;
}

std::optional<Heard> ScriptedPort::hear_one(const std::function<bool(const PacketView&)>& which,
                                            std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  do {
    auto heard = hear(left_until(deadline));
    if (heard && which(heard->view())) return heard;
  } while (Clock::now() < deadline);
  return std::nullopt;
}

std::vector<Heard> ScriptedPort::hear_all(std::chrono::milliseconds time) {
  const auto deadline = Clock::now() + time;
  std::vector<Heard> all;
  while (Clock::now() < deadline)
    if (auto heard = hear(left_until(deadline))) all.push_back(std::move(*heard));
  return all;
}

std::string ScriptedPort::log() const {
  std::string text = "heard by the scripted end:\n";
  for (std::size_t i = log_.size() > kLogTail ? log_.size() - kLogTail : 0; i < log_.size(); ++i)
    text += "  " + log_[i] + "\n";
  return text;
}

std::optional<ScriptedPeer> ScriptedPeer::connect(ScriptedPort& port, const Endpoint& server, Handshake wish,
                                                  std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  wish.request = kInduction;
  wish.cookie = 0;
  while (Clock::now() < deadline) {
    port.send(server, handshake_packet(wish, 0));
    const auto reply = port.hear_one([&](const PacketView& packet) { return packet.is(Type::handshake); },
                                     std::min(kRetry, left_until(deadline) + 1ms));
    if (!reply) continue;
    const auto theirs = handshake_of(reply->view());
    if (!theirs || theirs->request == kReject) return std::nullopt;
    if (theirs->request == kConclusion) {
      wish.mss = std::min(wish.mss, theirs->mss);
      return ScriptedPeer(port, server, wish, *theirs);
    }
    wish.request = kConclusion;
    wish.cookie = theirs->cookie;
  }
  return std::nullopt;
}

std::optional<ScriptedPeer> ScriptedPeer::accept(ScriptedPort& port, Handshake answer,
                                                 std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  constexpr std::uint32_t kCookie = 0x1234abcd;
  while (Clock::now() < deadline) {
    const auto asked =
        port.hear_one([](const PacketView& packet) { return handshake_of(packet).has_value(); }, left_until(deadline));
    if (!asked) return std::nullopt;
    Handshake theirs = *handshake_of(asked->view());
    if (theirs.request == kInduction) {
      Handshake reply = theirs;
      reply.cookie = kCookie;
      port.send(asked->from, handshake_packet(reply, theirs.id));
      continue;
    }
    if (theirs.request != kConclusion || theirs.cookie != kCookie) continue;
    answer.initial_sequence = theirs.initial_sequence;
    answer.mss = std::min(answer.mss, theirs.mss);
    answer.request = kConclusion;
    answer.cookie = theirs.cookie;
    port.send(asked->from, handshake_packet(answer, theirs.id));
    return ScriptedPeer(port, asked->from, answer, theirs);
  }
  return std::nullopt;
}

ScriptedPeer::ScriptedPeer(ScriptedPort& port, const Endpoint& peer, const Handshake& mine, const Handshake& theirs)
    : port_(&port),
      peer_(peer),
      mine_(mine),
      theirs_(theirs),
      next_sequence_(mine.initial_sequence & kSequenceMask),
      expected_sequence_(next_sequence_),
      acknowledged_(next_sequence_) {}

void ScriptedPeer::send_data(std::span<const std::byte> payload) {
  send_data_at(next_sequence_, payload);
  next_sequence_ = advanced(next_sequence_, 1);
}

void ScriptedPeer::send_data_at(std::uint32_t sequence, std::span<const std::byte> payload) const {
  send(data_packet(sequence, theirs_.id, payload));
}

void ScriptedPeer::send_control(Type type, std::uint32_t info, const Words& payload) const {
  send(control_packet(type, info, theirs_.id, payload));
}

void ScriptedPeer::send_full_ack(std::uint32_t next, std::uint32_t window_packets) {
  send_control(Type::ack, ++ack_number_, {next, 10'000, 1'000, window_packets, 10'000, 100'000});
}

void ScriptedPeer::send_light_ack(std::uint32_t next) const { send_control(Type::ack, 0, {next}); }

void ScriptedPeer::answer(const PacketView& packet) {
  if (packet.destination() != mine_.id) return;
  if (packet.is_data()) {
    largest_payload_ = std::max(largest_payload_, packet.payload().size());
    const std::int32_t ahead = distance(expected_sequence_, packet.sequence());
    if (ahead >= 0) early_.try_emplace(packet.sequence(), packet.payload().begin(), packet.payload().end());
    for (auto next = early_.find(expected_sequence_); next != early_.end(); next = early_.find(expected_sequence_)) {
      received_.insert(received_.end(), next->second.begin(), next->second.end());
      early_.erase(next);
      expected_sequence_ = advanced(expected_sequence_, 1);
    }
    if (answers_data && ahead > 0) send_nak({expected_sequence_});
    if (answers_data) send_full_ack(expected_sequence_);
  }
  if (packet.is(Type::ack)) {
    if (distance(acknowledged_, packet.word(0)) > 0) acknowledged_ = packet.word(0);
    if (answers_acks && packet.words() > 1) send_control(Type::ack2, packet.info(), {0});
  }
}

bool ScriptedPeer::polite_until(const std::function<bool(const Heard&)>& done, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  do {
    const auto heard = port_->hear(left_until(deadline));
    if (!heard || !heard->view().has_header()) continue;
    answer(heard->view());
    if (done(*heard)) return true;
  } while (Clock::now() < deadline);
  return false;
}

Bytes ScriptedPeer::collect(std::size_t bytes, std::chrono::milliseconds limit) {
  if (received_.size() < bytes)
    std::ignore = polite_until([&](const Heard&) { return received_.size() >= bytes; }, limit);
  const auto end = received_.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, received_.size()));
  Bytes taken(received_.begin(), end);
  received_.erase(received_.begin(), end);
  return taken;
}

bool ScriptedPeer::wait_until_acknowledged(std::chrono::milliseconds limit) {
  return acknowledged_ == next_sequence_ ||
         polite_until([&](const Heard&) { return acknowledged_ == next_sequence_; }, limit);
}

std::optional<Heard> ScriptedPeer::wait_for(const std::function<bool(const PacketView&)>& which,
                                            std::chrono::milliseconds limit) {
  std::optional<Heard> found;
  std::ignore = polite_until(
      [&](const Heard& heard) {
        if (which(heard.view())) found = heard;
        return found.has_value();
      },
      limit);
  return found;
}

}  // namespace udtcat::test::interop
