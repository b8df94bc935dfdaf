// SPDX-License-Identifier: Apache-2.0
/// docs/spec and docs/threat-model.md: a sentence with "must", "never" or "at most" has a name, and a test that proves
/// it.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string without_margin(const std::string& line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

struct Passage {
  std::size_t line;  // of the file, from 0
  std::string text;
};

/// Paragraphs, items of lists and rows of tables, each in one line. Not headings, nor code.
std::vector<Passage> passages_of(const std::vector<std::string>& lines) {
  static const std::regex kItem(R"(([-*]|\d+\.) .*)");
  std::vector<Passage> passages;
  bool is_code = false;
  bool goes_on = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string text = without_margin(lines[i]);
    const bool is_fence = text.starts_with("```");
    if (is_fence) is_code = !is_code;
    const bool is_indented_code = !goes_on && lines[i].starts_with("    ");
    const bool is_prose = !is_fence && !is_code && !is_indented_code && !text.empty() && !text.starts_with('#');
    const bool is_row = text.starts_with('|');
    if (is_prose && (!goes_on || is_row || std::regex_match(text, kItem)))
      passages.push_back({i, text});
    else if (is_prose)
      passages.back().text += " " + text;
    goes_on = is_prose && !is_row;
  }
  return passages;
}

/// A row of a table is one sentence.
std::vector<std::string> sentences_of(const std::string& passage) {
  static const std::string kClosing("*)\"");
  if (passage.starts_with('|')) return {passage};
  std::vector<std::string> sentences(1);
  bool is_end = false;
  for (const char c : passage) {
    if (is_end && c == ' ')
      sentences.emplace_back();
    else
      sentences.back() += c;
    is_end = c == '.' || c == '!' || c == '?' || (is_end && kClosing.find(c) != std::string::npos);
  }
  return sentences;
}

bool is_promise(const std::string& sentence) {
  static const std::regex kWord(R"(\b(must|never|at most)\b)", std::regex::icase);
  return std::regex_search(sentence, kWord);
}

/// Those that a document gives: [stream.fin-last], as code, whose first word is the document's own name.
std::vector<std::string> names_in(const std::string& sentence, const std::string& document) {
  static const std::regex kName(R"(`\[([a-z0-9-]+)\.([a-z0-9]+(?:-[a-z0-9]+){1,3})\]`)");
  std::vector<std::string> names;
  for (std::sregex_iterator found(sentence.begin(), sentence.end(), kName), end; found != end; ++found)
    if (found->str(1) == document) names.push_back(found->str(1) + "." + found->str(2));
  return names;
}

/// Those of a line "Proves: stream.fin-last, stream.receipt-once" of a comment; none of another line.
std::vector<std::string> names_proved_in(const std::string& line) {
  static const std::regex kProves(R"(\s*(?:///|#) Proves: (.*))");
  static const std::regex kName("[^, ]+");
  std::vector<std::string> names;
  std::smatch proves;
  if (!std::regex_match(line, proves, kProves)) return names;
  const std::string list = proves[1];
  for (std::sregex_iterator found(list.begin(), list.end(), kName), end; found != end; ++found)
    names.push_back(found->str());
  return names;
}

/// Whether the comment that has the line stands above a test; in a script, that has no such, wherever it stands.
bool stands_above_a_test(const SourceFile& file, std::size_t line) {
  if (file.lines[line].find("# Proves:") != std::string::npos) return true;
  while (line < file.lines.size() && without_margin(file.lines[line]).starts_with("//")) ++line;
  return line < file.lines.size() && file.lines[line].starts_with("TEST");
}

struct Promises {
  std::map<std::string, std::string> places;  // of each name
  Offences offences;
};

Promises read_promises(const std::vector<SourceFile>& documents) {
  Promises promises;
  for (const SourceFile& file : documents)
    for (const Passage& passage : passages_of(file.lines))
      for (const std::string& sentence : sentences_of(passage.text)) {
        const std::string place = file.path + ":" + std::to_string(passage.line + 1) + ": ";
        const auto names = names_in(sentence, std::filesystem::path(file.path).stem().string());
        if (names.empty() && is_promise(sentence)) promises.offences.push_back(place + "has no name: " + sentence);
        for (const std::string& name : names)
          if (!promises.places.emplace(name, place).second)
            promises.offences.push_back(place + name + " is there twice");
      }
  return promises;
}

