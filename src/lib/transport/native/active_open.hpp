// SPDX-License-Identifier: Apache-2.0
/// The connecting side of the handshake. See docs/spec/udt4.md §4.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/core/shared_bytes.hpp"
#include "lib/transport/native/handshake.hpp"
#include "lib/transport/native/key_proof.hpp"
#include "lib/transport/native/time.hpp"
#include "lib/transport/native/udt_connection.hpp"

namespace udtcat::transport::native {

/// Parameters that this end offers, and the numbers that it has drawn. The token is sent only to a peer that is known
/// to be one of ours.
struct OpenRequest {
  Endpoint peer;
  std::uint32_t local_id = 0;
  std::uint32_t initial_sequence = 0;
  std::uint32_t mss = 0;
  std::uint32_t flow_window = 0;
  std::uint64_t token = 0;
  std::optional<std::uint32_t> known_cookie;  ///< of a listener of ours that accepts it from any address
  KeyProof* key_proof = nullptr;              ///< none: without a key; else outlives the attempt
  core::SharedBytes handshake_data{};         ///< see HandshakeExtension; at most kMaxHandshakeDataBytes
  std::uint32_t remembered_cookie = 0;  ///< of an earlier connection, which the listener may still accept; 0: none
};

///   induction ──reply with a cookie──► conclusion ──reply──► done     with a known cookie it begins at conclusion
///   conclusion ──no answer for a second, or two of its waits──► induction     any ──reply 1002──► refused
///   induction, beside a conclusion with a remembered cookie ──reply to the conclusion──► done
///
/// A packet is repeated every quarter of a second, a conclusion later where the induction's answer was slow, an
/// induction each second once four were not answered; and once at the first connectivity check. An answer never raises
/// the rate.
/// Threads: unsynchronised; time is a parameter.
class ActiveOpen {
 public:
  enum class State { induction, conclusion, done, refused };

  ActiveOpen(TimePoint now, const OpenRequest& request);

  /// The packet to send now; none if none is due.
  [[nodiscard]] std::optional<std::vector<std::byte>> poll_transmit(TimePoint now);
  [[nodiscard]] TimePoint deadline() const { return next_send_; }
  /// A handshake packet for us, from the peer's address.
  void handle(TimePoint now, std::span<const std::byte> packet);

  /// The packet is due now, by the first call alone.  returns  whether this was it
  [[nodiscard]] bool repeat_once(TimePoint now);

  [[nodiscard]] State state() const { return state_; }
  /// The agreed settings, but for TransportOptions and the times.  Only when done.
  [[nodiscard]] const ConnectionSettings& settings() const { return settings_; }
  [[nodiscard]] const OpenRequest& request() const { return request_; }

 private:
  [[nodiscard]] std::vector<std::byte> packet(TimePoint now, Request kind, std::uint32_t cookie, bool own);
  [[nodiscard]] Duration retry() const;
  void take_induction(TimePoint now, const ControlHeader& header, const HandshakePacket& reply,
                      std::span<const std::byte> body);
  void take_conclusion(TimePoint now, const ControlHeader& header, const HandshakePacket& reply,
                       std::span<const std::byte> body);

  const OpenRequest request_;
  State state_;
  TimePoint next_send_;
  TimePoint concluded_at_;  // when the conclusion was first sent since the last induction
  const TimePoint began_;   // timestamps count from then
  TimePoint last_sent_;
  TimePoint asked_at_;          // when the induction was first sent since the last conclusion
  Duration induction_time_{0};  // the longest that its answer may have taken
  unsigned inductions_ = 0;     // sent since the last conclusion
  unsigned conclusions_ = 0;    // sent
  std::size_t conclusion_bytes_ = 0;
  std::uint32_t cookie_;
  bool own_;                    // the peer is one of ours
  std::uint32_t concluded_by_;  // the cookie of the last conclusion, which may have been accepted; 0: none was sent
  bool first_of_two_ = true;    // the conclusion with a remembered cookie is next, then the induction
  bool was_repeated_ = false;   // by repeat_once()
  ConnectionSettings settings_;
};

}  // namespace udtcat::transport::native
