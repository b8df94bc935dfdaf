/// The authenticated relation with one peer: what the handshake settled, and records over its flows.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "lib/core/buffer.hpp"
#include "lib/crypto/header_cipher.hpp"
#include "lib/session/flows.hpp"
#include "lib/session/join.hpp"
#include "lib/session/key_schedule.hpp"
#include "lib/session/parameters.hpp"
#include "lib/session/record_format.hpp"
#include "lib/session/record_reader.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::session {

/// What a stream may send before it hears from its receiver; each end names its own in the handshake.
inline constexpr std::uint32_t kInitialWindowBytes = 256 * 1024;  // spec: stream.md §4

/// A record that fills less than one part in so many of its buffer is copied out of it before the transport may keep it.
inline constexpr std::size_t kSparseShare = 8;  // guess

/// Moves records; the lanes above make and open them. Errors are sticky. Nothing is read or written before the last flow
/// has joined.
/// Threads: confined to the io_context thread, as Channel. After destruction no handler is called.
class Session {
 public:
  using ReadHandler = RecordReader::Handler;
  using WriteHandler = std::function<void(Status)>;

  /// keys    none exactly at auth and clear
  /// first   the channel of the handshake
  /// errors  Errc::cipher_failed
  [[nodiscard]] static Result<std::unique_ptr<Session>> create(boost::asio::io_context& io, Role role,
                                                               const Agreed& agreed, std::optional<KeySchedule> keys,
                                                               std::unique_ptr<transport::Channel> first);

  [[nodiscard]] Role role() const { return role_; }
  [[nodiscard]] const Agreed& agreed() const { return agreed_; }
  /// Null at auth and clear, and once forgotten.
  [[nodiscard]] const KeySchedule* keys() const { return keys_ ? &*keys_ : nullptr; }
  /// The lanes have their own secrets now: what is left here would open every epoch.
  void forget_keys() { keys_.reset(); }

  /// Where several flows are agreed on: what the others prove themselves by.
  void await_flows(JoinKey key) { join_key_.emplace(std::move(key)); }
  /// Null where no flow is missing.
  [[nodiscard]] const JoinKey* join_key() const { return join_key_ ? &*join_key_ : nullptr; }
  /// A channel that has joined; with the last one join_key() is forgotten.
  void add_flow(std::unique_ptr<transport::Channel> channel);

  /// Of all flows together.
  [[nodiscard]] std::uint64_t retained_limit_bytes() const { return flows_.retained_limit_bytes(); }
  [[nodiscard]] transport::ChannelStats stats() { return flows_.stats(); }
  /// See RecordReader::heard_bytes.
  [[nodiscard]] std::uint64_t heard_bytes() { return reader_->heard_bytes(); }
  [[nodiscard]] Endpoint peer() const { return flows_.peer(); }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() {
    return flows_.port_closed_since();
  }
  void close(std::chrono::milliseconds drain);

  /// An empty block in `memory` with the next number of our direction and its header.
  [[nodiscard]] Block next_block(core::Buffer memory);
  /// Settles the block's size: writes its header, the last thing before a lane seals it.
  void finish_header(const Block& block) const;

  /// Sends a sealed block, in the order of the numbers; several may be outstanding, and their handlers come in any order where
  /// there are several flows. Its buffer is free once the peer's transport has it.
  void async_write(Block block, WriteHandler handler);
  /// See RecordReader::async_read.
  void async_read(core::Buffer memory, ReadHandler handler) {
    reader_->async_read(std::move(memory), std::move(handler));
  }

 private:
  Session(Role role, const Agreed& agreed, std::optional<KeySchedule> keys);
  [[nodiscard]] Result<std::optional<crypto::HeaderCipher>> header_cipher(Direction direction) const;

  const Role role_;
  const Agreed agreed_;
  std::optional<KeySchedule> keys_;
  std::optional<JoinKey> join_key_;
  std::optional<crypto::HeaderCipher> outgoing_headers_;  // none at auth and clear
  BlockNumber next_out_ = 0;
  std::optional<RecordReader> reader_;  // always, once created; before the flows, whose threads fill its memory
  Flows flows_;
};

}  // namespace udtcat::session
