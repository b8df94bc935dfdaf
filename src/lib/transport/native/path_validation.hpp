// SPDX-License-Identifier: Apache-2.0
/// The peer's address, and path validation where the peer or this end moves to another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A packet from a new address is answered with a challenge, and counts for nothing else. The peer alone can respond:
/// it knows both tokens, which are never sent after the handshake, and receives at that address. A plain UDT4 peer
/// never moves.
/// The peer sends from its previous address until the response reaches it: for two seconds what comes from there
/// counts, too. The end whose peer has moved challenges it, since the peer may be back.
/// A challenge is responded to only where it comes from the peer's address, or from one that try_address() was given: a
/// challenge that a third host relays is of no use to it.
/// try_address() moves the connection to another path: keep-alives go there until the peer challenges this end from
/// that address, then challenges until it responds. From then on packets go there; packets from the previous address
/// are taken and not answered.
/// Bounded: few addresses are challenged at a time, each a few times a second.
/// source: RFC 9000 §8.2, §9
/// Threads: unsynchronised; time is a parameter.
class PathValidation {
 public:
  struct Tokens {
    std::uint64_t ours = 0;
    std::uint64_t peers = 0;
  };
  PathValidation(const Endpoint& peer, const std::optional<Endpoint>& local, Tokens tokens);

  [[nodiscard]] const Endpoint& peer() const { return peer_; }
  [[nodiscard]] const std::optional<Endpoint>& local() const { return local_; }

  /// local() is no address of this host any more: the system chooses the source address of packets.
  void forget_local() { local_.reset(); }
  /// The peer may be reached at `address`, too: see poll_try().
  /// gap   between keep-alives
  void try_address(TimePoint now, const Endpoint& address, Duration gap = kProbeGap);
  void stop_trying() { candidate_.reset(); }
  [[nodiscard]] bool tries(const Endpoint& address) const { return candidate_ && candidate_->address == address; }
  /// The address to send a keep-alive to now, so that the peer challenges this end from there; none: nowhere.
  [[nodiscard]] std::optional<Endpoint> poll_try(TimePoint now);
  /// The challenge to send there instead; none: the peer has not been heard there.
  [[nodiscard]] std::optional<ControlMessage> challenge_of_try(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> deadline() const;
  /// A challenge has come from `from`.
  /// returns   whether try_address() was given it: the peer is to prove that it is there
  [[nodiscard]] bool on_challenge_from(const Endpoint& from);
  /// Whether packets count from there, beside peer(): it was the peer's before the move, or the peer moves there.
  [[nodiscard]] bool takes_from(TimePoint now, const Endpoint& from) const {
    return is_previous(now, from) || (candidate_ && candidate_->challenged && candidate_->address == from);
  }
  /// Whether a packet from there, which is not peer(), is answered with a challenge: the peer may be there now.
  [[nodiscard]] bool is_to_be_challenged(TimePoint now, const Endpoint& from) const {
    return !takes_from(now, from) || (left_by_peer_ && is_previous(now, from));
  }
  /// A packet has come from `from`, which is not peer().  returns   a challenge to send there; none: not now
  /// is_challenge   itself: where `from` has been challenged it is not again, or both ends did it for ever
  [[nodiscard]] std::optional<ControlMessage> on_other_address(TimePoint now, const Endpoint& from,
                                                               const std::optional<Endpoint>& to,
                                                               bool is_challenge = false);
  /// A challenge of the peer, from its address.  returns   the response; none: it is no challenge
  [[nodiscard]] std::optional<ControlMessage> on_challenge(std::span<const std::byte> body) const;
  /// A response has come from `from`.  returns   whether `from` is the peer's from now on
  [[nodiscard]] bool on_response(TimePoint now, const Endpoint& from, std::span<const std::byte> body);

  /// A challenge for the path in use; the same until it is responded to. None: the system has no random bytes.
  [[nodiscard]] std::optional<ControlMessage> question();
  /// Whether a response answers that.
  [[nodiscard]] bool on_answer(std::span<const std::byte> body);

 private:
  static constexpr Duration kProbeGap = std::chrono::milliseconds(250);  // guess: as a handshake is repeated

  Endpoint peer_;
  std::optional<Endpoint> local_;
  const Tokens tokens_;
  struct Challenge {
    Endpoint address;
    std::optional<Endpoint> local;
    std::uint64_t nonce = 0;
    TimePoint first_at;
    TimePoint at;
  };
  [[nodiscard]] Challenge* challenge_of(TimePoint now, const Endpoint& from, bool is_challenge);
  [[nodiscard]] bool is_previous(TimePoint now, const Endpoint& from) const {
    return now < previous_until_ && previous_ == from;
  }

  std::vector<Challenge> challenges_;
  struct Candidate {
    Endpoint address;
    Duration gap;
    TimePoint next_at;
    TimePoint until;
    bool challenged = false;  // by the peer, or somebody in its place
  };
  std::optional<Candidate> candidate_;
  Endpoint previous_;
  TimePoint previous_until_;
  bool left_by_peer_ = false;              // whether the peer left previous_; false: this end did
  std::optional<std::uint64_t> question_;  // its nonce
};

}  // namespace udtcat::transport::native
