// SPDX-License-Identifier: Apache-2.0
/// A configuration directory of the test's own, in the place of the user's.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/temp_dir.hpp"

namespace udtcat::test {

class UserFiles {
 public:
  UserFiles() {
    std::filesystem::create_directory(home_ / "udtcat");
    ::setenv("XDG_CONFIG_HOME", home_.path().c_str(), 1);
  }
  UserFiles(const UserFiles&) = delete;
  UserFiles& operator=(const UserFiles&) = delete;
  ~UserFiles() { ::unsetenv("XDG_CONFIG_HOME"); }

  /// Returns where it lies.
  std::string write(const std::string& name, std::string_view content, unsigned mode = 0600) const {
    return home_.write("udtcat/" + name, content, mode).string();
  }
  [[nodiscard]] std::string path_of(const std::string& name) const { return (home_ / ("udtcat/" + name)).string(); }

 private:
  const TempDir home_;
};

}  // namespace udtcat::test
