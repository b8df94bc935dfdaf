// SPDX-License-Identifier: Apache-2.0
/// Why a transfer is not faster, in a word and in a sentence.
#pragma once

#include <string>

#include <udtcat/evidence.hpp>

namespace udtcat::tool {

/// The limit of a transfer, for programs and for people.
struct Why {
  std::string word{};  ///< word_of() the verdict; empty: not known
  /// "limited by their consumer (a disk, or a program that reads): it takes 102 MB/s of what comes": what limits, the
  /// figure that shows it, and what would help, as far as the evidence says.
  std::string text{};
};

/// Docs: udtcat-status(1), "WHY". Of a span that the reader knows.
[[nodiscard]] Why why(const Evidence& evidence);
/// The verdict on the time between; its text names that.
/// before   of nothing, or of an earlier connection: `now` is judged from its beginning
[[nodiscard]] Why why_since(const Evidence& before, const Evidence& now);
/// The text of a verdict on `evidence`.
[[nodiscard]] std::string why_text(const Verdict& verdict, const Evidence& evidence);

}  // namespace udtcat::tool
