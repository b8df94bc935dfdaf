// SPDX-License-Identifier: Apache-2.0
#include "trees/blocking_stream.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/bridge/byte_ring.hpp"
#include "lib/bridge/pending_call.hpp"
#include "lib/core/mutex.hpp"
#include "trees/bounded_queue.hpp"

namespace udtcat::trees {

namespace {

using Memory = std::vector<std::byte>;

constexpr std::size_t kWorthSparing = 262'144;  // guess: to fill smaller ones with zeros costs little
constexpr std::size_t kSpares = 4;              // guess: of a chunk each, as many as are on their way

Error stream_broken(const char* doing) { return {Errc::connection_broken, doing, "the transfer is over"}; }

std::error_code cancelled() { return std::make_error_code(std::errc::operation_canceled); }

}  // namespace

/// The state that the threads and the stream share.
/// Threads: internally synchronised.
struct BlockingStream::Shared {
  explicit Shared(boost::asio::io_context& io) : readable(io), writable(io) {}

  /// The stream's source may go on.
  void wake_source() {
    if (source_waits.exchange(false)) readable.complete();
  }
  void cut() {
    const core::MutexLock lock(mutex);
    is_cut = true;
    changed.notify_all();
    outgoing.close();
    wake_source();
    if (!held_back.empty()) {
      held_back = {};
      writable.complete(cancelled(), 0);
    }
  }
  /// Takes as much as fits: by the thread that has made room, or the io_context's.
  void take_held_back() UDTCAT_REQUIRES(mutex) {
    std::size_t taken = 0;
    while (taken < held_back.size() && incoming.free_bytes() > 0) {
      const auto space = incoming.writable();
      const std::size_t bytes = std::min(space.size(), held_back.size() - taken);
      std::memcpy(space.data(), held_back.data() + taken, bytes);
      incoming.commit(bytes);
      taken += bytes;
    }
    if (taken == 0) return;
    held_back = {};
    changed.notify_all();
    writable.complete(std::error_code(), taken);
  }

  bridge::PendingCall<> readable;
  bridge::PendingCall<std::error_code, std::size_t> writable;
  BoundedQueue<Memory> outgoing{kQueuedBytes, [](const Memory& memory) { return memory.size(); }};
  BoundedQueue<Memory> spares{kSpares};  // of memory; full: it is freed
  std::atomic<bool> source_waits{false};
  core::Mutex mutex;
  core::Condition changed;
  bridge::ByteRing incoming UDTCAT_GUARDED_BY(mutex){kRingBytes};  // but for the bytes that peek() lends
  std::span<const std::byte> held_back UDTCAT_GUARDED_BY(mutex);   // of a write for which there was no room
  bool incoming_ended UDTCAT_GUARDED_BY(mutex) = false;
  bool is_cut UDTCAT_GUARDED_BY(mutex) = false;
};

/// The connection's end of a BlockingStream.
/// Threads: confined to the io_context thread.
class BlockingStream::Local final : public LocalStream {
 public:
  Local(boost::asio::io_context& io, std::shared_ptr<Shared> shared) : shared_(std::move(shared)), finished_(io) {}
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;
  ~Local() override { drop(); }

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override {
    // Before the chunks: those that come in between are told of by the next call.
    const bool has_ended = shared_->outgoing.is_closed();
    std::size_t taken = 0;
    while (taken < into.size() && has_chunk()) {
      const std::size_t bytes = std::min(chunk_.size() - sent_, into.size() - taken);
      std::memcpy(into.data() + taken, chunk_.data() + sent_, bytes);
      sent_ += bytes;
      taken += bytes;
    }
    if (taken > 0) return {.state = ReadState::data, .bytes = taken};
    if (!has_ended) return {.state = ReadState::would_block};
    const core::MutexLock lock(shared_->mutex);
    if (shared_->is_cut) return {.state = ReadState::failed, .error = cancelled()};
    return {.state = ReadState::end};
  }
  void async_wait_readable(WaitHandler handler) override {
    shared_->readable.expect(std::move(handler));
    shared_->source_waits = true;
    if (!shared_->outgoing.empty() || shared_->outgoing.is_closed()) shared_->wake_source();
  }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    shared_->writable.expect(std::move(handler));
    const core::MutexLock lock(shared_->mutex);
    if (shared_->is_cut) return shared_->writable.complete(cancelled(), 0);
    shared_->held_back = from;
    shared_->take_held_back();
  }
  void async_finish(FinishHandler handler) override {
    {
      const core::MutexLock lock(shared_->mutex);
      shared_->incoming_ended = true;
      shared_->changed.notify_all();
    }
    finished_.expect(std::move(handler));
    finished_.complete(std::error_code());
  }
  void abort() override {
    drop();
    finished_.drop();
  }
  [[nodiscard]] std::string source_name() const override { return "the files"; }
  [[nodiscard]] std::string sink_name() const override { return "the files"; }

