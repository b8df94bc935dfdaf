// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/stream_pair.hpp"

#include <algorithm>
#include <cstring>

#include <boost/asio/post.hpp>

#include "lib/bridge/byte_ring.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {
namespace {

/// One direction.
///
///   open ── finish ──► finishing ── all read ──► ended        open, finishing ── either end breaks ──► broken
class HalfPipe {
 public:
  HalfPipe(boost::asio::io_context& io, LargeWrites large) : io_(io), large_(large) {}

  LocalStream::ReadResult read_some(std::span<std::byte> into) {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const auto piece = ring_.readable().first(std::min(ring_.readable().size(), into.size() - filled));
      if (piece.empty()) break;
      std::memcpy(into.data() + filled, piece.data(), piece.size());  // GCC 12: std::ranges::copy goes by bytes
      ring_.consume(piece.size());
      filled += piece.size();
    }
    ring_.rewind();
    filled += read_pending(into.subspan(filled));
    if (filled == 0) return nothing_to_read();
    if (pending_write_ && !stays_uncopied(pending_bytes_)) store(std::exchange(pending_write_, {}), pending_bytes_);
    if (ring_.size_bytes() == 0 && state_ == State::finishing) end();
    return {.state = LocalStream::ReadState::data, .bytes = filled};
  }
  void wait_readable(LocalStream::WaitHandler handler) {
    if (ring_.size_bytes() > 0 || pending_write_ || state_ == State::ended || state_ == State::broken)
      return post(std::move(handler));
    waiting_reader_ = std::move(handler);
  }
  void write_some(std::span<const std::byte> from, LocalStream::WriteHandler handler) {
    UDTCAT_INVARIANT(!pending_write_ && state_ != State::finishing, "one write at a time, none after the finish");
    if (state_ == State::broken) return post([handler = std::move(handler)] { handler(kReset, 0); });
    if (ring_.free_bytes() > 0 && !stays_uncopied(from)) return store(std::move(handler), from);
    pending_write_ = std::move(handler);
    pending_bytes_ = from;
    wake_reader();
  }
  void finish(LocalStream::FinishHandler handler) {
    if (state_ == State::broken) return post([handler = std::move(handler)] { handler(kReset); });
    state_ = State::finishing;
    finisher_ = std::move(handler);
    if (ring_.size_bytes() == 0) end();
  }
  /// For both ends, unless everything has been read and the end with it.
  void break_off() {
    if (state_ == State::ended || state_ == State::broken) return;
    state_ = State::broken;
    if (pending_write_) post([handler = std::exchange(pending_write_, {})] { handler(kReset, 0); });
    if (finisher_) post([handler = std::exchange(finisher_, {})] { handler(kReset); });
    wake_reader();
  }
  /// Handlers that have not been called are its own, and are not called any more.
  void forget_writer() {
    pending_write_ = {};
    finisher_ = {};
  }
  void forget_reader() { waiting_reader_ = {}; }

 private:
  enum class State { open, finishing, ended, broken };
  inline static const std::error_code kReset = std::make_error_code(std::errc::connection_reset);

  [[nodiscard]] LocalStream::ReadResult nothing_to_read() const {
    if (state_ == State::ended) return {.state = LocalStream::ReadState::end};
    if (state_ == State::broken) return {.state = LocalStream::ReadState::failed, .error = kReset};
    return {.state = LocalStream::ReadState::would_block};
  }
  [[nodiscard]] bool stays_uncopied(std::span<const std::byte> from) const {
    return large_ == LargeWrites::uncopied && from.size() >= kUncopiedBytes;
  }
  /// Bytes of the pending write, behind those of the ring. It is done with them: its writer sees that bytes move.
  std::size_t read_pending(std::span<std::byte> into) {
    if (!pending_write_ || into.empty()) return 0;
    const auto bytes = std::min(pending_bytes_.size(), into.size());
    std::memcpy(into.data(), pending_bytes_.data(), bytes);
    post([handler = std::exchange(pending_write_, {}), bytes] { handler({}, bytes); });
    return bytes;
  }
  void store(LocalStream::WriteHandler handler, std::span<const std::byte> from) {
    std::size_t stored = 0;
    while (stored < from.size()) {
      const auto room = ring_.writable().first(std::min(ring_.writable().size(), from.size() - stored));
      if (room.empty()) break;
      std::memcpy(room.data(), from.data() + stored, room.size());
      ring_.commit(room.size());
      stored += room.size();
    }
    wake_reader();
    post([handler = std::move(handler), stored] { handler({}, stored); });
  }
  void end() {
    state_ = State::ended;
    wake_reader();
    if (finisher_) post([handler = std::exchange(finisher_, {})] { handler({}); });
  }
  void wake_reader() {
    if (waiting_reader_) post(std::exchange(waiting_reader_, {}));
  }
  template <typename Handler>
  void post(Handler handler) {
    boost::asio::post(io_, std::move(handler));
  }

  boost::asio::io_context& io_;
  const LargeWrites large_;
  ByteRing ring_{kPairBytes};
  State state_ = State::open;
  LocalStream::WaitHandler waiting_reader_;
  LocalStream::WriteHandler pending_write_;  // the ring had no room, or it stays uncopied
  std::span<const std::byte> pending_bytes_;
  LocalStream::FinishHandler finisher_;
};

class PairEnd final : public LocalStream {
 public:
  PairEnd(std::shared_ptr<HalfPipe> in, std::shared_ptr<HalfPipe> out, std::string name)
      : in_(std::move(in)), out_(std::move(out)), name_(std::move(name)) {}
  ~PairEnd() override { abort(); }
  PairEnd(const PairEnd&) = delete;
  PairEnd& operator=(const PairEnd&) = delete;

  ReadResult read_some(std::span<std::byte> into) override { return in_->read_some(into); }
  void async_wait_readable(WaitHandler handler) override { in_->wait_readable(lifetime_.guard(std::move(handler))); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    out_->write_some(from, lifetime_.guard(std::move(handler)));
  }
  void async_finish(FinishHandler handler) override { out_->finish(lifetime_.guard(std::move(handler))); }
  void abort() override {
    lifetime_.end();
    in_->forget_reader();
    out_->forget_writer();
    in_->break_off();
    out_->break_off();
  }
  std::string source_name() const override { return name_; }
  std::string sink_name() const override { return name_; }

 private:
  const std::shared_ptr<HalfPipe> in_;
  const std::shared_ptr<HalfPipe> out_;
  const std::string name_;
  core::Lifetime lifetime_;
};

}  // namespace

std::pair<std::unique_ptr<LocalStream>, std::unique_ptr<LocalStream>> make_stream_pair(boost::asio::io_context& io,
                                                                                       std::string name,
                                                                                       LargeWrites large) {
  const auto there = std::make_shared<HalfPipe>(io, large);
  const auto back = std::make_shared<HalfPipe>(io, large);
  return {std::make_unique<PairEnd>(back, there, name), std::make_unique<PairEnd>(there, back, name)};
}

}  // namespace udtcat::bridge
