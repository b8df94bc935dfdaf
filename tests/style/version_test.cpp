// SPDX-License-Identifier: Apache-2.0
/// The version is written in CMakeLists.txt alone, where a release changes it; the list of changes has its history.
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace udtcat::style {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::StartsWith;

std::string version_in_cmake(const fs::path& root) {
  std::ifstream stream(root / "CMakeLists.txt");
  const std::regex project(R"(^project\(udtcat VERSION ([0-9.]+) .*)");
  std::smatch match;
  for (std::string line; std::getline(stream, line);)
    if (std::regex_match(line, match, project)) return match[1];
  return {};
}

/// The lines of the file that have the version, as "path: line".
void find_version(const fs::path& root, const fs::path& path, const std::regex& version,
                  std::vector<std::string>& places) {
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);)
    if (std::regex_search(line, version))
      places.push_back(path.lexically_relative(root).generic_string() + ": " + line);
}

TEST(Version, StandsInOnePlace) {
  const fs::path root = UDTCAT_SOURCE_DIR;
  const std::string stated = version_in_cmake(root);
  ASSERT_NE(stated, "");
  const std::regex version("(^|[^0-9.])" + std::regex_replace(stated, std::regex("\\."), "\\.") + "($|[^0-9.])");
  std::vector<std::string> places;
  for (const char* file : {"CMakeLists.txt", "README.md"}) find_version(root, root / file, version, places);
  for (const char* folder : {"include", "src", "wrappers", "scripts", "cmake", "docs"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string path = entry.path().lexically_relative(root).generic_string();
      const bool is_history = path == "docs/CHANGELOG.md" || path.starts_with("docs/adr/");
      if (entry.is_regular_file() && !is_history) find_version(root, entry.path(), version, places);
    }
  EXPECT_THAT(places, ElementsAre(StartsWith("CMakeLists.txt: project(")));
}

}  // namespace
}  // namespace udtcat::style
