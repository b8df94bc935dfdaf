// SPDX-License-Identifier: Apache-2.0
/// docs/man: the pages refer to each other in place of saying a thing twice, and what is referred to is there.
#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kPhraseWords = 11;  // guess: more than "Beside these there are the common options of udtcat(1)."

/// Requests of mdoc(7) between sentences.
bool begins_a_part(const std::string& line) {
  static const std::set<std::string> kParts{"Sh", "Ss", "Pp", "It", "Bl", "El", "Bd", "Ed"};
  return line.starts_with('.') && kParts.contains(line.substr(1, 2));
}

/// Without requests, punctuation and capital letters.
std::vector<std::string> plain_words(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line.starts_with('.') ? line.substr(1) : line);
  for (std::string word; stream >> word;) {
    const auto is_request = word.size() == 2 && std::isupper(static_cast<unsigned char>(word[0])) != 0 &&
                            std::islower(static_cast<unsigned char>(word[1])) != 0;
    std::erase_if(word, [](unsigned char c) { return std::isalnum(c) == 0; });
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!is_request && !word.empty()) words.push_back(word);
  }
  return words;
}

/// Those of kPhraseWords and more.
std::set<std::string> sentences_of(const std::vector<std::string>& lines) {
  std::set<std::string> sentences;
  std::string sentence;
  std::size_t words = 0;
  for (const std::string& line : lines) {
    const bool is_head = begins_a_part(line);
    if (!is_head) {
      for (const std::string& word : plain_words(line)) {
        sentence += " " + word;
        ++words;
      }
      if (!line.ends_with('.')) continue;
      if (words >= kPhraseWords) sentences.insert(sentence);
    }
    sentence.clear();
    words = 0;
  }
  return sentences;
}

TEST(ManPages, SayASentenceOnce) {
  std::map<std::string, std::string> said;
  Offences offences;
  for (const SourceFile& page : read_man_pages())
    for (const std::string& sentence : sentences_of(page.lines))
      if (const auto [other, is_new] = said.emplace(sentence, page.path); !is_new)
        offences.push_back(page.path + " and " + other->second + ":" + sentence);
  EXPECT_THAT(offences, IsEmpty());
}

TEST(ManPages, AreReadBySentence) {
  EXPECT_THAT(sentences_of({".It Fl k Ar file", "A key is read, where one", ".Fl -key-file",
                            "names it, from such a file.", "It is short."}),
              ElementsAre(" a key is read where one keyfile names it from such a file"));
}

struct Reference {
  std::string page;     ///< "docs/man/udtcat-rsh.1"
  std::string section;  ///< "EXIT STATUS"; empty: the page as a whole
};

/// As sources and documents write them: udtcat(1), "KEYS"; docs/man/udtcat.1, KEYS. As pages do: KEYS in .Xr udtcat 1.
std::vector<Reference> references_in(const std::string& line) {
  static const std::regex kOutside(
      R"re(\b(udr|udtcat[a-z.-]*)(?:\(([158])\)|\.([158])\b)(?:, "?([A-Z][A-Za-z]*(?: [A-Z][A-Za-z]*)*))?)re");
  static const std::regex kInPage(R"re((?:([A-Z][A-Z ]*[A-Z]) in )?\.Xr (udr|udtcat[a-z.-]*) ([158])\b)re");
  std::vector<Reference> references;
  const std::sregex_iterator end;
  for (std::sregex_iterator at(line.begin(), line.end(), kOutside); at != end; ++at)
    references.push_back({"docs/man/" + at->str(1) + "." + at->str(2) + at->str(3), at->str(4)});
  for (std::sregex_iterator at(line.begin(), line.end(), kInPage); at != end; ++at)
    references.push_back({"docs/man/" + at->str(2) + "." + at->str(3), at->str(1)});
  return references;
}

/// A line that is the last of a reference has the one before it, too.
std::string with_line_before(const SourceFile& file, std::size_t line) {
  const bool goes_on = line > 0 && file.lines[line].starts_with(".Xr ") && file.lines[line - 1].ends_with(" in");
  return goes_on ? file.lines[line - 1] + " " + file.lines[line] : file.lines[line];
}

TEST(ManPages, AreThereWithTheSectionsThatAreReferredTo) {
  const auto pages = read_man_pages();
  const auto is_there = [&](const Reference& to) {
    const auto page = std::ranges::find(pages, to.page, &SourceFile::path);
    const auto is_section = [&](const std::string& line) {
      return line == ".Sh " + to.section || line == ".Ss " + to.section;
    };
    return page != pages.end() && (to.section.empty() || std::ranges::any_of(page->lines, is_section));
  };
  auto files = read_sources({"include", "src", "tests", "bench"});
  for (const auto& more : {read_documents(), pages}) files.insert(files.end(), more.begin(), more.end());
  Offences offences;
  for (const SourceFile& file : files) {
    if (file.path == "tests/style/man_pages_test.cpp" || file.path.starts_with("docs/adr/")) continue;
    for (std::size_t line = 0; line < file.lines.size(); ++line)
      for (const Reference& to : references_in(with_line_before(file, line)))
        if (!is_there(to)) offences.push_back(offence(file, line));
  }
  EXPECT_THAT(offences, IsEmpty());
}

TEST(ManPages, AreReadByReference) {
  const auto first = [](const std::string& line) {
    const Reference reference = references_in(line).at(0);
    return reference.page + ": " + reference.section;
  };
  EXPECT_EQ(first("More: udtcat(1), \"KEYS\", and others."), "docs/man/udtcat.1: KEYS");
  EXPECT_EQ(first("// spec: docs/man/udtcat-rsh.1, EXIT STATUS: 255"), "docs/man/udtcat-rsh.1: EXIT STATUS");
  EXPECT_EQ(first("as in udtcat.conf(5), which see"), "docs/man/udtcat.conf.5: ");
  EXPECT_EQ(first("limited each way: WHY in .Xr udtcat-status 1 ."), "docs/man/udtcat-status.1: WHY");
}

}  // namespace
}  // namespace udtcat::style
