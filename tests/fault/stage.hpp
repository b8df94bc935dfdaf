// SPDX-License-Identifier: Apache-2.0
/// The place of one run. A worker has one, and uses it again and again.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "fault/path.hpp"
#include "support/ssh_host.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::fault {

/// The key pairs of both ends, in files of `directory`: near, far, and peers, the list that lets in the near one.
struct KeyPairs {
  std::filesystem::path directory;
  std::string far_public;
};

/// The program under test, and what all runs share. Immutable.
struct Subject {
  std::filesystem::path program;
  std::string key;
  KeyPairs pairs = {};
  bool has_exec = false;
  bool may_serve_ssh = false;  ///< sshd wants to be root, and not only of a namespace
};

/// To be made before there are threads. Threads: unsynchronised.
class Stage {
 public:
  explicit Stage(Subject subject);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] Path& path() { return path_; }
  /// The far host's sshd, which starts when it is first asked for.
  [[nodiscard]] const test::SshHost& ssh();
  /// An empty directory for a run.
  [[nodiscard]] std::filesystem::path directory(const std::string& name);
  /// The same on a disk that is soon full.
  [[nodiscard]] std::filesystem::path small_directory(const std::string& name);

  static constexpr auto kSmallDiskSize = "size=96k";

 private:
  const Subject subject_;
  const test::TempDir home_;
  Path path_;
  std::unique_ptr<test::SshHost> ssh_;
};

}  // namespace udtcat::fault
