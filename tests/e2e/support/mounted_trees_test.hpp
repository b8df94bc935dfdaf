// SPDX-License-Identifier: Apache-2.0
/// Trees that come to a file system of a test's own, mounted at "dst" where no other process sees it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {

/// How a file system comes to be at "dst".
struct FileSystem {
  std::string name;
  std::string make;       ///< a script; its working directory is the test's home, with an empty "dst"
  Arguments server = {};  ///< the program that is the file system, in the foreground; none: the script mounts it
  std::vector<std::string> lost = {};  ///< what both ends say that it does not keep, by these words
  bool has_links = true;               ///< symbolic ones, hard ones, and FIFOs
};
inline std::ostream& operator<<(std::ostream& out, const FileSystem& file_system) { return out << file_system.name; }

/// A script that mounts an image of a file system at "dst".
[[nodiscard]] inline std::string image(const std::string& size, const std::string& make,
                                       const std::string& options = "loop") {
  return "truncate -s " + size + " image && " + make + " image && mount -o " + options + " image dst";
}

/// Needs root. What is mounted goes with the test.
class MountedTreesTest : public TreesTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  void mount(const FileSystem& file_system);
  /// Runs a script in the test's home; it has to succeed.
  void script(const std::string& text) const;
  /// The end of a transfer of "src" to "dst".
  struct Outcome {
    int sender = -1;
    int receiver = -1;
    std::string said_by_sender;
    std::string said_by_receiver;
    std::uint64_t bytes_sent = 0;
  };
  [[nodiscard]] Outcome transfer_src() const;
  /// Expects 7 at both ends, and that both say `text`.
  void expect_refused(const Outcome& outcome, const std::string& text,
                      std::source_location where = std::source_location::current()) const;

 private:
  std::optional<Process> server_;
};

}  // namespace udtcat::test::e2e
