// SPDX-License-Identifier: Apache-2.0
/// A session with one authenticated peer: blocks are sent as sealed records over its flows.
///
///   async_write ─ number, header ─► lane seals ─► header enciphered ─► a flow
///   async_read ◄─ in order ◄─ lane opens ◄─ RecordReader: header deciphered and checked, body ◄─ flows
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "lib/core/buffer.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/crypto/header_cipher.hpp"
#include "lib/session/flows.hpp"
#include "lib/session/join.hpp"
#include "lib/session/key_schedule.hpp"
#include "lib/session/lanes.hpp"
#include "lib/session/parameters.hpp"
#include "lib/session/priority_datagrams.hpp"
#include "lib/session/record_format.hpp"
#include "lib/session/record_reader.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::session {

/// The credit of a new stream; each end names its own in the handshake.
inline constexpr std::uint32_t kInitialWindowBytes = 256 * kKiB;  // spec: stream.md §4

/// Blocks in progress beside those of flows and threads.
inline constexpr std::size_t kBlocksAhead = 2;  // guess: one that is composed, one that leaves; bench/loopback

/// The blocks that wait for the transport: as many as keep threads and flows busy, or, where interactive data may come
/// beside bulk, no more than leaves within milliseconds (ADR-0038).
enum class SendQueueDepth { deep, shallow };

/// Blocks of interactive data beside those: each is short, and copied once it is sealed.
inline constexpr std::size_t kInteractiveBlocks = 16;  // guess: 64 KiB while two blocks leave on a slow path

/// A block is this part of what one flow has ahead of its transport, so that one leaves while the others wait;
/// wants_block() bounds how many there are.
inline constexpr std::uint64_t kBlocksOfAhead = 4;  // guess: a block of two milliseconds on a slow path; bench/query

/// Flows that were replaced, and are still read to their end; more at a time are a peer's that does nothing else.
inline constexpr std::size_t kMaxReplacedFlows = 32;  // guess: each flow twice

/// A record that fills less than one part in so many of its buffer is copied before the transport may keep it.
inline constexpr std::size_t kSparseShare = 8;  // guess

///   made ──start()──► running ──close()──► closed
///
/// Begins with one flow; others join it while it runs, and take the places of those that are lost: what a peer's
/// transport had not acknowledged goes out on them again, as it was sealed.
///
/// Bounded: wants_block() is false, and nothing is read ahead, from 2 × threads + 2 × flows + 2 blocks on in a
/// direction; has_room_for_interactive() is false from kInteractiveBlocks more on. Buffers of blocks that the transport
/// retains, or that the caller keeps, are counted on top of that.
/// Threads: confined to the io_context thread, as Channel. After destruction no handler is called.
class Session {
 public:
  using ReadHandler = std::function<void(Result<Block>)>;
  using WriteHandler = std::function<void(Status)>;
  using PriorityHandler = std::function<void(std::span<const std::byte>)>;

  /// keys    none exactly at auth and clear
  /// first   the channel of the handshake
  Session(boost::asio::io_context& io, Role role, const NegotiatedParameters& agreed, std::optional<KeySchedule> keys,
          std::unique_ptr<transport::Channel> first);

  [[nodiscard]] Role role() const { return role_; }
  [[nodiscard]] const NegotiatedParameters& agreed() const { return agreed_; }
  [[nodiscard]] Endpoint peer() const { return flows_.peer(); }

