// SPDX-License-Identifier: Apache-2.0
/// The control connection of a GridFTP client that a test speaks word by word, and MODE E blocks written by hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "e2e/support/tcp_client.hpp"
#include "support/scale.hpp"

namespace udtcat::test::e2e {

inline constexpr std::uint8_t kBlockClose = 0x04;
inline constexpr std::uint8_t kBlockEod = 0x08;
inline constexpr std::uint8_t kBlockEof = 0x40;

/// A header and what follows it. `count` is what the header says, whatever the payload has.
[[nodiscard]] std::string block(std::uint8_t descriptor, std::uint64_t count, std::uint64_t offset,
                                std::string_view payload = {});
/// Bytes of a file, and the end of a connection's data, or of the file.
[[nodiscard]] inline std::string data_block(std::uint64_t offset, std::string_view payload) {
  return block(0, payload.size(), offset, payload);
}
[[nodiscard]] inline std::string end_of_data() { return block(kBlockEod, 0, 0); }
[[nodiscard]] inline std::string end_of_file(std::uint64_t connections) {
  return block(kBlockEof | kBlockEod, 0, connections);
}

/// The bytes of a MODE E connection up to its end of data.
struct BlocksRead {
  std::string content;        ///< payload at its offsets
  std::uint64_t payload = 0;  ///< bytes of it
  std::uint64_t ends = 0;     ///< as the EOF said; 0: none came
  bool whole = false;         ///< the end of data came
};
/// Adds to `read` what one connection brings.
void read_blocks(const TcpClient& from, BlocksRead& read);

/// "127,0,0,1,HIGH,LOW".
[[nodiscard]] std::string ftp_port(std::uint16_t port);
/// The port of a line with such six numbers; 0: it has none.
[[nodiscard]] std::uint16_t port_in(const std::string& line);
/// One line without its end; empty at the end of everything.
[[nodiscard]] std::string read_line(const TcpClient& from);

/// Threads: unsynchronised.
class FtpDialogue {
 public:
  /// Connects and takes the greeting; no more.
  explicit FtpDialogue(std::uint16_t port, std::chrono::milliseconds patience = kAtOnce);
  FtpDialogue(const char* from, std::uint16_t port);

  void log_in();
  [[nodiscard]] bool send(const std::string& line) const { return control_.send(line + "\r\n"); }
  [[nodiscard]] bool send_raw(std::string_view bytes) const { return control_.send(bytes); }
  /// The code of the next reply, whatever it is; 0: none came.
  int hear();
  /// The code of the next reply that is neither a beginning nor a marker.
  int hear_end();
  int ask(const std::string& line);
  [[nodiscard]] std::uint16_t passive();
  [[nodiscard]] const std::string& said() const { return said_; }
  [[nodiscard]] bool hung_up() const { return control_.receive_end(); }

 private:
  TcpClient control_;
  std::string said_;
};

}  // namespace udtcat::test::e2e
