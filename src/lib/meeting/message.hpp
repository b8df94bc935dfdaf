// SPDX-License-Identifier: Apache-2.0
/// The messages between an end and a meeting place: docs/spec/meet.md §4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <udtcat/key_pair.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/signature.hpp"

namespace udtcat::meeting {

inline constexpr const char* kApplication = "meet";    // spec: meet.md §1
inline constexpr std::uint16_t kDefaultPort = 9000;    // spec: meet.md §1
inline constexpr std::size_t kMaxMessageBytes = 4096;  // spec: meet.md §4, header and body
inline constexpr std::size_t kMaxReasonBytes = 256;    // spec: meet.md §4

/// By which the place relays for one end of a pair.
struct Relay {
  using Token = std::array<std::byte, 16>;

  bool by_tcp = false;
  std::uint16_t udp_port = 0;  ///< 0: none
  Token token{};
  friend bool operator==(const Relay&, const Relay&) = default;
};

struct Register {
  PublicKey name;
  friend bool operator==(const Register&, const Register&) = default;
};
struct Challenge {
  std::array<std::byte, 32> nonce{};
  friend bool operator==(const Challenge&, const Challenge&) = default;
};
struct Proof {
  crypto::Signature signature{};
  friend bool operator==(const Proof&, const Proof&) = default;
};
struct Registered {
  friend bool operator==(const Registered&, const Registered&) = default;
};
/// offer   signed; the place does not read it
struct Ask {
  PublicKey name;
  std::vector<std::byte> offer;
  friend bool operator==(const Ask&, const Ask&) = default;
};
struct Offered {
  Relay relay;
  std::vector<std::byte> offer;
  friend bool operator==(const Offered&, const Offered&) = default;
};
/// answer   signed, likewise
struct AnswerToPlace {
  std::vector<std::byte> answer;
  friend bool operator==(const AnswerToPlace&, const AnswerToPlace&) = default;
};
struct Answered {
  Relay relay;
  std::vector<std::byte> answer;
  friend bool operator==(const Answered&, const Answered&) = default;
};
struct Again {
  friend bool operator==(const Again&, const Again&) = default;
};
/// The other end waits at the place's TCP port.
struct Connect {
  friend bool operator==(const Connect&, const Connect&) = default;
};
struct Refused {
  enum class Why : std::uint8_t { not_registered = 1, by_listener = 2, no_room = 3, not_allowed = 4 };  // spec: meet.md

  Why why = Why::not_registered;
  std::string text;  ///< encoded: its first kMaxReasonBytes
  friend bool operator==(const Refused&, const Refused&) = default;
};

using Message = std::variant<Register, Challenge, Proof, Registered, Ask, Offered, AnswerToPlace, Answered, Again,
                             Connect, Refused>;

[[nodiscard]] std::vector<std::byte> encode(const Message& message);

/// Messages from the bytes of a stream, as they come.
/// Threads: unsynchronised.
class MessageReader {
 public:
  /// Call next() until it gives none before the next one: at most kMaxMessageBytes wait then.
  void append(std::span<const std::byte> bytes) { waiting_.insert(waiting_.end(), bytes.begin(), bytes.end()); }
  /// Total. None: a whole one is not there yet.
  /// errors: Errc::protocol_violated; nothing can be read from then on
  [[nodiscard]] Result<std::optional<Message>> next();
  /// Nothing is left of a message that was begun.
  [[nodiscard]] bool is_empty() const { return waiting_.empty(); }

 private:
  std::vector<std::byte> waiting_;
};

}  // namespace udtcat::meeting
