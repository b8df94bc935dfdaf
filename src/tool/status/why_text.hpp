// SPDX-License-Identifier: Apache-2.0
/// Why a transfer is not faster, in a word and in a sentence. lib/connection/why_diagnosis.cpp decides it.
#pragma once

#include <string>

#include <udtcat/stats.hpp>
#include <udtcat/why_diagnosis.hpp>

namespace udtcat::tool {

/// The limit of a transfer, for programs and for people.
struct DiagnosisText {
  std::string word{};  ///< word_of() the diagnosis; empty: not known
  /// "limited by their consumer (a disk, or a program that reads): it takes 102 MB/s of what comes": what limits, the
  /// number that shows it, and what would help, as far as was measured.
  std::string text{};
};

/// The diagnosis of a span that the reader knows. Docs: udtcat-status(1), "WHY".
[[nodiscard]] DiagnosisText why(const BothEndsStats& ends);
/// The diagnosis of the time between; its text names that.
/// before   of nothing, or of an earlier connection: `now` is judged from its beginning
[[nodiscard]] DiagnosisText why_since(const BothEndsStats& before, const BothEndsStats& now);
/// The text, and by which candidates the session goes, where those were exchanged.
[[nodiscard]] std::string with_pair(std::string text, const ConnectionStats& stats);
/// The text of a diagnosis of `ends`.
[[nodiscard]] std::string why_text(const Diagnosis& diagnosis, const BothEndsStats& ends);

}  // namespace udtcat::tool
