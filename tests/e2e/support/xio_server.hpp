// SPDX-License-Identifier: Apache-2.0
/// Stock GridFTP servers that have our driver, with and without GSI, and striped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "e2e/support/grid_certificates.hpp"
#include "support/ports.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::test::e2e {

/// The environment in which Globus finds the driver and, unless `key_file` is empty, its key.
[[nodiscard]] std::vector<std::string> driver_environment(const std::filesystem::path& key_file);

struct XioServerOptions {
  const GridCertificates* certificates = nullptr;  ///< none: anonymous
  int threads = 0;
  std::string default_stack = {};  ///< of the data connections, where the client names none: "udtcat,gsi"
  std::filesystem::path key_file = {};
  std::size_t data_nodes = 0;  ///< 0: not striped
};

/// Bound to loopback; ended with the test.
class XioServer {
 public:
  explicit XioServer(const XioServerOptions& options);

  [[nodiscard]] std::string url(const std::filesystem::path& path) const;
  [[nodiscard]] std::string log() const;
  /// The processes that serve a client each.
  [[nodiscard]] std::vector<pid_t> children() const;
  /// As the power does.
  void kill();

 private:
  void start(std::vector<std::string> words, const XioServerOptions& options, std::uint16_t port);

  const bool anonymous_;
  TempDir state_;
  std::uint16_t port_ = free_port();
  std::list<Process> processes_;  // the frontend is the last one
};

}  // namespace udtcat::test::e2e
