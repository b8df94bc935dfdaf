// SPDX-License-Identifier: Apache-2.0
/// Reads records in the order of their numbers, whatever flow each comes by. See docs/spec/record.md §5.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/result.hpp>

#include "lib/core/buffer.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/crypto/header_cipher.hpp"
#include "lib/session/flows.hpp"
#include "lib/session/parameters.hpp"
#include "lib/session/record_format.hpp"

namespace udtcat::session {

/// How long the others may be silent after a flow has ended and none has come in its place: the other end of an idle
/// session may learn of it by its next sign of life.
inline constexpr auto kFlowGrace = std::chrono::seconds(12);  // spec: record.md §5
/// A number that is further ahead of the next one is not the peer's.
inline constexpr BlockNumber kMaxAhead = 1ULL << 22;  // spec: record.md §5: kMaxFlows full windows of the least blocks

/// Each flow is read up to its next header, the body of a record when it is the next one: no memory is held for blocks
/// out of order, and a flow that is ahead is held back by its own transport. A body is read together with the header
/// behind it, as far as that is there: in a busy flow one read a record. A record that has come before is passed over.
/// Threads: confined to the io_context thread. After destruction no handler is called; the flows are closed before it.
class RecordReader {
 public:
  using Handler = std::function<void(Result<Block>)>;

  /// flows      must outlive this, but for the calls of their handlers
  /// headers    none at auth and clear
  RecordReader(boost::asio::io_context& io, Flows& flows, const NegotiatedParameters& agreed,
               std::optional<crypto::HeaderCipher> headers);

  /// Reads the next record into `memory`; its header has been checked, its payload not. One at a time. Errors are
  /// sticky, and `handler` is never called from inside.
  /// errors   Errc::tampered (Errc::protocol_violated at auth and clear) for a header that cannot be right;
  ///          Errc::connection_broken
  void async_read(core::Buffer memory, Handler handler);

  /// From now on others may carry records too: the next number may be missing on a flow.
  void expect_flows() { several_ = true; }
  /// A flow has joined, in the place of `old` where there is one.
  void on_joined(Flow& flow, Flow* old);
  /// Called when a channel has ended that others may replace.
  void on_flow_ended(std::function<void()> handler) { flow_ended_ = std::move(handler); }
  /// The next record can come by no other flow, and something waits for it.
  [[nodiscard]] bool awaits(const Flow& flow) const;

  /// The bytes received on flows that may bring the next record: the peer is alive while this grows. Flows that are
  /// ahead do not count, since the flow that they wait for may be dead.
  [[nodiscard]] std::uint64_t received_bytes();

  /// Call before the channels are closed: the handler of a read in progress is dropped.
  void stop();

 private:
  void read_header(Flow& flow);
  void on_header(Flow& flow);
  [[nodiscard]] Status check_header(Flow& flow);
  [[nodiscard]] bool take_next();
  [[nodiscard]] bool may_bring_next(const Flow& flow) const;
  void go_on();
  void read_body(Flow& flow);
  void pass_over(Flow& flow);
  [[nodiscard]] BlockNumber wanted() const { return next_ - (body_flow_ != nullptr ? 1 : 0); }
  void remove_replaced();
  void remove(Flow& flow);
  void on_ended(Flow& flow, const Error& error);
  void arm_grace();
  void on_grace_over(BlockNumber armed_at);
  [[nodiscard]] tl::unexpected<Error> refuse(std::string why) const;
  void give_up(Error error);
  void finish(Result<Block> outcome);

  Flows& flows_;
  const NegotiatedParameters agreed_;
  std::optional<crypto::HeaderCipher> headers_;
  std::function<void()> flow_ended_;
  bool several_;                  // flows are, were or may soon be there: a number may be missing on one
  BlockNumber next_ = 0;          // to be handed on, or with its body being read one more
  Flow* body_flow_ = nullptr;     // whose body is being read
  std::uint64_t gone_bytes_ = 0;  // received on flows that were removed
  Block reading_;                 // stays until its body is read, even after an error: the transport writes to it
  Handler handler_;
  std::optional<Error> failure_;  // sticky
  std::optional<Error> ended_;    // of the first flow that ended
  boost::asio::steady_timer grace_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::session
