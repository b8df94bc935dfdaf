// SPDX-License-Identifier: Apache-2.0
/// A directory of the test's own, removed with all that is in it.
#pragma once

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <stdlib.h>

namespace udtcat::test {

/// The whole file; empty if it cannot be read (a process that has ended).
[[nodiscard]] inline std::string read_file(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

class TempDir {
 public:
  TempDir() {
    std::string name = std::filesystem::temp_directory_path() / "udtcat-test-XXXXXX";  // mkdtemp() fills in the X
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code left_behind;  // a temporary directory that cannot be removed is no test's failure
    std::filesystem::remove_all(path_, left_behind);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] bool has(const std::string& name) const { return std::filesystem::exists(path_ / name); }
  /// Writes a file; returns where it lies.
  std::filesystem::path write(const std::string& name, std::string_view content, unsigned mode = 0600) const {
    std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary) << content;
    std::filesystem::permissions(file, std::filesystem::perms(mode));
    return file;
  }
  /// Every regular file below, at whatever depth.
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      if (entry.is_regular_file()) found.push_back(entry.path());
    return found;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace udtcat::test