  /// Where several flows are agreed on: the key by which the others prove that they belong to this session.
  void allow_flows(JoinKey key) { join_key_.emplace(std::move(key)); }
  /// Null where there is to be one flow.
  [[nodiscard]] const JoinKey* join_key() const { return join_key_ ? &*join_key_ : nullptr; }
  /// Call before another flow may be there at the peer: records may come by it.
  void expect_flows() { reader_->expect_flows(); }
  /// While it runs: a channel that has joined, in the place of the flow's earlier one.
  /// errors   Errc::authentication_failed: the attempt is not above the last of its flow, or there are enough flows
  [[nodiscard]] Status check_flow(const FlowName& name);
  /// joined_bytes   that came on the channel for the join
  /// place          kept as long as the channel
  void add_flow(std::unique_ptr<transport::Channel> channel, const FlowName& name, std::uint64_t joined_bytes,
                std::shared_ptr<void> place = std::make_shared<char>());
  /// The place of the channel that this one will replace, where none but that has it; null: it needs one of its own.
  [[nodiscard]] std::shared_ptr<void> place_to_share(const FlowName& name);
  /// Whether there is, or was, a channel for that flow which no other has replaced.
  [[nodiscard]] bool has_flow(std::uint8_t flow) { return flows_.find(flow) != nullptr; }
  [[nodiscard]] bool has_room_for_flow() const { return flows_.size() < kMaxFlows + kMaxReplacedFlows; }
  /// Called when a flow has ended that another may replace, not from inside a call.
  void on_flow_ended(std::function<void()> handler) { flow_ended_ = std::move(handler); }
  [[nodiscard]] std::vector<FlowProgress> flow_progress();
  /// Whether it gets no blocks while others can carry them.
  void set_stalled(std::uint8_t flow, bool stalled);
  /// Whether what is lost with a flow can be sent again on another.
  [[nodiscard]] bool can_replace_flows() const { return flows_.first().can_be_replaced(); }

  /// Of all flows together: how many written bytes the transport may retain until they are acknowledged.
  [[nodiscard]] std::uint64_t retained_limit_bytes() const { return flows_.retained_limit_bytes(); }

  /// Gives the lanes their secrets and forgets the keys. Once, before the first block.
  /// threads       that seal and open, at most as many as there are lanes; none: one for each core
  /// kept_blocks   how many blocks that were read the caller keeps at most
  /// errors        Errc::cipher_failed; Errc::out_of_resources
  [[nodiscard]] Status start(std::optional<std::size_t> threads, std::size_t kept_blocks,
                             SendQueueDepth ahead = SendQueueDepth::deep);

  /// Whether less is on its way to the transport than keeps lanes and flows busy, or the path.
  [[nodiscard]] bool wants_block() const;
  /// How much payload the next block is to have at most.
  [[nodiscard]] std::size_t next_block_bytes() const;
  /// Whether the transport has taken every block that was written.
  [[nodiscard]] bool all_written() const { return writing_ == 0; }
  /// Memory for a block: its payload is to be written into payload_room(). None while all of it is in use; the
  /// transport gives some back with each block that it takes.
  [[nodiscard]] std::optional<Block> empty_block();
  /// Sends a block with a payload behind those written before it, also where wants_block() is false. `handler` is
  /// called when the transport has taken it up, in any order where there are several flows, and never from inside.
  /// errors   Errc::cipher_failed and Errc::key_exhausted: the block was not sent, and nothing after it makes sense to
  ///          the peer; Errc::connection_broken
  enum class Content { bulk, interactive };
  void async_write(Block block, WriteHandler handler, Content content = Content::bulk);

  /// Whether a block of interactive data, of kMinBlockBytes at most, may be written although wants_block() is false: in
  /// the next block of bulk they would wait for long on a slow path.
  [[nodiscard]] bool has_room_for_interactive() const {
    return ahead_ == SendQueueDepth::shallow && writing_interactive_ < kInteractiveBlocks;
  }
  /// How much payload may go as a priority datagram now: 0 where nothing would hold up the next block, at auth and
  /// clear, and where the queue is deep.
  [[nodiscard]] std::size_t priority_room_bytes();
  /// Sends a copy of data that a block carries as well, beside the blocks: it comes sooner, or not at all.
  /// payload   1 to priority_room_bytes()
  void send_priority_datagram(std::span<const std::byte> payload);
  /// `handler` gets the peer's priority datagrams, in the order of sending, with gaps; valid during the call.
  void on_priority_datagram(PriorityHandler handler) { priority_handler_ = std::move(handler); }

  /// Gives the next block of the peer, opened. One at a time; records are read ahead. `handler` is never called from
  /// inside.
  /// errors   after the blocks before it, and sticky. Errc::tampered (Errc::protocol_violated at auth and clear);
  ///          Errc::cipher_failed; Errc::key_exhausted; Errc::connection_broken
  void async_read(ReadHandler handler);
  /// The caller has given up a block that it kept: reading goes on if it waited for memory.
  void on_block_released() { read_on(); }

