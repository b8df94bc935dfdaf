// SPDX-License-Identifier: Apache-2.0
/// The words of our comments, messages and documents: the field's own, in plain English.
#include <cctype>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// In lower case. A character other than a letter or '_' ends a word; other than a space, it is a word of its own.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool goes_on = false;
  for (const char c : line) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (letter || c != ' ') {
      if (!letter || !goes_on) words.emplace_back();
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    goes_on = letter;
  }
  return words;
}

using Forbids = std::function<bool(const std::vector<std::string>& words, std::size_t index)>;

/// Decisions keep the words of their day, and this file names the forbidden ones.
Offences find_words(const Forbids& forbids) {
  auto files = read_sources({"include", "src", "tests", "bench"});
  const auto documents = read_documents();
  files.insert(files.end(), documents.begin(), documents.end());
  Offences offences;
  for (const auto& file : files) {
    if (file.path == "tests/style/words_test.cpp" || file.path.starts_with("docs/adr/")) continue;
    for (std::size_t line = 0; line < file.lines.size(); ++line) {
      const auto words = words_of(file.lines[line]);
      for (std::size_t i = 0; i < words.size(); ++i)
        if (forbids(words, i)) offences.push_back(offence(file, line));
    }
  }
  return offences;
}

TEST(Words, HaveANounBeforeWho) {
  // "For who has the key" has none: "for key holders", "for a client that has the key".
  static const std::set<std::string> kBefore{"for", "to", "of", "than"};
  EXPECT_THAT(find_words([](const auto& words, std::size_t i) {
                return words[i] == "who" && i > 0 && kBefore.contains(words[i - 1]);
              }),
              IsEmpty());
}

TEST(Words, AreThoseThatTheFieldUses) {
  static const std::set<std::string> kOurOwn{
      "news",    "exempt",  "rumour", "rumours", "draw_lot", "bury",     "buries",   "buried", "hurry",  "hurries",
      "manners", "doorman", "be_at",  "has_of",  "seat",     "heedless", "farewell", "mouth",  "mouths", "farewells"};
  EXPECT_THAT(find_words([](const auto& words, std::size_t i) { return kOurOwn.contains(words[i]); }), IsEmpty());
}

TEST(Words, AreReadFromLines) {
  EXPECT_THAT(words_of("  // Of who:  be_at"), ElementsAre("/", "/", "of", "who", ":", "be_at"));
}

}  // namespace
}  // namespace udtcat::style
