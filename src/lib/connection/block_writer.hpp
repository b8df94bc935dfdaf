// SPDX-License-Identifier: Apache-2.0
/// Fills blocks with the control frames and the data of all streams.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <unordered_set>
#include <vector>

#include <udtcat/units.hpp>

#include "lib/connection/frame.hpp"
#include "lib/connection/mux_stream.hpp"

namespace udtcat::connection {

/// Control frames first, then the streams that are ready, in turn. A turn is what is left of the block, since a block
/// that is one piece is copied once less at the other end; where that is little the next block begins with the same
/// stream. Every other turn is for a stream that had nothing to say at its last (RFC 8290 §4.2), so that a word after a
/// silence waits for little more than a block, and nobody waits for words without end.
/// Takes the bytes that are there and never waits for more: when the source is slower than the path each write becomes
/// a block at once; when it is faster, blocks fill while earlier ones are on their way.
/// Bounded: control frames by what the peer's own frames and streams can cause (see kMaxControlBytes); streams by their
/// number.
/// Threads: confined to the io_context thread. Streams are forgotten before they die.
class BlockWriter {
 public:
  /// Beyond this the multiplexer stops reading from the peer until it takes our control frames.
  static constexpr std::size_t kMaxControlBytes = 256 * kKiB;  // guess: 1024 streams' resets

  /// Less is too little for a turn.
  static constexpr std::size_t kShortBytes = 16 * kKiB;  // guess: a sixteenth of a block; bench/query

  void queue(const Frame& frame);
  void add_ready(MuxStream& stream);
  void forget(MuxStream& stream);

  [[nodiscard]] bool has_control() const { return control_begin_ < control_.size(); }
  [[nodiscard]] bool has_data();
  [[nodiscard]] std::size_t control_bytes() const { return control_.size() - control_begin_; }

  /// A block that was filled, from its start.
  struct Composed {
    std::size_t payload_bytes;  ///< 0: there was nothing after all
    /// Copies of its OPEN frames and, as EARLY frames, of what streams said in it that had little to say. Valid until
    /// the next block.
    std::span<const std::byte> words;
  };
  /// payload            at least kMinBlockBytes
  /// with_data          false: control frames only
  /// most_words_bytes   of Composed::words
  [[nodiscard]] Composed compose(std::span<std::byte> payload, bool with_data, std::size_t most_words_bytes);

 private:
  [[nodiscard]] std::size_t take_control(std::span<std::byte> room);
  [[nodiscard]] std::deque<MuxStream*>* next_line();
  [[nodiscard]] std::size_t take_turn(std::deque<MuxStream*>& line, std::span<std::byte> room);
  void note_words(const MuxStream& stream, std::span<const std::byte> data, std::uint64_t offset);

  std::vector<std::byte> control_;  // whole frames
  std::size_t control_begin_ = 0;
  std::deque<MuxStream*> newcomers_;
  std::deque<MuxStream*> waiting_;
  bool newcomer_was_last_ = false;
  std::vector<std::byte> words_;
  std::size_t most_words_bytes_ = 0;
  std::unordered_set<MuxStream*> in_line_;  // in one of these
};

}  // namespace udtcat::connection
