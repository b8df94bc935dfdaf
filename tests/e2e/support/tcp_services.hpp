// SPDX-License-Identifier: Apache-2.0
/// Real services for `--to`, started on a port of their own with nothing outside a temporary directory.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/digest.hpp"
#include "support/ports.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::test::e2e {

/// nginx with two files: /small, a line, and /large, longer than all the buffers on the way.
class HttpServer {
 public:
  explicit HttpServer(std::uint16_t port = free_port());
  [[nodiscard]] testing::AssertionResult ready() const;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const Digest& large() const { return large_; }

  static constexpr auto kSmallRequest = "GET /small HTTP/1.1\r\nHost: e2e\r\n\r\n";
  static constexpr auto kLargeRequest = "GET /large HTTP/1.1\r\nHost: e2e\r\n\r\n";
  static constexpr auto kSmallBody = "the answer to a short request\n";

 private:
  [[nodiscard]] Process start() const;

  const std::uint16_t port_;
  TempDir directory_;
  Digest large_;
  Process process_;
};

/// redis, empty, saving nothing.
class DatabaseServer {
 public:
  DatabaseServer();
  [[nodiscard]] testing::AssertionResult ready() const;
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  const std::uint16_t port_ = free_port();
  TempDir directory_;
  Process process_;
};

/// PostgreSQL, empty, syncing nothing; its superuser is "postgres", without a password.
class RelationalServer {
 public:
  RelationalServer();
  [[nodiscard]] testing::AssertionResult ready() const;
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  [[nodiscard]] Process start() const;

  const std::uint16_t port_ = free_port();
  TempDir directory_;
  Process process_;
};

}  // namespace udtcat::test::e2e
