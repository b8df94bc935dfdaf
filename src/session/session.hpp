/// The authenticated relation with one peer: what the handshake settled, and records over its channel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <udtcat/result.hpp>

#include "core/buffer.hpp"
#include "core/lifetime.hpp"
#include "crypto/header_cipher.hpp"
#include "session/key_schedule.hpp"
#include "session/parameters.hpp"
#include "session/record_format.hpp"
#include "transport/channel.hpp"

namespace udtcat::session {

/// What a stream may send before it hears from its receiver; each end names its own in the handshake.
inline constexpr std::uint32_t kInitialWindowBytes = 256 * 1024;  // spec: stream.md §4

/// A record that fills less than one part in so many of its buffer is copied out of it before the transport may keep it.
inline constexpr std::size_t kSparseShare = 8;  // guess

/// Moves records; the lanes above make and open them. Errors are sticky.
/// Threads: confined to the io_context thread, as Channel. After destruction no handler is called.
class Session {
 public:
  using ReadHandler = std::function<void(Result<Block>)>;
  using WriteHandler = std::function<void(Status)>;

  /// keys   none exactly at auth and clear
  /// errors Errc::cipher_failed
  [[nodiscard]] static Result<std::unique_ptr<Session>> create(Role role, Agreed agreed,
                                                               std::optional<KeySchedule> keys,
                                                               std::unique_ptr<transport::Channel> channel);

  [[nodiscard]] Role role() const { return role_; }
  [[nodiscard]] const Agreed& agreed() const { return agreed_; }
  /// Null at auth and clear, and once forgotten.
  [[nodiscard]] const KeySchedule* keys() const { return keys_ ? &*keys_ : nullptr; }
  /// The lanes have their own secrets now: what is left here would open every epoch.
  void forget_keys() { keys_.reset(); }
  [[nodiscard]] transport::Channel& channel() { return *channel_; }

  /// An empty block in `memory` with the next number of our direction and its header.
  [[nodiscard]] Block next_block(core::Buffer memory);
  /// Settles the block's size: writes its header, the last thing before a lane seals it.
  void finish_header(const Block& block) const;

  /// Sends a sealed block; several may be outstanding. Its buffer is free once the peer's transport has it.
  void async_write(Block block, WriteHandler handler);
  /// Reads the next record into `memory`; its header has been checked, its payload not. One at a time.
  /// errors   Errc::tampered (Errc::protocol_violated at auth and clear) for a header that is not the next one;
  ///          Errc::connection_broken
  void async_read(core::Buffer memory, ReadHandler handler);

 private:
  Session(Role role, Agreed agreed, std::optional<KeySchedule> keys, std::unique_ptr<transport::Channel> channel);
  [[nodiscard]] Status make_header_ciphers();
  [[nodiscard]] std::uint16_t lane_of(BlockNumber number) const {
    return static_cast<std::uint16_t>(number % agreed_.lanes);
  }
  void on_header();
  [[nodiscard]] Status check_header();
  void finish_read(Status outcome);

  const Role role_;
  const Agreed agreed_;
  std::optional<KeySchedule> keys_;
  std::optional<crypto::HeaderCipher> outgoing_headers_;  // none at auth and clear
  std::optional<crypto::HeaderCipher> incoming_headers_;
  BlockNumber next_out_ = 0;
  BlockNumber next_in_ = 0;
  Block reading_;
  ReadHandler read_handler_;
  std::unique_ptr<transport::Channel> channel_;  // last but one: its handlers end before what they use
  core::Lifetime lifetime_;
};

}  // namespace udtcat::session
