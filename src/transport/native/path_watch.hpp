/// Where the peer is, and whether somebody who speaks from elsewhere is the same peer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "transport/native/control_message.hpp"
#include "transport/native/time.hpp"

namespace udtcat::transport::native {

/// A packet from a new address is answered with a challenge that only the peer can answer: it knows our token, and sees what is sent
/// to that address. Nothing else in that packet counts. A plain UDT4 peer never moves.
/// Bounded: one address is being asked at a time, a few times a second.
/// Threads: unsynchronised; time is a parameter.
class PathWatch {
 public:
  struct Tokens {
    std::uint64_t ours = 0;
    std::uint64_t peers = 0;
  };
  PathWatch(const Endpoint& peer, const std::optional<Endpoint>& local, Tokens tokens, std::uint64_t random_seed);

  [[nodiscard]] const Endpoint& peer() const { return peer_; }
  [[nodiscard]] const std::optional<Endpoint>& local() const { return local_; }

  /// A packet for us came from `from`, which is not peer().  returns   a challenge to send there, if it is time for one
  [[nodiscard]] std::optional<ControlMessage> on_stranger(TimePoint now, const Endpoint& from,
                                                          const std::optional<Endpoint>& to);
  /// returns   what to answer, to where it came from; none if it is not from our peer
  [[nodiscard]] std::optional<ControlMessage> on_challenge(std::span<const std::byte> body) const;
  /// returns   whether `from` is now where the peer is
  [[nodiscard]] bool on_response(const Endpoint& from, std::span<const std::byte> body);

 private:
  Endpoint peer_;
  std::optional<Endpoint> local_;
  const Tokens tokens_;
  std::uint64_t next_nonce_;
  struct Asked {
    Endpoint address;
    std::optional<Endpoint> local;
    std::uint64_t nonce = 0;
    TimePoint at;
  };
  std::optional<Asked> asked_;
};

}  // namespace udtcat::transport::native
