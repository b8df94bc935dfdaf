// SPDX-License-Identifier: Apache-2.0
/// Every source, script and CMake file says its licence, in its first line or after its "#!".
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace udtcat::style {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

constexpr const char* kLicence = "SPDX-License-Identifier: Apache-2.0";

/// Its first two lines.
std::array<std::string, 2> beginning_of(const fs::path& path) {
  std::ifstream stream(path);
  std::array<std::string, 2> lines;
  for (std::string& line : lines) std::getline(stream, line);
  return lines;
}

bool is_code(const fs::path& path) {
  static const std::vector<std::string> kExtensions{".cpp", ".hpp", ".cmake", ".bash", ".zsh", ".fish", ".py"};
  const bool by_name = path.filename() == "CMakeLists.txt" || path.filename() == "rules" ||
                       std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
  return by_name || beginning_of(path).front().starts_with("#!");
}

TEST(Licence, IsSaidByEveryFileOfCode) {
  const fs::path root = UDTCAT_SOURCE_DIR;
  std::vector<std::string> silent;
  std::size_t files = 0;
  const auto look_at = [&](const fs::path& path) {
    if (!is_code(path)) return;
    ++files;
    const bool says =
        std::ranges::any_of(beginning_of(path), [](const std::string& line) { return line.ends_with(kLicence); });
    if (!says) silent.push_back(path.lexically_relative(root).generic_string());
  };
  look_at(root / "CMakeLists.txt");
  for (const char* folder : {"include", "src", "tests", "bench", "wrappers", "scripts", "cmake", "docs", ".ci"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && entry.path().string().find("/corpus/") == std::string::npos) look_at(entry.path());
  EXPECT_GT(files, 500U) << "they are elsewhere now";
  EXPECT_THAT(silent, IsEmpty());
}

}  // namespace
}  // namespace udtcat::style
