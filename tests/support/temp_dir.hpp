/// A directory of the test's own, removed with all that is in it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace udtcat::test {

class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file that only its owner may read; returns where it lies.
  std::filesystem::path write(const std::string& name, std::string_view content) const;
  /// Every regular file below, at whatever depth.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path path_;
};

/// The whole file; empty if it cannot be read (a process that has ended).
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace udtcat::test
