// SPDX-License-Identifier: Apache-2.0
/// The offer and the answer, which the two ends exchange once the key is proved. See docs/spec/handshake.md §4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <udtcat/credentials.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat::session {

inline constexpr std::size_t kMaxParameterMessageBytes = 1024;  // spec: handshake.md §4

inline constexpr std::size_t kSessionIdBytes = 16;  // spec: handshake.md §4
/// Names a session of several flows to the channels that join it.
using SessionId = std::array<std::byte, kSessionIdBytes>;

struct Offer {
  Protection protection = Protection::private_;
  std::vector<Cipher> ciphers;  ///< that it accepts, best first; empty at auth and clear
  std::uint32_t block_bytes = kDefaultBlockBytes;
  std::uint16_t lanes = kDefaultLanes;
  bool sends = true;
  bool receives = true;
  std::uint32_t initial_window_bytes = 0;  ///< credit of a new stream towards the connector
  std::uint8_t flows = 1;                  ///< channels at a time that it may want
  std::string application;  ///< as the peer said it: empty of one that knows of none, "#" and an unknown number
  std::string name;         ///< what the connector is called; may be empty
  std::string peer;         ///< the name that it wants to meet; empty: any
  std::uint8_t application_data = 0;
  std::vector<std::string> services{};  ///< names that it serves; empty: it says none
  std::uint16_t streams = kMaxStreams;  ///< open at a time, of the listener's, that it takes
  bool reports = false;                 ///< it takes REPORT frames
  friend bool operator==(const Offer&, const Offer&) = default;
};

struct Acceptance {
  Cipher cipher = Cipher::aes_256_gcm;             ///< without meaning at auth and clear
  std::uint32_t block_bytes = kDefaultBlockBytes;  ///< the largest block either end sends
  std::uint16_t lanes = kDefaultLanes;
  bool sends = true;
  bool receives = true;
  std::uint32_t initial_window_bytes = 0;
  std::uint8_t flows = 1;
  std::string application;  ///< as in Offer
  std::string name;         ///< what the listener is called; may be empty
  SessionId session_id{};   ///< random where there are several flows
  std::uint8_t application_data = 0;
  std::uint16_t streams = kMaxStreams;  ///< open at a time, of the connector's, that it takes
  bool reports = false;                 ///< it takes REPORT frames
  friend bool operator==(const Acceptance&, const Acceptance&) = default;
};

/// The listener refuses the offer. The reason is for a person.
struct Refusal {
  std::string reason;
  bool later = false;  ///< the connector may be welcome another time
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

using Answer = std::variant<Acceptance, Refusal>;

[[nodiscard]] std::vector<std::byte> encode(const Offer& offer);
[[nodiscard]] std::vector<std::byte> encode(const Answer& answer);
/// Total: any input gives a value or Errc::protocol_violated. `in` is one whole message.
[[nodiscard]] Result<Offer> decode_offer(std::span<const std::byte> in);
[[nodiscard]] Result<Answer> decode_answer(std::span<const std::byte> in);
inline constexpr std::size_t kParameterPrefixBytes = 8;  // spec: handshake.md §4
/// The length of the whole message, from its first kParameterPrefixBytes.  errors: Errc::protocol_violated
[[nodiscard]] Result<std::size_t> parameter_message_bytes(std::span<const std::byte> prefix);

[[nodiscard]] Offer make_offer(const SessionOptions& options, std::uint32_t initial_window_bytes);
/// The listener's decision. A protection that differs from ours either way is refused: nothing is ever downgraded. So
/// are another application, and an end of another name than the expected.
/// Of several flows the session id is left to be drawn.
[[nodiscard]] Answer decide(const Offer& offer, const SessionOptions& options, std::uint32_t initial_window_bytes);

/// The outcome of the exchange, the same at both ends.
struct NegotiatedParameters {
  Protection protection = Protection::private_;
  Cipher cipher = Cipher::aes_256_gcm;
  std::size_t block_bytes = kDefaultBlockBytes;
  std::size_t lanes = 1;
  bool peer_sends = true;
  bool peer_receives = true;
  std::uint64_t window_to_peer_bytes = 0;    ///< credit of a new stream that we may use
  std::uint64_t window_from_peer_bytes = 0;  ///< credit of a new stream that we gave
  std::size_t flows = 1;
  SessionId session_id{};  ///< where there are several flows
  std::string application;
  std::string connector_name;  ///< may be empty, as the next
  std::string listener_name;
  std::uint8_t peer_application_data = 0;
  std::vector<std::string> peer_services{};   ///< the connector's, at the listener
  std::size_t streams_to_peer = kMaxStreams;  ///< open at a time, that we may open
  bool peer_takes_reports = false;
  std::optional<PeerIdentity> peer{};  ///< with key pairs
};
/// The exporter's context, so that ends which agreed on other things share no key: docs/spec/handshake.md §5.
[[nodiscard]] std::vector<std::byte> exporter_context(const NegotiatedParameters& agreed);
/// The connector checks that the answer is one to its offer, and from whom it wants one.  errors:
/// Errc::parameters_refused, Errc::protocol_violated
/// commands_of   SessionOptions::commands_of, for the text
[[nodiscard]] Result<NegotiatedParameters> agree(const Offer& offer, const Answer& answer,
                                                 decltype(SessionOptions::commands_of) commands_of = nullptr);
[[nodiscard]] NegotiatedParameters agree(const Offer& offer, const Acceptance& ours);

}  // namespace udtcat::session
