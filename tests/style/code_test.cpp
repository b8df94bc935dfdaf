// SPDX-License-Identifier: Apache-2.0
/// Rules about the text of our code.
#include <algorithm>
#include <regex>
#include <string_view>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::IsEmpty;

constexpr std::size_t kMaxFileLines = 500;  // spec: docs/HACKING.md, "Files"
constexpr std::size_t kMaxColumns = 120;    // spec: .clang-format

/// Characters of UTF-8: all bytes but those that go on with a character.
std::size_t columns_of(std::string_view line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool everywhere(std::string_view) { return true; }
bool in_headers(std::string_view path) { return path.ends_with(".hpp"); }
bool outside_tool(std::string_view path) { return !path.starts_with("src/tool/"); }
bool outside_mutex(std::string_view path) { return path != "src/lib/core/mutex.hpp"; }

TEST(Code, HasNoUsingNamespaceInHeadersButForLiterals) {
  EXPECT_THAT(find_in_code(read_sources({"include", "src", "tests", "bench"}),
                           R"(\busing\s+namespace\s+(?!std::(chrono_)?literals\b))", in_headers),
              IsEmpty());
}

TEST(Code, ReadsTheEnvironmentAndEndsTheProcessOnlyInTool) {
  // A child that could not become its program has nowhere to go. The driver is where tool is, in a program that is not
  // ours.
  const auto elsewhere = [](std::string_view path) {
    return outside_tool(path) && path != "src/lib/bridge/child_process.cpp" && path != "src/gridftp/xio/process.cpp";
  };
  EXPECT_THAT(find_in_code(read_sources({"include", "src"}),
                           R"(\b(secure_)?getenv\b|\benviron\b|\b_?exit\s*\(|\bquick_exit\b)", elsewhere),
              IsEmpty());
}

TEST(Code, WritesToTheTerminalOnlyInTool) {
  // A broken invariant is reported on stderr, in the library too.
  const auto elsewhere = [](std::string_view path) {
    return outside_tool(path) && path != "src/lib/core/invariant.hpp";
  };
  EXPECT_THAT(find_in_code(read_sources({"include", "src"}),
                           R"(\bstd::(cerr|cout|clog)\b|\bstd(err|out)\b|\bprintf\s*\()", elsewhere),
              IsEmpty());
}

TEST(Code, NeverSleepsToSynchronise) {
  // Asks again what another process has done (its memory, its log): there is nothing to wait on.
  const auto but_one = [](std::string_view path) { return path != "tests/support/deadline.hpp"; };
  EXPECT_THAT(find_in_code(read_sources({"include", "src", "tests"}),
                           R"(\b(sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep|sleep)\s*\()", but_one),
              IsEmpty());
}

TEST(Tests, SayWhatTheyMissWhereTheyAreSkipped) {
  EXPECT_THAT(find_in_code(read_sources({"tests"}), R"(\bGTEST_SKIP\(\)(?! << ""))", everywhere), IsEmpty());
}

TEST(Code, ThrowsNothing) {
  EXPECT_THAT(find_in_code(read_sources({"include", "src"}), R"(\bthrow\b)", everywhere), IsEmpty());
}

TEST(Code, OwnsNothingByHand) {
  EXPECT_THAT(find_in_code(read_sources({"include", "src"}),
                           R"(\b(malloc|calloc|realloc|free)\s*\(|(^|[;{})])\s*delete\b)", everywhere),
              IsEmpty());
}

TEST(Code, HasNoConditionalCompilation) {
  // gcc knows none of the attributes of clang's thread safety analysis.
  EXPECT_THAT(find_in_code(read_sources({"include", "src"}), R"(^\s*#\s*(if|ifdef|ifndef|elif)\b)", outside_mutex),
              IsEmpty());
}

TEST(Code, LocksOnlyByTheMutexThatClangChecks) {
  // spdlog's sink is a template of the standard's mutex.
  const auto elsewhere = [](std::string_view path) { return outside_mutex(path) && path != "src/lib/core/log.cpp"; };
  EXPECT_THAT(
      find_in_code(read_sources({"include", "src"}),
                   R"(\bstd::(\w*mutex|condition_variable\w*|lock_guard|unique_lock|scoped_lock)\b)", elsewhere),
      IsEmpty());
}

TEST(Code, LeavesNothingForLater) {
  const std::regex mark(R"(\b(T[O]DO|FIXM[E]|XX[X])\b)");
  Offences offences;
  for (const auto& file : read_sources({"include", "src", "tests", "bench"}))
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (std::regex_search(file.lines[i], mark)) offences.push_back(offence(file, i));
  EXPECT_THAT(offences, IsEmpty());
}

/// Whether a comment begins in this line, alone or behind code, and does not go on with the line before.
bool begins_comment(const SourceFile& file, std::size_t line_index) {
  static const std::regex kAlone(R"(^\s*//)");
  if (!std::regex_search(file.lines[line_index], kAlone)) return true;
  return line_index == 0 || !std::regex_search(file.lines[line_index - 1], kAlone);
}

TEST(Comments, BeginWithTheirSubject) {
  static const std::regex kRiddle(R"((^|\s)//[/!]?<?\s*(What|Who|Whoever|That|Nobody)\b)");
  Offences offences;
  for (const auto& file : read_sources({"include", "src", "tests", "bench"}))
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (std::regex_search(file.lines[i], kRiddle) && begins_comment(file, i)) offences.push_back(offence(file, i));
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Lines, HaveAtMost120Columns) {
  Offences offences;
  for (const auto& file : read_sources({"include", "src", "tests", "bench"}))
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (columns_of(file.lines[i]) > kMaxColumns) offences.push_back(offence(file, i));
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Lines, OfDocumentsHaveAtMost120Columns) {
  Offences offences;
  for (const auto& file : read_documents()) {
    bool in_code = false;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      in_code ^= line.starts_with("```");
      const bool prose = !in_code && !line.starts_with("|") && !line.starts_with("    ");
      if (prose && columns_of(line) > kMaxColumns) offences.push_back(offence(file, i));
    }
  }
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Files, AreShort) {
  Offences offences;
  for (const auto& file : read_sources({"include", "src"}))
    if (file.lines.size() > kMaxFileLines) offences.push_back(file.path);
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Headers, AreGuardedAndSayTheirPurpose) {
  Offences offences;
  for (const auto& file : read_sources({"include", "src"})) {
    if (!in_headers(file.path)) continue;
    const bool purpose = !file.lines.empty() && file.lines[0].starts_with("/// ");
    const bool guarded = std::find(file.lines.begin(), file.lines.end(), "#pragma once") != file.lines.end();
    if (!purpose || !guarded) offences.push_back(file.path);
  }
  EXPECT_THAT(offences, IsEmpty());
}

}  // namespace
}  // namespace udtcat::style
