// SPDX-License-Identifier: Apache-2.0
/// FTP servers of other makes, as Debian has them: ordinary processes, each with a directory of its own. Need root.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "support/ports.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::test::e2e {

enum class Make { globus, proftpd, pure_ftpd, pyftpdlib, vsftpd };

[[nodiscard]] const char* name_of(Make make);
inline void PrintTo(Make make, std::ostream* to) { *to << name_of(make); }

/// Threads: unsynchronised.
class StockFtpServer {
 public:
  struct Settings {
    std::string address = "127.0.0.1";
    std::filesystem::path network_namespace = {};
    std::string address_in_pasv = {};   ///< what PASV answers where it is not `address`; not of globus
    unsigned kilobytes_per_second = 0;  ///< of a transfer; 0: as fast as it goes; not of globus
  };
  explicit StockFtpServer(Make make) : StockFtpServer(make, Settings()) {}
  StockFtpServer(Make make, Settings settings);
  StockFtpServer(const StockFtpServer&) = delete;
  StockFtpServer& operator=(const StockFtpServer&) = delete;
  ~StockFtpServer();

  /// A name below the directory in which the server's user may write, as a URL has it, and here.
  [[nodiscard]] std::string url(const std::string& encoded = "") const { return top_url("w/" + encoded); }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return top_ / "w" / name; }
  /// A name in the directory above, which the server's user may only read.
  [[nodiscard]] std::string top_url(const std::string& encoded) const;
  [[nodiscard]] std::string errors() const { return process_->errors(); }

 private:
  [[nodiscard]] Command command() const;
  [[nodiscard]] std::vector<std::string> globus() const;
  [[nodiscard]] std::vector<std::string> proftpd() const;
  [[nodiscard]] std::vector<std::string> pure_ftpd() const;
  [[nodiscard]] std::vector<std::string> pyftpdlib() const;
  [[nodiscard]] std::vector<std::string> vsftpd() const;

  const Make make_;
  const Settings settings_;
  const std::uint16_t port_ = free_port();
  TempDir state_;
  const std::filesystem::path top_ = state_.path() / "top";
  std::optional<Process> process_;
};

}  // namespace udtcat::test::e2e