 private:
  /// Whether there are bytes of chunk_ to be sent.
  [[nodiscard]] bool has_chunk() {
    if (sent_ < chunk_.size()) return true;
    auto next = shared_->outgoing.try_pop();
    if (!next) return false;
    if (chunk_.capacity() >= kWorthSparing) std::ignore = shared_->spares.try_push(std::move(chunk_));
    chunk_ = std::move(*next);
    sent_ = 0;
    return true;
  }
  /// No handler is called any more.
  void drop() {
    shared_->cut();
    shared_->readable.drop();
    shared_->writable.drop();
  }

  const std::shared_ptr<Shared> shared_;
  bridge::PendingCall<std::error_code> finished_;
  Memory chunk_;
  std::size_t sent_ = 0;  // bytes of it
};

BlockingStream::BlockingStream(boost::asio::io_context& io) : io_(io), shared_(std::make_shared<Shared>(io)) {}

BlockingStream::~BlockingStream() { cut(); }

std::unique_ptr<LocalStream> BlockingStream::local_stream() { return std::make_unique<Local>(io_, shared_); }

Result<std::size_t> BlockingStream::await(std::size_t bytes) {
  Shared& shared = *shared_;
  const core::MutexLock lock(shared.mutex);
  while (shared.incoming.size_bytes() < bytes && !shared.is_cut && !shared.incoming_ended)
    shared.changed.wait(shared.mutex);
  if (shared.incoming.size_bytes() < bytes && shared.is_cut)
    return tl::unexpected(stream_broken("read from the other end"));
  return std::min(shared.incoming.size_bytes(), bytes);
}

std::span<const std::byte> BlockingStream::peek(std::size_t bytes, std::vector<std::byte>& scratch) {
  const core::MutexLock lock(shared_->mutex);
  const auto [first, second] = shared_->incoming.readable_in_two(bytes);
  if (second.empty()) return first;
  scratch.assign(first.begin(), first.end());
  scratch.insert(scratch.end(), second.begin(), second.end());
  return scratch;
}

void BlockingStream::consume(std::size_t bytes) {
  const core::MutexLock lock(shared_->mutex);
  shared_->incoming.consume(bytes);
  if (bytes > 0 && !shared_->held_back.empty()) shared_->take_held_back();
}

Status BlockingStream::write(std::vector<std::byte> bytes) {
  if (bytes.empty()) return {};
  if (!shared_->outgoing.push(std::move(bytes))) return tl::unexpected(stream_broken("write to the other end"));
  shared_->wake_source();
  return {};
}

std::vector<std::byte> BlockingStream::spare() { return shared_->spares.try_pop().value_or(Memory()); }

void BlockingStream::finish() {
  shared_->outgoing.close();
  shared_->wake_source();
}

void BlockingStream::cut() { shared_->cut(); }

bool BlockingStream::is_cut() const {
  const core::MutexLock lock(shared_->mutex);
  return shared_->is_cut;
}

bool BlockingStream::wait_cut(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  const core::MutexLock lock(shared_->mutex);
  while (!shared_->is_cut && std::chrono::steady_clock::now() < end)
    std::ignore = shared_->changed.wait_for(shared_->mutex, time);
  return shared_->is_cut;
}

void BlockingStream::cut_unless_ended(std::chrono::milliseconds patience) {
  boost::asio::post(io_, [this_io = &io_, shared = std::weak_ptr(shared_), patience] {
    const auto timer = std::make_shared<boost::asio::steady_timer>(*this_io, patience);
    timer->async_wait([timer, shared](const boost::system::error_code& /*never cancelled*/) {
      const auto kept = shared.lock();
      if (!kept) return;
      {
        const core::MutexLock lock(kept->mutex);
        if (kept->incoming_ended) return;
      }
      kept->cut();
    });
  });
}

}  // namespace udtcat::trees
