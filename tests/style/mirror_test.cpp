// SPDX-License-Identifier: Apache-2.0
/// tests/ has the folders of src/, and a test has the name of what it tests or says it.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::IsEmpty;

/// Where tests are linked with what they test. The others (e2e, interop, fault, wan) see it from outside.
const std::vector<std::string> kMirrors{"tests/lib",  "tests/tool", "tests/ssh",   "tests/bench", "tests/forward",
                                        "tests/pipe", "tests/rsh",  "tests/files", "tests/trees", "tests/gridftp"};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
/// "tests/lib/net/bind_test.cpp" without "tests/", "src/lib/net/bind.cpp" without "src/".
std::string below_top(const std::string& path) { return path.substr(path.find('/') + 1); }
std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

bool is_test(const SourceFile& file) {
  return file.path.ends_with("_test.cpp") && file.path.find("/support/") == std::string::npos;
}
bool says_what_it_tests(const SourceFile& file) { return !file.lines.empty() && file.lines[0].starts_with("//"); }

/// Whether a line of the comment at the beginning names the folder: "src/rsh/command" in "src/rsh/command: both ends".
bool begins_by_naming(const SourceFile& file, const std::string& folder) {
  for (const std::string& line : file.lines) {
    if (!line.starts_with("///")) return false;
    const auto at = line.find(folder);
    if (at == std::string::npos) continue;
    const std::string after = line.substr(at + folder.size(), 1);
    if (after != "/" && after != "_") return true;
  }
  return false;
}

/// Whether a source or header of that name is in the test's folder or below it; public headers are in include/udtcat.
bool has_namesake(const SourceFile& test, const std::vector<SourceFile>& sources) {
  const std::string name = stem_of(test.path).substr(0, stem_of(test.path).rfind("_test"));
  const std::string folder = below_top(folder_of(test.path)) + "/";
  return std::any_of(sources.begin(), sources.end(), [&](const SourceFile& source) {
    const bool here = source.path.starts_with("include/") || below_top(source.path).starts_with(folder);
    return here && stem_of(source.path) == name;
  });
}

TEST(Tests, HaveTheNameOfWhatTheyTestOrSayIt) {
  const auto sources = read_sources({"include", "src"});
  Offences offences;
  for (const auto& file : read_sources(kMirrors))
    if (is_test(file) && !has_namesake(file, sources) && !says_what_it_tests(file))
      offences.push_back(file.path + ": no source of this name, and its first line is no comment");
  for (const auto& file : read_sources({"tests/e2e", "tests/interop", "tests/style"}))
    if (is_test(file) && !says_what_it_tests(file)) offences.push_back(offence(file, 0));
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Tests, AreInFoldersOfSrc) {
  Offences offences;
  for (const auto& file : read_sources(kMirrors))
    if (is_test(file) && !exists("src/" + below_top(folder_of(file.path)))) offences.push_back(file.path);
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Folders, OfSrcHaveTestsOrATestThatBeginsByNamingThem) {
  const auto tests = read_sources({"tests"});
  std::set<std::string> untested;
  for (const auto& file : read_sources({"src"})) {
    const std::string folder = folder_of(file.path);
    if (!file.path.ends_with(".cpp")) continue;
    if (std::none_of(tests.begin(), tests.end(), [&](const SourceFile& test) {
          return is_test(test) &&
                 (below_top(folder_of(test.path)) == below_top(folder) || begins_by_naming(test, folder));
        }))
      untested.insert(folder);
  }
  EXPECT_THAT(untested, IsEmpty());
}

}  // namespace
}  // namespace udtcat::style
