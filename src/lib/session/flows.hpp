// SPDX-License-Identifier: Apache-2.0
/// The channels of one session, seen as one. See docs/spec/record.md §5.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "lib/session/join.hpp"
#include "lib/session/record_format.hpp"
#include "lib/session/sent_records.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::session {

/// The channel that has, or had, a flow's place, and the state of both directions.
///
///   idle ──► header ──16 bytes──► in_hand ──its turn──► body ──► idle        header, body ──the channel ends──► ended
///   idle ──the header came with the body before──► in_hand ──it came by another flow──► repeated ──► idle
struct Flow {
  enum class Incoming { idle, header, in_hand, body, repeated, ended };

  Flow(std::unique_ptr<transport::Channel> from, const FlowName& called, std::uint64_t came_before,
       std::shared_ptr<void> held)
      : name(called),
        place(std::move(held)),
        written_bytes(from->written().value_or(transport::Channel::Written()).bytes),
        joined_bytes(came_before),
        channel(std::move(from)) {}

  /// Its records can be sent again: it is known which ones the peer's transport has.
  [[nodiscard]] bool can_be_replaced() const { return channel->written().has_value(); }
  /// Forgets the records that need not be sent again.
  void forget_acknowledged() {
    const auto written = channel->written();
    sent.forget_before(written ? written->acknowledged : UINT64_MAX);
  }

  const FlowName name;
  const std::shared_ptr<void> place;  ///< for as long as its channel holds memory; two channels at most have one
  bool replaced = false;              ///< another channel has its place: it is read to its end, and gets nothing more
  bool broken = false;                ///< its channel has ended
  bool removed = false;               ///< handlers that still come do nothing
  bool stalled = false;               ///< it gets no blocks while others are there: its path is silent, or it rests
  SentRecords sent{};
  std::uint64_t written_bytes;            ///< to its channel
  const std::uint64_t joined_bytes;       ///< of the join: no sign of life of the session
  std::uint64_t turn = 0;                 ///< when it was chosen last
  std::uint64_t untaken_bytes = 0;        ///< written, and not yet taken by the transport
  BlockNumber least_in = 0;               ///< one more than the number of the last header read from it
  std::optional<BlockNumber> first_in{};  ///< the number of its first header
  std::uint64_t received_bytes = 0;       ///< had come on it when it last could bring the next record
  Incoming incoming = Incoming::idle;
  std::array<std::byte, kRecordHeaderBytes> header{};  ///< being read; clear once in hand
  std::size_t header_bytes = 0;                        ///< of it that came with the body before
  RecordHeader in_hand{};                              ///< of the next record on this flow
  std::vector<std::byte> repeated{};                   ///< room for a body that nobody needs
  std::unique_ptr<transport::Channel> channel;         // last: its threads end before the bytes they fill
};

/// How far a flow has come, to be watched.
struct FlowProgress {
  FlowName name;
  bool broken = false;
  bool awaited = false;  ///< the next record can come by no other flow
  std::optional<std::chrono::steady_clock::time_point> unanswered_since{};  ///< see Channel::Written
  std::uint64_t acknowledged = 0;  ///< bytes, of what was written to its channel
  std::uint64_t received = 0;      ///< bytes
  std::optional<std::chrono::microseconds> rtt{};
};

/// Not empty once the session has its first channel.
/// Threads: confined to the io_context thread, as Channel.
class Flows {
 public:
  /// See Session::add_flow().
  Flow& add(std::unique_ptr<transport::Channel> channel, const FlowName& name = {}, std::uint64_t joined_bytes = 0,
            std::shared_ptr<void> place = std::make_shared<char>()) {
    return flows_.emplace_back(std::move(channel), name, joined_bytes, std::move(place));
  }
  /// Its counters stay in the sums. Its handlers may still be called, until forget_removed().
  void remove(Flow& flow);
  void forget_removed() { removed_.clear(); }
  [[nodiscard]] std::size_t size() const { return flows_.size(); }
  [[nodiscard]] auto begin() { return flows_.begin(); }
  [[nodiscard]] auto end() { return flows_.end(); }
  [[nodiscard]] auto begin() const { return flows_.begin(); }
  [[nodiscard]] auto end() const { return flows_.end(); }
  /// The flow of that number which has not been replaced; null: there is none.
  [[nodiscard]] Flow* find(std::uint8_t number);
  /// Those that carry blocks: neither broken nor replaced.
  [[nodiscard]] std::size_t usable() const;

  /// The flow that is to carry the next record.
  [[nodiscard]] Flow& choose();
  /// The first that is usable.
  [[nodiscard]] Flow& first();
  // SAFETY: the other first() changes nothing.
  [[nodiscard]] const Flow& first() const { return const_cast<Flows*>(this)->first(); }

  [[nodiscard]] std::uint64_t retained_limit_bytes() const;
  [[nodiscard]] std::uint64_t ahead_bytes() const;
  void forget_acknowledged();
  /// Sums, and the round trip of the first.
  [[nodiscard]] TransportStats stats();
  /// Adds sums, the least round trip, of the times the mean, and the sockets of the flow that dropped most.
  void add_end_stats(EndStats& end) const;
  [[nodiscard]] Endpoint peer() const { return first().channel->peer(); }
  /// The latest that any of them heard.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since();
  void trust_peer();
  void try_path(const Endpoint& address);
  void watch_path(const std::optional<Endpoint>& fallback);
  /// Of the first.
  [[nodiscard]] bool path_is_silent() const { return first().channel->path_is_silent(); }
  /// The tunnel is that of the first flow's port.
  void set_tunnel(std::function<void(std::span<const std::byte>)> send) {
    first().channel->set_tunnel(std::move(send));
  }
  void take_from_tunnel(std::span<const std::byte> packet) { first().channel->take_from_tunnel(packet); }
  void close(std::chrono::milliseconds drain);

 private:
  std::list<Flow>
      flows_;  // at most kMaxFlows, and those that were replaced (kMaxReplacedFlows); they stay where they are
  std::list<Flow> removed_;
  std::uint64_t turns_ = 0;  // blocks that were given to one
  TransportStats gone_{};    // of the flows that were removed
  EndStats gone_end_{};      // likewise
};

}  // namespace udtcat::session
