// SPDX-License-Identifier: Apache-2.0
/// Which of the candidates that were exchanged carry a session.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <udtcat/candidate.hpp>
#include <udtcat/options.hpp>

namespace udtcat::connection {

/// Threads: unsynchronised.
class SelectedPair {
 public:
  /// locals    of each family one whose port is this end's
  /// remotes   those of the other end that are known, and those of relays
  SelectedPair(std::vector<Endpoint> locals, std::vector<Candidate> remotes)
      : locals_(std::move(locals)), remotes_(std::move(remotes)) {}

  /// The pair while `path` is where packets go; none: it is no address.
  [[nodiscard]] std::optional<CandidatePair> at(const Endpoint& path, TransportKind transport);

 private:
  [[nodiscard]] Candidate local_towards(const Endpoint& path, bool by_tcp) const;

  const std::vector<Endpoint> locals_;
  const std::vector<Candidate> remotes_;
  std::optional<CandidatePair> last_;  // asked for again and again
};

}  // namespace udtcat::connection
