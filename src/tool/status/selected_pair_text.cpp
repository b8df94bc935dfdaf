// SPDX-License-Identifier: Apache-2.0
#include "tool/status/selected_pair_text.hpp"

namespace udtcat::tool {

std::optional<SelectedPairText> in_words(const std::optional<CandidatePair>& pair) {
  if (!pair) return std::nullopt;
  return SelectedPairText{.transport = pair->by_tcp ? "tcp" : "udp",
                          .local = std::string(to_string(pair->local.kind)),
                          .local_address = pair->local.address.to_string(),
                          .remote = std::string(to_string(pair->remote.kind)),
                          .remote_address = pair->remote.address.to_string(),
                          .text = to_string(*pair)};
}

Json to_json(const std::optional<SelectedPairText>& pair) {
  if (!pair) return nullptr;
  return {{"transport", pair->transport},           {"local", pair->local},
          {"local_address", pair->local_address},   {"remote", pair->remote},
          {"remote_address", pair->remote_address}, {"text", pair->text}};
}

}  // namespace udtcat::tool