  /// Packets and flows, lanes and blocks; streams and their bytes are not known here.
  [[nodiscard]] ConnectionStats stats();
  void add_end_stats(EndStats& end) const;
  /// Whether most of what was written is with the lanes.
  [[nodiscard]] bool waits_for_lanes() const { return 2 * being_sealed_.size() > writing_; }
  [[nodiscard]] std::uint64_t received_bytes() { return reader_->received_bytes(); }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() {
    return flows_.port_closed_since();
  }
  void try_path(const Endpoint& address) { flows_.try_path(address); }
  void watch_path(const std::optional<Endpoint>& fallback) { flows_.watch_path(fallback); }
  [[nodiscard]] bool path_is_silent() const { return flows_.path_is_silent(); }
  void set_tunnel(std::function<void(std::span<const std::byte>)> send) { flows_.set_tunnel(std::move(send)); }
  void take_from_tunnel(std::span<const std::byte> packet) { flows_.take_from_tunnel(packet); }
  /// Written blocks are still sent until `drain` is over; nothing more is read.
  void close(std::chrono::milliseconds drain);

 private:
  enum class State { made, running, closed };
  struct PendingWrite {
    std::size_t payload_bytes;
    WriteHandler handler;
    Content content;
  };

  [[nodiscard]] Result<std::optional<crypto::HeaderCipher>> header_cipher(Direction direction) const;
  [[nodiscard]] std::size_t thread_count(std::optional<std::size_t> wanted) const;
  /// So many blocks on their way keep the flows busy, and the threads where they are at work.
  [[nodiscard]] std::size_t blocks_wanted() const { return kBlocksAhead + 2 * stats_.flows + 2 * working_threads(); }
  [[nodiscard]] std::size_t working_threads() const { return lanes_->hands_over() ? stats_.threads : 0; }
  [[nodiscard]] Status start_priority_datagrams();
  void take_datagrams(Flow& flow);
  void on_flow_broken();
  void on_datagram(std::span<const std::byte> bytes);
  void on_sealed(Result<Block> sealed);
  void send(Block block, PendingWrite pending);
  void write_on(Flow& flow, core::SharedBytes record, std::function<void(Status)> taken);
  void on_taken(Flow& flow, std::uint64_t place, std::size_t count, const Status& status);
  void finish(const PendingWrite& pending, const Status& status);
  void read_on();
  void on_record(Result<Block> record);
  void on_opened(Result<Block> opened);
  void hand_on();

  boost::asio::io_context& io_;
  const Role role_;
  const NegotiatedParameters agreed_;
  std::optional<KeySchedule> keys_;  // until start(): they would open every epoch
  std::optional<JoinKey> join_key_;
  std::function<void()> flow_ended_;
  ConnectionStats stats_;    // constants, the blocks, and once closed the packets as they were
  EndStats last_end_stats_;  // once closed
  State state_ = State::made;

  std::optional<crypto::HeaderCipher> outgoing_headers_;  // none at auth and clear
  std::optional<core::BufferPool> outgoing_buffers_;
  BlockNumber next_out_ = 0;
  SendQueueDepth ahead_ = SendQueueDepth::deep;
  std::size_t writing_ = 0;                // not yet taken by the transport
  std::size_t writing_interactive_ = 0;    // of those, interactive blocks
  std::uint64_t writing_bytes_ = 0;        // payload of those
  std::deque<PendingWrite> being_sealed_;  // of the blocks with the lanes, in order

  std::optional<PriorityDatagrams> priority_datagrams_;  // where the queue is shallow
  PriorityHandler priority_handler_;

  std::optional<core::BufferPool> incoming_buffers_;
  bool reading_ = false;              // a record
  std::size_t opening_ = 0;           // records with the lanes
  std::deque<Result<Block>> opened_;  // and not yet asked for; an error is the last
  std::optional<Error> read_error_;   // sticky: no more records are read
  ReadHandler read_handler_;
  bool handing_on_ = false;

  std::optional<RecordReader> reader_;  // once started; before the flows, whose threads fill its memory
  Flows flows_;
  std::unique_ptr<LanePool> lanes_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::session
