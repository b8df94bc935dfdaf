// SPDX-License-Identifier: Apache-2.0
/// The answers of a port to packets that are of none of its connections, and the clients that it lets in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/transport/native/key_proof.hpp"
#include "lib/transport/native/passive_open.hpp"
#include "lib/transport/native/prefix_meter.hpp"
#include "lib/transport/native/strays.hpp"

namespace udtcat::transport::native {

/// Answers go to where the packet came from; empty: silence.
/// Threads: unsynchronised; time is a parameter.
class ListenerGate {
 public:
  /// keys   none: without a key; not needed after the call.  errors: Errc::cipher_failed
  [[nodiscard]] static Result<ListenerGate> create(const PassiveOpen::Settings& settings, std::uint16_t local_port,
                                                   const PortKeys* keys);

  /// none: without a key
  [[nodiscard]] KeyProof* key_proof() { return key_proof_.get(); }
  /// See PassiveOpen::Settings.
  [[nodiscard]] std::optional<std::uint32_t> known_cookie() const { return passive_.known_cookie(); }
  /// The token by which `peer` will know our socket `id`.  errors: Errc::cipher_failed
  [[nodiscard]] Result<std::uint64_t> draw_token(std::uint32_t id, const Endpoint& peer);

  /// See PassiveOpen::handle().
  [[nodiscard]] PassiveOpen::Verdict handle(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                                            const PassiveOpen::DrawNumbers& draw_numbers) {
    return passive_.handle(now, packet, from, draw_numbers);
  }
  /// The answer to a client of a port that does not listen.
  [[nodiscard]] std::vector<std::byte> refuse(TimePoint now, std::span<const std::byte> packet, const Endpoint& from);
  /// A connection that was closed is forgotten: for a minute its peer is told.
  void remember(TimePoint now, const UdtConnection& closed);
  /// The answer to a packet for a connection that is over, or unknown to this process.
  [[nodiscard]] std::vector<std::byte> answer_stray(TimePoint now, std::uint32_t id, std::span<const std::byte> packet,
                                                    const Endpoint& from);

 private:
  ListenerGate(std::unique_ptr<KeyProof> key_proof, std::optional<StatelessResets> resets, PassiveOpen passive,
               PrefixMeter refusals)
      : key_proof_(std::move(key_proof)),
        resets_(std::move(resets)),
        passive_(std::move(passive)),
        refusals_(std::move(refusals)) {}

  std::unique_ptr<KeyProof> key_proof_;    // none: without a key
  std::optional<StatelessResets> resets_;  // likewise
  PassiveOpen passive_;
  PrefixMeter refusals_;
  ClosedConnections closed_;
};

}  // namespace udtcat::transport::native
