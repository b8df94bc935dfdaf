// SPDX-License-Identifier: Apache-2.0
/// Performance markers (112) and restart markers (111), which a server sends while data move.  spec:
/// docs/spec/gridftp.md §5
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "files/byte_ranges.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/dialogue/reply.hpp"

namespace udtcat::gridftp {

inline constexpr std::chrono::milliseconds kMarkerInterval{1'000};  // guess: Globus' server has 5 s

[[nodiscard]] Reply performance_marker(std::chrono::system_clock::time_point now, std::uint64_t bytes);
[[nodiscard]] Reply range_marker(const files::ByteRanges& durable);

using SendReply = std::function<Task<Status>(Reply)>;

/// Sends markers from its making until stop().
/// Threads: confined to the io_context thread.
class TransferMarkers {
 public:
  /// durable   what is stored so that it need not come again; none where we send
  TransferMarkers(boost::asio::io_context& io, SendReply send, std::function<std::uint64_t()> moved,
                  std::function<files::ByteRanges()> durable);
  ~TransferMarkers();
  TransferMarkers(const TransferMarkers&) = delete;
  TransferMarkers& operator=(const TransferMarkers&) = delete;
  /// Returns when no marker will follow.
  [[nodiscard]] Task<void> stop();

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with its coroutine
};

}  // namespace udtcat::gridftp
