// SPDX-License-Identifier: Apache-2.0
/// Room for a session at a listener where others have theirs, and the memory that it is promised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <udtcat/credentials.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>

#include "lib/core/ip_prefix.hpp"

namespace udtcat::connection {

/// The memory that this process may have: its control group's limit, or the host's.
[[nodiscard]] std::uint64_t process_memory_bytes();

/// A peer as it is counted here: a holder of a key pair, or else a host.
using CountedPeer = std::variant<core::Prefix, PublicKey>;

/// A session holds at most kPartsOfASession times its share: what it has sent and what it has received, each once in
/// the transport, and what its streams keep. The n-th session is promised a kSlices-th of all shares, over n: the first
/// have much, and a thousand have some. Where there may be several peers, none is promised all.
/// Threads: unsynchronised.
class Admission {
 public:
  static constexpr std::uint64_t kPartsOfASession = 4;  // spec: docs/adr/0040-limits.md
  static constexpr std::uint64_t kSlices = 12;          // spec: docs/adr/0040-limits.md
  static constexpr std::uint64_t kPartsOfTotal = 5;     // spec: docs/adr/0040-limits.md: one is not for the same peer

  /// A session's, or a further channel's of one, until its destruction.
  class Slot {
   public:
    Slot() = default;
    Slot(std::shared_ptr<Admission> at, CountedPeer peer, std::size_t sessions, std::uint64_t share_bytes)
        : at_(std::move(at)), peer_(peer), sessions_(sessions), share_bytes_(share_bytes) {}
    Slot(Slot&& other) noexcept { *this = std::move(other); }
    Slot& operator=(Slot&& other) noexcept {
      std::swap(at_, other.at_);
      std::swap(peer_, other.peer_);
      std::swap(sessions_, other.sessions_);
      std::swap(share_bytes_, other.share_bytes_);
      return *this;
    }
    ~Slot() {
      if (at_) at_->leave(peer_, sessions_, share_bytes_);
    }

   private:
    std::shared_ptr<Admission> at_;  // none: no place
    CountedPeer peer_;
    std::size_t sessions_ = 0;
    std::uint64_t share_bytes_ = 0;
  };

  /// most_bytes   TransportOptions::memory_bytes: of one session's share
  Admission(const ListenLimits& limits, std::uint64_t most_bytes)
      : limits_(limits),
        most_bytes_(most_bytes),
        is_sole_(limits.peers == 1 && limits.sessions_per_peer == 1),
        total_bytes_(limits.memory_bytes.value_or(process_memory_bytes() / 2) / kPartsOfASession),
        total_of_peer_bytes_(limits.peers == 1 ? total_bytes_ : total_bytes_ - total_bytes_ / kPartsOfTotal) {}

  /// The share of a session that comes while `others` are there, or on their way.
  [[nodiscard]] std::uint64_t share_bytes(std::size_t others) const {
    if (is_sole_) return most_bytes_;
    return std::clamp(total_bytes_ / kSlices / (others + 1), kMinMemoryBytes, std::max(most_bytes_, kMinMemoryBytes));
  }
  /// Whether a session of the peer may come now.  errors: Errc::out_of_resources, saying of what there are too many
  /// identity   none: a peer without a key pair
  [[nodiscard]] Status room_for(const Endpoint& peer, const std::optional<PeerIdentity>& identity,
                                std::uint64_t share_bytes = kMinMemoryBytes) const;
  /// share_bytes   that the session has got; 0: its transport states none.  errors: as room_for()
  [[nodiscard]] static Result<Slot> enter(const std::shared_ptr<Admission>& at, const Endpoint& peer,
                                          const std::optional<PeerIdentity>& identity, std::uint64_t share_bytes);

  /// A further channel of a session that is there: it has a share, and counts as no session.  errors: as room_for()
  [[nodiscard]] static Result<Slot> enter_flow(const std::shared_ptr<Admission>& at, const Endpoint& peer,
                                               const std::optional<PeerIdentity>& identity, std::uint64_t share_bytes);

 private:
  struct PeerShare {
    std::size_t sessions = 0;
    std::uint64_t promised_bytes = 0;
  };
  [[nodiscard]] Status memory_for(const Endpoint& peer, const PeerShare& own, std::uint64_t share_bytes) const;
  [[nodiscard]] static Slot promise(const std::shared_ptr<Admission>& at, const CountedPeer& peer, std::size_t sessions,
                                    std::uint64_t share_bytes);
  void leave(const CountedPeer& peer, std::size_t sessions, std::uint64_t share_bytes);

  const ListenLimits limits_;
  const std::uint64_t most_bytes_;
  const bool is_sole_;                       // the one session has what it asks for
  const std::uint64_t total_bytes_;          // of all shares
  const std::uint64_t total_of_peer_bytes_;  // of those of one peer
  std::uint64_t promised_bytes_ = 0;
  std::map<CountedPeer, PeerShare> held_;  // by each peer that has sessions or further channels
};

}  // namespace udtcat::connection
