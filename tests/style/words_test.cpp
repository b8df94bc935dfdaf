// SPDX-License-Identifier: Apache-2.0
/// The words of names, comments, messages and documents: the field's own, in plain English.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

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

Offences find_words(const std::vector<SourceFile>& files, const Forbids& forbids) {
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

/// Decisions keep the words of their day, and this file names the forbidden ones.
Offences find_words(const Forbids& forbids) {
  auto files = read_sources({"include", "src", "tests", "bench"});
  const auto documents = read_documents();
  files.insert(files.end(), documents.begin(), documents.end());
  return find_words(files, forbids);
}

/// Whether a part of a name begins with it: "troubles" and "on_trouble" with "trouble", "indeed" not with "deed".
bool has_part(std::string_view name, const std::string& word) {
  return name.starts_with(word) || name.find('_' + word) != std::string_view::npos;
}

/// The first cells of the table "Words" in docs/HACKING.md.
std::vector<std::string> read_glossary() {
  std::vector<std::string> cells;
  bool is_there = false;
  for (const auto& document : read_documents())
    for (const auto& line : document.lines) {
      if (line.starts_with("## ")) is_there = document.path == "docs/HACKING.md" && line == "## Words";
      if (is_there && line.starts_with("| ") && !line.starts_with("| word |") && !line.starts_with("| ---"))
        cells.push_back(line.substr(2, line.find(" |", 2) - 2));
    }
  return cells;
}

/// The words that names of types may be made of: those of words.txt and of the glossary.
class Vocabulary {
 public:
  Vocabulary() {
    std::ifstream list(UDTCAT_SOURCE_DIR "/tests/style/words.txt");
    for (std::string line; std::getline(list, line);)
      if (!line.starts_with('#')) add(line);
    for (const auto& cell : read_glossary()) add(cell);
  }

  /// The words of the type that the line of code declares which are missing here.
  [[nodiscard]] std::vector<std::string> missing_from(const std::string& code) const {
    static const std::regex kType(
        R"(^\s*(?:template\s*<.*>\s*)?(?:class|struct|enum(?:\s+class)?|union|concept|using)\s+(?:\[\[\w+\]\]\s+)?)"
        R"((?:UDTCAT_\w+(?:\([^)]*\))?\s+)?([A-Z][\w:]*)\s*(?:final\s*)?(?:[:={;].*)?$)");
    static const std::regex kWord("[A-Z]+(?![a-z])|[A-Z][a-z]+");
    std::vector<std::string> missing;
    std::smatch type;
    if (!std::regex_match(code, type, kType)) return missing;
    const std::string name = type[1];
    for (std::sregex_iterator found(name.begin(), name.end(), kWord), end; found != end; ++found)
      if (const auto word = words_of(found->str()).front(); !knows(word)) missing.push_back(word);
    return missing;
  }

 private:
  void add(std::string_view text) {
    for (auto& word : words_of(text)) words_.insert(std::move(word));
  }

  /// A plural is known by its singular.
  [[nodiscard]] bool knows(const std::string& word) const {
    static const std::vector<std::pair<std::string, std::string>> kEnds{{"", ""}, {"s", ""}, {"es", ""}, {"ies", "y"}};
    for (const auto& [end, singular] : kEnds)
      if (word.ends_with(end) && words_.contains(word.substr(0, word.size() - end.size()) + singular)) return true;
    return false;
  }

  std::set<std::string> words_;
};

TEST(Vocabulary, HasEveryWordOfATypesName) {
  const Vocabulary vocabulary;
  Offences offences;
  for (const auto& file : read_sources({"include", "src"}))
    for (std::size_t line = 0; line < file.code.size(); ++line)
      for (const auto& word : vocabulary.missing_from(file.code[line]))
        offences.push_back(word + ": " + offence(file, line));
  EXPECT_THAT(offences, IsEmpty()) << "the field's word instead; or in tests/style/words.txt under its source";
}

TEST(Vocabulary, HasNoCoinedWord) {
  const Vocabulary vocabulary;
  EXPECT_THAT(vocabulary.missing_from("class [[nodiscard]] DoormanQueue final : public Queue {"),
              ElementsAre("doorman"));
  EXPECT_THAT(vocabulary.missing_from("enum class TlsRumour : std::uint8_t { none };"), ElementsAre("rumour"));
  EXPECT_THAT(vocabulary.missing_from("  using FarewellHandler = std::function<void()>;"), ElementsAre("farewell"));
  EXPECT_THAT(vocabulary.missing_from("template <typename T> concept Seat = true;"), ElementsAre("seat"));
  EXPECT_THAT(vocabulary.missing_from("class UDTCAT_CAPABILITY(\"\") Mouth {"), ElementsAre("mouth"));
  EXPECT_THAT(vocabulary.missing_from("struct Outer::ModeEEntries;"), ElementsAre("outer"));
  EXPECT_THAT(vocabulary.missing_from("  return Doorman{};"), IsEmpty());
}

TEST(Glossary, HasTenWordsAtMost) { EXPECT_THAT(read_glossary(), SizeIs(testing::Le(10U))); }

TEST(Words, HaveANounBeforeWho) {
  // "For who has the key" has none: "for key holders", "for a client that has the key".
  static const std::set<std::string> kBefore{"for", "to", "of", "than"};
  EXPECT_THAT(find_words([](const auto& words, std::size_t i) {
                return words[i] == "who" && i > 0 && kBefore.contains(words[i - 1]);
              }),
              IsEmpty());
}

TEST(Words, AreThoseThatTheFieldUses) {
  static const std::set<std::string> kOurOwn{"rumour", "doorman", "seat", "mouth", "farewell", "wing", "storey"};
  EXPECT_THAT(find_words([](const auto& words, std::size_t i) { return kOurOwn.contains(words[i]); }), IsEmpty());
}

TEST(Words, OfTheCodeAreNotOurOwn) {
  static const std::vector<std::string> kOurOwn{"trouble",  "guest", "deed",   "verdict",
                                                "evidence", "stamp", "settle", "stranger"};
  const auto is_ours = [](const auto& words, std::size_t i) {
    return std::ranges::any_of(kOurOwn, [&](const std::string& word) { return has_part(words[i], word); });
  };
  EXPECT_THAT(find_words(read_sources({"include", "src"}), is_ours), IsEmpty());
  EXPECT_TRUE(has_part("on_trouble", "trouble"));
  EXPECT_TRUE(has_part("troubles", "trouble"));
  EXPECT_FALSE(has_part("indeed", "deed"));
}

TEST(Words, AreReadFromLines) {
  EXPECT_THAT(words_of("  // Of who:  be_at"), ElementsAre("/", "/", "of", "who", ":", "be_at"));
}

}  // namespace
}  // namespace udtcat::style
