// SPDX-License-Identifier: Apache-2.0
/// One stream: pulls from the local source into blocks, pushes what arrives to the local sink, ends with proof.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/connection.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/connection/credit.hpp"
#include "lib/connection/frame.hpp"
#include "lib/core/buffer.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::connection {

/// Bytes that arrived and wait for the consumer. A big piece keeps the block it came in; small ones are copied out and
/// gathered, so that what is held is at most about twice what credit allows, however finely the peer cuts its data.
struct Slice {
  core::Buffer memory;          ///< empty for a copy
  std::vector<std::byte> copy;  ///< empty for a piece that kept its block
  std::span<const std::byte> rest;
};

class MuxStream;

/// A stream's view of its multiplexer.
class StreamHost {
 public:
  virtual void send(Frame frame) = 0;
  /// The stream's source may have bytes, and there is credit for them.
  virtual void source_ready(MuxStream& stream) = 0;
  virtual void count_sent(std::size_t bytes) = 0;
  /// The consumer took bytes; the blocks that held them may be free.
  virtual void count_consumed(std::size_t bytes) = 0;
  /// One stream more, or one less, has no credit for what its source may have.
  virtual void note_starved(bool starved) = 0;
  /// The consumer of one stream more, or of one less, is being written to.
  virtual void note_consuming(bool consuming) = 0;
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// The connection's, as it was not long ago; 0: not known yet.
  [[nodiscard]] virtual std::chrono::microseconds rtt() const = 0;
  /// Called once. The stream is not used after it, and is destroyed later, not within the call.
  virtual void stream_over(MuxStream& stream, StreamOutcome outcome) = 0;

 protected:
  ~StreamHost() = default;
};

///   outgoing:  open ◄──the source has nothing, has something──► waiting
///              open ──the source ends, our FIN──► finished ──their RECEIPT──► receipted
///   incoming:  open ──their FIN──► finished ──all is written──► draining ──consumer has it, our RECEIPT──► receipted
///              open ──their RESET: their command failed──► cut ──all is written──► over
///   over when both are receipted, or by another reset from either end, or with the connection
///
/// Threads: confined to the io_context thread. The host must outlive it.
class MuxStream {
 public:
  MuxStream(StreamId id, StreamHost& host, std::uint64_t send_window_bytes, std::uint64_t receive_window_bytes,
            WindowBudget& budget);
  MuxStream(const MuxStream&) = delete;
  MuxStream& operator=(const MuxStream&) = delete;

  [[nodiscard]] StreamId id() const { return id_; }
  /// Bytes flow from now on; those that came before were kept.
  void attach(std::unique_ptr<LocalStream> local);

  /// Whether fill() has something to do now.
  [[nodiscard]] bool can_fill() const;
  static constexpr std::size_t kMinFillBytes = 64;  // guess: a DATA header, a byte and a FIN are 25; less is no use
  /// Writes at most one DATA frame, and FIN when the source has ended, into `room`; gives the bytes used.
  /// room   at least kMinFillBytes
  [[nodiscard]] std::size_t fill(std::span<std::byte> room);

  /// Frames from the peer.  errors: Errc::protocol_violated
  /// block   that the frame came in: taken where most of it is the frame's data
  [[nodiscard]] Status on_frame(const Frame& frame, core::Buffer& block);
  [[nodiscard]] Status on_data(Slice slice);
  [[nodiscard]] Status on_fin(std::uint64_t total_bytes);
  [[nodiscard]] Status on_receipt(std::uint64_t total_bytes);
  [[nodiscard]] Status on_credit(std::uint64_t limit_bytes);
  void on_reset(const Reset& reset);
  /// A copy of what DATA will bring. One that is not of the next bytes is passed over.  errors: Errc::protocol_violated
  [[nodiscard]] Status on_early(const Early& early);
  /// The part of DATA's bytes that no early copy has brought; to be called for each before on_data().
  [[nodiscard]] std::span<const std::byte> unseen(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t sent_bytes() const { return send_credit_.sent_bytes(); }
  /// All of the source is sent, and the peer's consumer has not taken all.
  [[nodiscard]] bool awaits_receipt() const { return outgoing_ == Outgoing::finished; }
  /// The peer's command has failed. What came before is still being written; nothing is sent or taken any more.
  [[nodiscard]] bool is_cut() const { return incoming_ == Incoming::cut; }
  /// All that it had to send has been taken.
  [[nodiscard]] bool is_receipted() const { return outgoing_ == Outgoing::receipted; }

  /// Ends the stream from this side and tells the peer.
  void reset(ResetCause cause, Error error);
  /// Ends it without a word: the connection is gone.
  void fail(Error error);

 private:
  enum class Outgoing { open, waiting, finished, receipted };
  enum class Incoming { open, finished, draining, receipted, cut };

  void fail_locally(ResetCause cause, std::error_code error);
  void wait_for_source();
  void note_credit();
  void keep(Slice slice);
  void write_on();
  void on_written(std::error_code error, std::size_t bytes);
  void finish_sink();
  void on_drained(std::error_code error);
  void end_when_receipted();
  void end(std::optional<Error> error);

  const StreamId id_;
  StreamHost& host_;
  bool over_ = false;

  Outgoing outgoing_ = Outgoing::open;
  SendCredit send_credit_;
  bool starved_ = false;  // of credit, as the host was told
  std::uint64_t receipted_bytes_ = 0;

  Incoming incoming_ = Incoming::open;
  ReceiveCredit receive_credit_;
  std::uint64_t early_bytes_ = 0;  // received, and still to come as DATA
  std::deque<Slice> arrived_;      // bounded by receive_credit_
  bool writing_ = false;           // of the first of arrived_
  std::optional<Error> cut_by_;    // of Incoming::cut

  std::unique_ptr<LocalStream> local_;  // last but one: its threads end before what they write from

  core::Lifetime lifetime_;
};

}  // namespace udtcat::connection
