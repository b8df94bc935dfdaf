// SPDX-License-Identifier: Apache-2.0
/// The frames of docs/spec/stream.md §2: every number once, encoder and total decoder side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>

namespace udtcat::connection {

inline constexpr std::size_t kFrameHeaderBytes = 8;                                            // spec: stream.md §1
inline constexpr std::size_t kEarlyOverheadBytes = kFrameHeaderBytes + sizeof(std::uint64_t);  // spec: stream.md §2
inline constexpr std::size_t kMaxTextBytes = 256;                                              // spec: stream.md §2
inline constexpr StreamId kSessionStream = 0xffff'ffff;                                        // spec: stream.md §2

enum class ResetCause : std::uint8_t {
  read_failed = 1,
  write_failed = 2,
  connect_failed = 3,
  refused = 4,
  interrupted = 5
};
enum class CloseReason : std::uint8_t { done = 0, interrupted = 1, tampered = 2, protocol_violated = 3, failed = 4 };

struct Open {
  std::string service;  ///< the name of what it wants to reach; empty: what has no name
};
struct Data {
  std::span<const std::byte> bytes;  ///< in the block that was decoded
};
struct Fin {
  std::uint64_t total_bytes;
};
struct Receipt {
  std::uint64_t total_bytes;
};
struct CreditGrant {
  std::uint64_t limit_bytes;
};
/// A copy of DATA, in priority datagrams only.
struct Early {
  std::uint64_t offset;              ///< of the first byte in its stream
  std::span<const std::byte> bytes;  ///< in the payload that was decoded
};
struct Reset {
  ResetCause cause;
  std::uint32_t errno_value;
  std::string text;
};
struct Ping {
  std::uint64_t token;
};
struct Pong {
  std::uint64_t token;
};
struct Close {
  CloseReason reason;
  std::string text;
};

/// The statistics of the end that sends it.
struct Report {
  EndStats stats;
};

struct Frame {
  StreamId stream;
  std::variant<Open, Data, Fin, Receipt, CreditGrant, Early, Reset, Ping, Pong, Close, Report> body;
};

/// Appends one frame. Data is not written by this but in place (BlockWriter). Texts are cut to kMaxTextBytes.
void append_frame(std::vector<std::byte>& out, const Frame& frame);
/// Whether an encoded frame is an OPEN.
[[nodiscard]] bool is_open(std::span<const std::byte> frame);
/// The header of a DATA frame whose `length_bytes` of body stand behind it already.
void write_data_header(std::span<std::byte, kFrameHeaderBytes> out, StreamId stream, std::size_t length_bytes);

/// Reads the frames of one block in order.
/// Threads: unsynchronised. The block must outlive it and the spans it gives.
class FrameReader {
 public:
  explicit FrameReader(std::span<const std::byte> payload) : rest_(payload) {}
  /// The next frame, nothing at the end.  errors: Errc::protocol_violated; total: any bytes give one of the three
  [[nodiscard]] Result<std::optional<Frame>> next();

 private:
  std::span<const std::byte> rest_;
};

}  // namespace udtcat::connection
