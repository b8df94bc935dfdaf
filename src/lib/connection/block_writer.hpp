// SPDX-License-Identifier: Apache-2.0
/// Fills blocks with the control frames and the data of all streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include <udtcat/options.hpp>
#include <udtcat/units.hpp>

#include "lib/connection/frame.hpp"
#include "lib/connection/mux_stream.hpp"

namespace udtcat::connection {

/// Control frames first, then the streams that are ready, by start-time fair queueing (Goyal, Vin and Cheng, 1996): a
/// stream's next turn starts, in virtual time, where what it has used so far ends, and nobody's starts in the past. The
/// turn that starts first is next, to kQuantum bytes; of those that start together a stream that had little to say goes
/// before one that had more than fitted. So streams share evenly however large blocks are, and a word waits for no
/// bulk: it goes first in the next block, or in one of its own (Content::interactive). A turn is what is left of the
/// block, since a block that is one piece is copied once less at the other end.
/// Takes the bytes that are there and never waits for more: when the source is slower than the path each write becomes
/// a block at once; when it is faster, blocks fill while earlier ones are on their way.
/// Bounded: control frames by what the peer's own frames and streams can cause (see kMaxControlBytes); streams by their
/// number.
/// Threads: confined to the io_context thread. Streams are forgotten before they die.
class BlockWriter {
 public:
  /// Beyond this the multiplexer stops reading from the peer until it takes our control frames.
  static constexpr std::size_t kMaxControlBytes = 256 * kKiB;  // guess: 1024 streams' resets

  static constexpr std::size_t kQuantum = kMinBlockBytes;  // guess: a word, and no more than a block

  void queue(const Frame& frame);
  void add_ready(MuxStream& stream);
  void forget(MuxStream& stream);

  [[nodiscard]] bool has_control() const { return control_begin_ < control_.size(); }
  [[nodiscard]] bool has_data();
  /// Something that Composed::interactive would have a copy of: an OPEN, or a stream that may have little to say.
  [[nodiscard]] bool has_interactive();
  [[nodiscard]] std::size_t control_bytes() const { return control_.size() - control_begin_; }

  /// control: control frames alone. interactive: also data of streams whose last turn took all that they had. all: data
  /// of every stream.
  enum class Content { control, interactive, all };

  /// A block that was filled, from its start.
  struct Composed {
    std::size_t payload_bytes;  ///< 0: there was nothing after all
    /// Copies of its OPEN frames and, as EARLY frames, of what streams said in it that had little to say. Valid until
    /// the next block.
    std::span<const std::byte> interactive;
  };
  /// payload            at least kMinBlockBytes; for Content::interactive so many
  /// most_interactive_bytes   of Composed::interactive
  [[nodiscard]] Composed compose(std::span<std::byte> payload, Content content, std::size_t most_interactive_bytes);

 private:
  [[nodiscard]] std::size_t take_control(std::span<std::byte> room);
  /// A stream's place in the line.
  struct QueuePosition {
    std::uint64_t round = 0;  // of kQuantum bytes of virtual time
    bool has_more = false;    // than its last turn had room for
    std::uint64_t order = 0;  // of those alike
    MuxStream* stream = nullptr;

    auto operator<=>(const QueuePosition&) const = default;
  };
  struct Account {
    std::uint64_t start = 0;  // of its next turn, in bytes of virtual time
    QueuePosition turn;
  };

  void line_up(Account& account, bool has_more);
  [[nodiscard]] MuxStream* next_stream();
  [[nodiscard]] std::size_t take_turn(MuxStream& stream, std::span<std::byte> room);
  void note_interactive(const MuxStream& stream, std::span<const std::byte> data, std::uint64_t offset);

  std::vector<std::byte> control_;  // whole frames
  std::size_t control_begin_ = 0;
  std::size_t opens_ = 0;                             // of those frames
  std::unordered_map<MuxStream*, Account> accounts_;  // of each stream that has ever been ready
  std::set<QueuePosition> line_;                      // of those that are
  std::uint64_t virtual_time_ = 0;  // the latest start of a turn; of one that went early, at most the end of its round
  std::uint64_t next_order_ = 0;
  std::vector<std::byte> interactive_;
  std::size_t most_interactive_bytes_ = 0;
};

}  // namespace udtcat::connection