/// Promises without a name, names of two promises or of none, and promises that no test proves.
Offences find_unproved(const std::vector<SourceFile>& documents, const std::vector<SourceFile>& tests) {
  Promises promises = read_promises(documents);
  std::set<std::string> proved;
  for (const SourceFile& file : tests)
    for (std::size_t line = 0; line < file.lines.size(); ++line)
      for (const std::string& name : names_proved_in(file.lines[line])) {
        const bool is_promised = promises.places.contains(name);
        if (!is_promised) promises.offences.push_back(offence(file, line) + ": no document promises " + name);
        if (!stands_above_a_test(file, line)) promises.offences.push_back(offence(file, line) + ": above no test");
        proved.insert(name);
      }
  for (const auto& [name, place] : promises.places)
    if (!proved.contains(name)) promises.offences.push_back(place + name + " is proved by no test");
  return promises.offences;
}

TEST(Promises, HaveANameAndATestThatProvesThem) {
  auto documents = read_documents();
  std::erase_if(documents, [](const SourceFile& file) {
    return !file.path.starts_with("docs/spec/") && file.path != "docs/threat-model.md";
  });
  auto tests = read_sources({"tests"});
  const auto scripts = read_scripts("tests");
  tests.insert(tests.end(), scripts.begin(), scripts.end());
  EXPECT_THAT(find_unproved(documents, tests), IsEmpty());
}

SourceFile document(const std::vector<std::string>& lines) { return {"docs/spec/post.md", {}, lines, {}}; }
SourceFile test_file(const std::vector<std::string>& lines) { return {"tests/post_test.cpp", {}, lines, {}}; }

TEST(Promises, AreSentencesHoweverTheyAreBroken) {
  EXPECT_THAT(find_unproved({document({"It comes. It is read at", "most once (or", "lost). It goes."})}, {}),
              ElementsAre("docs/spec/post.md:1: has no name: It is read at most once (or lost)."));
  EXPECT_THAT(find_unproved({document({"- It comes.", "- It **must come.** Soon."})}, {}),
              ElementsAre("docs/spec/post.md:2: has no name: - It **must come.**"));
  EXPECT_THAT(find_unproved({document({"| 1 | A. B | Never. |", "| 2 | C |"})}, {}),
              ElementsAre("docs/spec/post.md:1: has no name: | 1 | A. B | Never. |"));
}

TEST(Promises, AreNotInCodeNorInOtherWords) {
  EXPECT_THAT(find_unproved({document({"```", "never", "", "must", "```", "", "    never = 1", "", "# Never",
                                       "A mustard, nevertheless, at mostly."})},
                            {}),
              IsEmpty());
}

TEST(Promises, AreProvedWhereATestNamesThem) {
  const auto post = document({"It is lost, never", "`[post.lost-never]`. It must be", "read `[post.must-be-read]`."});
  const auto test = [](const std::string& names) {
    return test_file({"/// Proves: " + names, "/// (by a hand)", "TEST(Post, IsRead) {}"});
  };
  EXPECT_THAT(find_unproved({post}, {test("post.lost-never, post.must-be-read")}), IsEmpty());
  EXPECT_THAT(find_unproved({post}, {test("post.lost-never"), test_file({"  # Proves: post.must-be-read"})}),
              IsEmpty());
  EXPECT_THAT(find_unproved({post}, {test("post.lost-never")}),
              ElementsAre("docs/spec/post.md:1: post.must-be-read is proved by no test"));
}

TEST(Promises, HaveNamesOfTheirOwn) {
  const auto promised_twice = document({"Never `[post.lost-never]`.", "", "It is never lost `[post.lost-never]`."});
  const auto test = test_file({"/// Proves: post.lost-never", "TEST(Post, IsRead) {}"});
  EXPECT_THAT(find_unproved({promised_twice}, {test}),
              ElementsAre("docs/spec/post.md:3: post.lost-never is there twice"));
  for (const char* name :
       {"`[mail.lost-never]`", "`[post.never]`", "`[post.it-is-never-lost-here]`", "[post.lost-never]"})
    EXPECT_THAT(find_unproved({document({std::string("Never ") + name + "."})}, {}),
                ElementsAre(HasSubstr("has no name")));
}

TEST(Promises, AreNotProvedByOtherNamesNorBesideTests) {
  EXPECT_THAT(find_unproved({}, {test_file({"/// Proves: post.lost-never", "TEST(Post, IsRead) {}"})}),
              ElementsAre("tests/post_test.cpp:1: /// Proves: post.lost-never: no document promises post.lost-never"));
  EXPECT_THAT(find_unproved({document({"Never `[post.lost-never]`."})},
                            {test_file({"/// Proves: post.lost-never", "int lost = 0;"})}),
              ElementsAre("tests/post_test.cpp:1: /// Proves: post.lost-never: above no test"));
}

}  // namespace
}  // namespace udtcat::style
