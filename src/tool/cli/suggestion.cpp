// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/suggestion.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace udtcat::tool {

std::size_t distance(std::string_view one, std::string_view other) {
  std::array<std::vector<std::size_t>, 3> rows;
  rows.fill(std::vector<std::size_t>(other.size() + 1));
  auto& [before_last, last, row] = rows;
  for (std::size_t j = 0; j <= other.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t changed = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[other.size()];
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words) {
  constexpr std::size_t kMaxTyped = 64;        // guess: twice the longest option
  constexpr std::size_t kLettersAMistake = 3;  // guess: one mistake for each three letters, as git has it
  if (typed.size() > kMaxTyped) return "";
  std::size_t least = std::max<std::size_t>(typed.size() / kLettersAMistake, 1) + 1;
  const std::string* nearest = nullptr;
  for (const std::string& word : words) {
    const std::size_t far = distance(typed, word);
    if (far >= least || far >= word.size()) continue;
    least = far;
    nearest = &word;
  }
  constexpr std::size_t kMinBeginning = 4;  // guess: "--r" is the beginning of too many
  const auto begins = [&](const std::string& word) { return word.starts_with(typed); };
  if (const auto found = std::ranges::find_if(words, begins);
      nearest == nullptr && typed.size() >= kMinBeginning && found != words.end())
    nearest = &*found;
  return nearest == nullptr ? "" : "; did you mean " + *nearest + "?";
}

}  // namespace udtcat::tool
