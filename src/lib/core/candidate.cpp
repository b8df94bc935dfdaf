// SPDX-License-Identifier: Apache-2.0
#include <udtcat/candidate.hpp>

#include <fmt/format.h>

namespace udtcat {

namespace {

/// A port that is not known is left out.
std::string shown(const Candidate& candidate) {
  const Endpoint& address = candidate.address;
  return fmt::format("{} {}", to_string(candidate.kind),
                     address.port() == 0 ? address.host_to_string() : address.to_string());
}

}  // namespace

std::string_view to_string(Candidate::Kind kind) {
  switch (kind) {
    case Candidate::Kind::host:
      return "host";
    case Candidate::Kind::server_reflexive:
      return "server-reflexive";
    case Candidate::Kind::peer_reflexive:
      return "peer-reflexive";
    case Candidate::Kind::relayed:
      break;
  }
  return "relayed";
}

std::string to_string(const CandidatePair& pair) {
  return fmt::format("{}, {} to {}", pair.by_tcp ? "TCP" : "UDP", shown(pair.local), shown(pair.remote));
}

}  // namespace udtcat
