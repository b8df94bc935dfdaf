// SPDX-License-Identifier: Apache-2.0
/// The channels of one session, seen as one. See docs/spec/record.md §5.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "lib/session/record_format.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::session {

/// The largest step between block numbers on one flow: a larger one is not the peer's.
inline constexpr BlockNumber kMaxFlowStep = 1024;  // spec: record.md §5
/// A flow that got none of so many blocks gets the next, however much it still has to send.
inline constexpr BlockNumber kFlowTurn = 512;  // spec: record.md §5; half the step, so that every flow's turn fits

/// One channel, and the state of both directions.
///
///   idle ──► header ──16 bytes──► in_hand ──its turn──► body ──► idle        header, body ──the channel ends──► ended
///   idle ──the header came with the body before──► in_hand
struct Flow {
  enum class Incoming { idle, header, in_hand, body, ended };

  explicit Flow(std::unique_ptr<transport::Channel> from) : channel(std::move(from)) {}

  std::uint64_t untaken_bytes = 0;   ///< written, and not yet taken by the transport
  BlockNumber least_out = 0;         ///< one more than the number of the last block sent on it
  BlockNumber least_in = 0;          ///< one more than the number of the last header read from it
  std::uint64_t received_bytes = 0;  ///< had come on it when it last could bring the next record
  Incoming incoming = Incoming::idle;
  std::array<std::byte, kRecordHeaderBytes> header{};  ///< being read; clear once in hand
  std::size_t header_bytes = 0;                        ///< of it that came with the body before
  RecordHeader in_hand{};                              ///< of the next record on this flow
  std::unique_ptr<transport::Channel> channel;         // last: its threads end before the bytes they fill
};

/// Not empty once the session has its first channel.
/// Threads: confined to the io_context thread, as Channel.
class Flows {
 public:
  void add(std::unique_ptr<transport::Channel> channel) { flows_.emplace_back(std::move(channel)); }
  [[nodiscard]] std::size_t size() const { return flows_.size(); }
  [[nodiscard]] auto begin() { return flows_.begin(); }
  [[nodiscard]] auto end() { return flows_.end(); }

  /// The flow that is to carry block `number`; called for each number once, in order.
  [[nodiscard]] Flow& choose(BlockNumber number);

  [[nodiscard]] std::uint64_t retained_limit_bytes() const;
  [[nodiscard]] std::uint64_t ahead_bytes() const;
  /// Sums, and the round trip of the first.
  [[nodiscard]] TransportStats stats();
  /// Adds sums, the least round trip, of the times the mean, and the sockets of the flow that dropped most.
  void add_end_stats(EndStats& end) const;
  [[nodiscard]] Endpoint peer() const { return flows_.front().channel->peer(); }
  /// The latest that any of them heard.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since();
  void trust_peer();
  void try_path(const Endpoint& address);
  void watch_path(const std::optional<Endpoint>& fallback);
  /// Of the first.
  [[nodiscard]] bool path_is_silent() const { return flows_.front().channel->path_is_silent(); }
  /// Flows share a port, and so the tunnel.
  void set_tunnel(std::function<void(std::span<const std::byte>)> send) {
    flows_.front().channel->set_tunnel(std::move(send));
  }
  void take_from_tunnel(std::span<const std::byte> packet) { flows_.front().channel->take_from_tunnel(packet); }
  void close(std::chrono::milliseconds drain);

 private:
  [[nodiscard]] Flow& least_loaded();

  std::deque<Flow> flows_;  // at most kMaxFlows; they stay where they are
  std::size_t turn_ = 0;    // the first to be asked, so that equals take turns
};

}  // namespace udtcat::session
