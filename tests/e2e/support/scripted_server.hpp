// SPDX-License-Identifier: Apache-2.0
/// An FTP server that answers as a test says.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "e2e/support/ftp_dialogue.hpp"
#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {

inline constexpr const char* kHangUp = "";

/// Answers control connections one after the other, as the test says.
class ScriptedServer {
 public:
  /// The answer to a line, with its line end; kHangUp: none, and the connection closes. Data are the script's affair.
  using Script = std::function<std::string(const std::string& line, std::uint16_t data_port)>;

  explicit ScriptedServer(Script script) : script_(std::move(script)), thread_([this] { serve(); }) {}
  ~ScriptedServer() {
    stopping_ = true;
    thread_.join();
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url() const { return "ftp://127.0.0.1:" + std::to_string(listener_.port()) + "/file"; }

 private:
  void serve() const {
    while (!stopping_) {
      const auto client = listener_.accept(kAtOnce / 100);
      if (client) talk(*client);
    }
  }
  void talk(const TcpClient& client) const {
    std::uint16_t data_port = 0;
    std::string answer = script_("", 0);  // the greeting
    while (answer != kHangUp && client.send(answer)) {
      std::string line = read_line(client);
      while (line.empty() && !stopping_ && !client.is_at_end()) line = read_line(client);
      if (line.empty()) return;
      if (line.starts_with("PORT ")) data_port = port_in(line);
      answer = script_(line, data_port);
    }
  }

  const Script script_;
  const TcpListener listener_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

/// A decent server's replies up to the transfer itself. `size` is the file's by its own word.
[[nodiscard]] inline std::string decent(const std::string& line, const std::string& size = "100") {
  if (line.empty()) return "220 ready\r\n";
  if (line.starts_with("USER")) return "331 password\r\n";
  if (line.starts_with("PASS")) return "230 in\r\n";
  if (line.starts_with("SIZE")) return "213 " + size + "\r\n";
  if (line.starts_with("MDTM")) return "213 20260101000000\r\n";
  if (line.starts_with("REST")) return "350 noted\r\n";
  if (line.starts_with("PASV")) return "227 Passive (127,0,0,1,0,1)\r\n";
  return "200 fine\r\n";
}

}  // namespace udtcat::test::e2e
