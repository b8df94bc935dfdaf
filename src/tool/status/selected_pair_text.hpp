// SPDX-License-Identifier: Apache-2.0
/// The selected pair of a session in words, for people and for programs.
#pragma once

#include <optional>
#include <string>

#include <udtcat/candidate.hpp>

#include "tool/status/json.hpp"

namespace udtcat::tool {

/// The member `selected_pair` of every document of ours. Docs: udtcat-status(1), "JSON".
struct SelectedPairText {
  std::string transport{};  ///< "udp", "tcp"
  std::string local{};      ///< a candidate's kind: "host"
  std::string local_address{};
  std::string remote{};
  std::string remote_address{};
  std::string text{};  ///< all of it, for people
};

[[nodiscard]] std::optional<SelectedPairText> in_words(const std::optional<CandidatePair>& pair);
/// Null where no candidates were exchanged.
[[nodiscard]] Json to_json(const std::optional<SelectedPairText>& pair);

}  // namespace udtcat::tool
