// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/stateless_reset.hpp"

#include <utility>

#include "lib/core/byte_order.hpp"
#include "lib/core/try.hpp"
#include "lib/transport/native/handshake.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kMaxClosed = 1024;               // guess: 150 kB
constexpr Duration kLasts = std::chrono::seconds(60);  // spec: udt4.md §8: a libudt peer gives up within that time
constexpr Duration kAnswerGap = std::chrono::milliseconds(20);  // guess: a flight of packets gets few answers

}  // namespace

void ClosedConnections::add(TimePoint now, std::uint32_t id, const Endpoint& peer, std::vector<std::byte> shutdown) {
  if (oldest_first_.size() == kMaxClosed) {
    entries_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  entries_.insert_or_assign(id, Entry{peer, std::move(shutdown), now + kLasts, now});
  oldest_first_.push_back(id);
}

const std::vector<std::byte>* ClosedConnections::answer(TimePoint now, std::uint32_t id, const Endpoint& from,
                                                        std::span<const std::byte> packet) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  // Two ends that closed at the same time would else answer each other for a minute.
  if (is_control(packet) && decode_control_header(packet).type == ControlType::shutdown) return nullptr;
  Entry& entry = found->second;
  if (now >= entry.until || now < entry.next_answer || entry.peer != from) return nullptr;
  entry.next_answer = now + kAnswerGap;
  return &entry.shutdown;
}

namespace {

constexpr PrefixMeter::Limits kAnswers{100, 1000};  // guess: a peer with 16 flows gets an answer for each

/// Whether the sender of the packet takes the connection to be open.
bool is_of_a_connection(std::span<const std::byte> packet) {
  if (!is_control(packet)) return true;
  const ControlHeader header = decode_control_header(packet);
  const bool is_reset = header.type == ControlType::user && static_cast<Extension>(header.subtype) == Extension::reset;
  return header.type != ControlType::handshake && header.type != ControlType::shutdown && !is_reset;
}

}  // namespace

std::vector<std::byte> encode(const StatelessReset& reset) {
  std::vector<std::uint32_t> words;
  append_number(words, reset.token);
  return encode(ControlHeader{ControlType::user, static_cast<std::uint16_t>(Extension::reset), reset.id, 0, 0}, words);
}

std::optional<StatelessReset> decode_reset(std::span<const std::byte> packet) {
  if (packet.size() != kResetBytes || !is_control(packet)) return std::nullopt;
  const ControlHeader header = decode_control_header(packet);
  if (header.type != ControlType::user || static_cast<Extension>(header.subtype) != Extension::reset ||
      header.destination != 0)
    return std::nullopt;
  return StatelessReset{header.additional, core::load_be<std::uint64_t>(packet.subspan(kHeaderBytes))};
}

Result<StatelessResets> StatelessResets::create(std::span<const std::byte, crypto::KeyedHash::kKeyBytes> key,
                                                std::uint16_t local_port) {
  UDTCAT_TRY(crypto::KeyedHash hash, crypto::KeyedHash::create(key));
  UDTCAT_TRY(PrefixMeter meter, PrefixMeter::create(kAnswers));
  return StatelessResets(std::move(hash), local_port, std::move(meter));
}

Result<std::uint64_t> StatelessResets::token_of(std::uint32_t id, const Endpoint& peer) {
  std::vector<std::byte> message = address_bytes(peer);
  append_be(message, id);
  append_be(message, local_port_);
  return hash_.of(message);
}

std::vector<std::byte> StatelessResets::answer(TimePoint now, std::span<const std::byte> packet, const Endpoint& from) {
  if (packet.size() < kResetBytes || !is_of_a_connection(packet)) return {};
  const auto id = destination_of(packet);
  if (!id || *id == 0 || !meter_.take(now, core::host_of(from))) return {};
  const auto token = token_of(*id, from);
  if (!token) return {};
  return encode(StatelessReset{*id, *token});
}

}  // namespace udtcat::transport::native
