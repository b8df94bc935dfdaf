// SPDX-License-Identifier: Apache-2.0
/// A stock GridFTP server, anonymous and in the clear, on loopback.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/ports.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::test::e2e {

class GlobusServer {
 public:
  /// Throws where it does not come up.
  /// host   loopback's address, of either family
  explicit GlobusServer(const std::vector<std::string>& more_options = {},
                        const std::vector<std::string>& environment = {}, std::string host = "127.0.0.1");

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url(const std::filesystem::path& path) const;
  [[nodiscard]] Process& process() { return *server_; }

 private:
  const std::string host_;
  TempDir state_;
  std::uint16_t port_ = free_port();
  std::optional<Process> server_;
};

}  // namespace udtcat::test::e2e
