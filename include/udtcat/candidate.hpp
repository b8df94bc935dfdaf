// SPDX-License-Identifier: Apache-2.0
/// The addresses under which an end may be reached, and the two between which a session goes (RFC 8445).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <udtcat/endpoint.hpp>

namespace udtcat {

struct Candidate {
  /// How it is known: from an interface, from a server outside, from what the other end has sent, or as a relay's.
  enum class Kind : std::uint8_t {
    host = 1,              ///< spec: docs/spec/meet.md §3
    server_reflexive = 2,  ///< spec: docs/spec/meet.md §3
    peer_reflexive = 3,
    relayed = 4,
  };
  static constexpr std::size_t kMaxCount = 8;  // spec: docs/spec/meet.md §3: of an end

  Kind kind = Kind::host;
  Endpoint address;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// "server-reflexive"
[[nodiscard]] std::string_view to_string(Candidate::Kind kind);

/// The selected pair of a session (RFC 8445 §8.1.1). The local one is that from which packets leave: the base of any
/// other that this end may have.
struct CandidatePair {
  Candidate local;
  Candidate remote;
  bool by_tcp = false;
  friend bool operator==(const CandidatePair&, const CandidatePair&) = default;
};

/// "UDP, host 192.0.2.7:40123 to server-reflexive 198.51.100.3:9000"
[[nodiscard]] std::string to_string(const CandidatePair& pair);

}  // namespace udtcat
