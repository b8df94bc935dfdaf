#include "support/temp_dir.hpp"

#include <fstream>
#include <sstream>
#include <system_error>

#include <cstdlib>

#include "support/descriptor.hpp"

namespace udtcat::test {

namespace fs = std::filesystem;

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "udtcat-e2e-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) die("mkdtemp " + pattern);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code left_behind;  // a temporary directory that cannot be removed is no test's failure
  fs::remove_all(path_, left_behind);
}

fs::path TempDir::write(const std::string& name, std::string_view content) const {
  const fs::path file = path_ / name;
  std::ofstream(file, std::ios::binary) << content;
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  return file;
}

std::vector<fs::path> TempDir::files() const {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  return found;
}

std::string read_file(const fs::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

}  // namespace udtcat::test
