// SPDX-License-Identifier: Apache-2.0
/// The words of the GridFTP tests: files, a stock server, a server of ours, a stock client and ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "e2e/support/globus_server.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {

class GridftpTest : public UdtcatTest {
 protected:
  [[nodiscard]] Ran gridftp(Arguments words) const;
  [[nodiscard]] Process start_gridftp(Arguments words) const;
  [[nodiscard]] Ran url_copy(Arguments words) const;
  [[nodiscard]] std::filesystem::path random_file(const std::string& name, std::size_t bytes) const;
  [[nodiscard]] std::filesystem::path here(const std::string& name) const { return home_.path() / name; }

  /// `udtcat gridftp serve` of the test's home, where everybody may write but with --read-only; waits until it takes
  /// connections.
  /// host   which listens to IPv4's loopback
  void serve(Arguments more = {}, const std::string& host = "127.0.0.1");
  void stop_serving() { server_.reset(); }
  /// "ftp://127.0.0.1:PORT/name", at our server.
  [[nodiscard]] std::string ours(const std::string& name) const;
  [[nodiscard]] static std::string local(const std::filesystem::path& path) { return "file://" + path.string(); }
  [[nodiscard]] std::string key_file() const;
  /// `transfer` writes `name`, and is killed once its restart journal has ranges, which the first that it saves has
  /// not; or has ended before.
  void kill_when_some_has_come(Process& transfer, const std::string& name) const;

  std::uint16_t serve_port_ = free_port();
  std::optional<Process> server_;
};

}  // namespace udtcat::test::e2e
