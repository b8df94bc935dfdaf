// SPDX-License-Identifier: Apache-2.0
/// A host with a real ssh server, and the client's configuration that reaches it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "support/namespaces.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::test {

/// sshd at the far host, on a port of its own, with a key of its own for the user who runs the tests. His home there is
/// an empty directory, and $PATH begins with the tested program's. In ssh_config() the alias `far` reaches it by IPv4,
/// `far6` by IPv6, and `inner` by IPv6 through `far`.
class SshHost {
 public:
  explicit SshHost(const Namespaces::Host& far,
                   const std::filesystem::path& program_directory = std::filesystem::path(UDTCAT_BINARY).parent_path());

  [[nodiscard]] std::filesystem::path ssh_config() const { return home_.path() / "ssh_config"; }
  /// The user's home at the far side.
  [[nodiscard]] const TempDir& far_home() const { return far_home_; }

 private:
  TempDir home_;
  TempDir far_home_;
  std::optional<Process> server_;
};

}  // namespace udtcat::test
