// SPDX-License-Identifier: Apache-2.0
/// A certificate authority of a test's own, with a host and a user: what GSI asks for.
#pragma once

#include <string>
#include <vector>

#include "support/temp_dir.hpp"

namespace udtcat::test::e2e {

/// Made by openssl alone; nothing under /etc is read or written.
class GridCertificates {
 public:
  GridCertificates();

  /// Variables for a server that lets the user in as root, and for the user's programs.
  [[nodiscard]] std::vector<std::string> for_server() const;
  [[nodiscard]] std::vector<std::string> for_user() const;

 private:
  void make(const std::string& name, const std::string& common_name, const std::string& extensions) const;

  TempDir home_;
};

}  // namespace udtcat::test::e2e
