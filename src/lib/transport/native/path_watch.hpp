// SPDX-License-Identifier: Apache-2.0
/// The peer's address, and the proof that a packet from another address is the same peer's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A packet from a new address is answered with a challenge that only the peer can answer: it knows both tokens, which
/// never travel again after the handshake, and sees what is sent to that address. Nothing else in that packet counts. A
/// plain UDT4 peer never moves.
/// A challenge is answered only where it comes from the address at which the peer is known to be, or from one at which
/// our user told us to try: relaying one gains nothing.
/// try_address() makes the peer follow us to a path of our choice: it is asked there until it challenges us, and we
/// answer and send that way, both at once. What is still on its way from where it was is taken, and answered no more.
/// Bounded: few addresses are being asked at a time, each a few times a second.
/// Threads: unsynchronised; time is a parameter.
class PathWatch {
 public:
  struct Tokens {
    std::uint64_t ours = 0;
    std::uint64_t peers = 0;
  };
  PathWatch(const Endpoint& peer, const std::optional<Endpoint>& local, Tokens tokens);

  [[nodiscard]] const Endpoint& peer() const { return peer_; }
  [[nodiscard]] const std::optional<Endpoint>& local() const { return local_; }

  /// The system chooses where our packets come from: the address they came to is not ours any more.
  void forget_local() { local_.reset(); }
  /// The peer may be at `address`, too: see poll_try().
  void try_address(TimePoint now, const Endpoint& address);
  /// Where to send a sign of life now, so that the peer asks who we are; none: nowhere.
  [[nodiscard]] std::optional<Endpoint> poll_try(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> deadline() const;
  /// The peer challenges us from `from`.  returns   whether that is where we try: it is where the peer is from now on
  [[nodiscard]] bool arrives_at(const Endpoint& from);
  /// Whether the peer was at `from` before we moved.
  [[nodiscard]] bool has_left(const Endpoint& from) const { return left_ && *left_ == from; }
  /// A packet for us came from `from`, which is not peer().  returns   a challenge to send there, if it is time for one
  [[nodiscard]] std::optional<ControlMessage> on_stranger(TimePoint now, const Endpoint& from,
                                                          const std::optional<Endpoint>& to);
  /// The peer, from where it is, asks us.  returns   what to answer; none to what is no challenge
  [[nodiscard]] std::optional<ControlMessage> on_challenge(std::span<const std::byte> body) const;
  /// returns   whether `from` is now where the peer is
  [[nodiscard]] bool on_response(const Endpoint& from, std::span<const std::byte> body);

 private:
  Endpoint peer_;
  std::optional<Endpoint> local_;
  const Tokens tokens_;
  struct Asked {
    Endpoint address;
    std::optional<Endpoint> local;
    std::uint64_t nonce = 0;
    TimePoint first_at;
    TimePoint at;
  };
  [[nodiscard]] Asked* asked_of(TimePoint now, const Endpoint& from);

  std::vector<Asked> asked_;
  struct Tried {
    Endpoint address;
    TimePoint next_at;
    TimePoint until;
  };
  std::optional<Tried> tried_;
  std::optional<Endpoint> left_;
};

}  // namespace udtcat::transport::native
