// SPDX-License-Identifier: Apache-2.0
#include "trees/wire.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/bridge/byte_ring.hpp"
#include "lib/bridge/pending_call.hpp"
#include "lib/core/mutex.hpp"
#include "trees/chunk_queue.hpp"

namespace udtcat::trees {

namespace {

tl::unexpected<Error> wire_broken(const char* doing, std::string cause = "the transfer is over") {
  return fail(Errc::connection_broken, doing, std::move(cause));
}

}  // namespace

/// The memory between a stream and the threads.
/// Threads: internally synchronised; the second half of the functions is the io_context thread's.
class WireQueues {
 public:
  explicit WireQueues(boost::asio::io_context& io) : readable_(io), writable_(io), incoming_(Wire::kRingBytes) {}

  // For the threads.

  Result<std::size_t> await(std::size_t bytes) {
    const core::MutexLock lock(mutex_);
    while (incoming_.size_bytes() < bytes && !is_cut_ && !incoming_ended_) changed_.wait(mutex_);
    if (incoming_.size_bytes() < bytes && is_cut_) return wire_broken("read from the other end");
    return std::min(incoming_.size_bytes(), bytes);
  }

  std::span<const std::byte> peek(std::size_t bytes, std::vector<std::byte>& scratch) {
    const core::MutexLock lock(mutex_);
    const auto [first, second] = incoming_.readable_in_two(bytes);
    if (second.empty()) return first;
    scratch.assign(first.begin(), first.end());
    scratch.insert(scratch.end(), second.begin(), second.end());
    return scratch;
  }

  void consume(std::size_t bytes) {
    const core::MutexLock lock(mutex_);
    incoming_.consume(bytes);
    if (bytes > 0 && !held_back_.empty()) take_held_back();
  }

  Status write(std::span<const std::byte> from) {
    return put([&]() UDTCAT_REQUIRES(mutex_) { outgoing_.add(from); });
  }
  Status give(ChunkQueue::Chunk& chunk) {
    return put([&]() UDTCAT_REQUIRES(mutex_) { outgoing_.give(chunk); });
  }

  void finish() {
    const core::MutexLock lock(mutex_);
    outgoing_ended_ = true;
    if (std::exchange(reader_waits_, false)) readable_.complete();
  }

  void cut() {
    const core::MutexLock lock(mutex_);
    is_cut_ = true;
    changed_.notify_all();
    if (std::exchange(reader_waits_, false)) readable_.complete();
    if (!held_back_.empty()) {
      held_back_ = {};
      writable_.complete(std::make_error_code(std::errc::operation_canceled), 0);
    }
  }

  // For the io_context thread.

  LocalStream::ReadResult take_outgoing(std::span<std::byte> into) {
    using ReadState = LocalStream::ReadState;
    core::MutexLock lock(mutex_);
    std::size_t taken = 0;
    while (taken < into.size() && outgoing_.size_bytes() > 0) {
      const auto oldest = outgoing_.front();
      const std::size_t bytes = std::min(oldest.size(), into.size() - taken);
      lock.unlock();  // the thread goes on writing; it does not touch these bytes
      std::memcpy(into.data() + taken, oldest.data(), bytes);
      lock.lock();
      outgoing_.consume(bytes);
      taken += bytes;
    }
    if (taken > 0) changed_.notify_all();
    if (taken > 0) return {.state = ReadState::data, .bytes = taken};
    if (is_cut_) return {.state = ReadState::failed, .error = std::make_error_code(std::errc::operation_canceled)};
    return {.state = outgoing_ended_ ? ReadState::end : ReadState::would_block};
  }

  void wait_outgoing(LocalStream::WaitHandler handler) {
    readable_.expect(std::move(handler));
    const core::MutexLock lock(mutex_);
    if (outgoing_.size_bytes() > 0 || outgoing_ended_ || is_cut_) return readable_.complete();
    reader_waits_ = true;
  }

  void put_incoming(std::span<const std::byte> from, LocalStream::WriteHandler handler) {
    writable_.expect(std::move(handler));
    const core::MutexLock lock(mutex_);
    if (is_cut_) return writable_.complete(std::make_error_code(std::errc::operation_canceled), 0);
    held_back_ = from;
    take_held_back();
  }

  void end_incoming() {
    const core::MutexLock lock(mutex_);
    incoming_ended_ = true;
    changed_.notify_all();
  }

  bool is_cut() {
    const core::MutexLock lock(mutex_);
    return is_cut_;
  }
  bool has_ended() {
    const core::MutexLock lock(mutex_);
    return incoming_ended_;
  }

  /// No handler is called any more.
  void drop() {
    cut();
    readable_.drop();
    writable_.drop();
  }

 private:
  template <typename Put>
  Status put(Put put_bytes) {
    const core::MutexLock lock(mutex_);
    while (outgoing_.size_bytes() >= Wire::kRingBytes && !is_cut_) changed_.wait(mutex_);
    if (is_cut_) return wire_broken("write to the other end");
    put_bytes();
    if (outgoing_.size_bytes() > 0 && std::exchange(reader_waits_, false)) readable_.complete();
    return {};
  }

  /// By the thread that has made room, or the io_context's: as much as fits.
  void take_held_back() UDTCAT_REQUIRES(mutex_) {
    std::size_t taken = 0;
    while (taken < held_back_.size() && incoming_.free_bytes() > 0) {
      const auto space = incoming_.writable();
      const std::size_t bytes = std::min(space.size(), held_back_.size() - taken);
      std::memcpy(space.data(), held_back_.data() + taken, bytes);
      incoming_.commit(bytes);
      taken += bytes;
    }
    if (taken == 0) return;
    held_back_ = {};
    changed_.notify_all();
    writable_.complete(std::error_code(), taken);
  }

  bridge::PendingCall<> readable_;
  bridge::PendingCall<std::error_code, std::size_t> writable_;
  core::Mutex mutex_;
  core::Condition changed_;
  ChunkQueue outgoing_ UDTCAT_GUARDED_BY(mutex_);                   // but for the bytes it lends
  bridge::ByteRing incoming_ UDTCAT_GUARDED_BY(mutex_);             // likewise
  std::span<const std::byte> held_back_ UDTCAT_GUARDED_BY(mutex_);  // of a write for which there was no room
  bool reader_waits_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool outgoing_ended_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool incoming_ended_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool is_cut_ UDTCAT_GUARDED_BY(mutex_) = false;
};

namespace {

/// The connection's end of a Wire.
/// Threads: confined to the io_context thread.
class QueueStream final : public LocalStream {
 public:
  QueueStream(boost::asio::io_context& io, std::shared_ptr<WireQueues> queues)
      : queues_(std::move(queues)), finished_(io) {}
  QueueStream(const QueueStream&) = delete;
  QueueStream& operator=(const QueueStream&) = delete;
  ~QueueStream() override { queues_->drop(); }

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override { return queues_->take_outgoing(into); }
  void async_wait_readable(WaitHandler handler) override { queues_->wait_outgoing(std::move(handler)); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    queues_->put_incoming(from, std::move(handler));
  }
  void async_finish(FinishHandler handler) override {
    queues_->end_incoming();
    finished_.expect(std::move(handler));
    finished_.complete(std::error_code());
  }
  void abort() override {
    queues_->drop();
    finished_.drop();
  }
  [[nodiscard]] std::string source_name() const override { return "the files"; }
  [[nodiscard]] std::string sink_name() const override { return "the files"; }

 private:
  const std::shared_ptr<WireQueues> queues_;
  bridge::PendingCall<std::error_code> finished_;
};

}  // namespace

Wire::Wire(boost::asio::io_context& io) : io_(io), queues_(std::make_shared<WireQueues>(io)) {}

Wire::~Wire() { queues_->cut(); }

std::unique_ptr<LocalStream> Wire::stream() { return std::make_unique<QueueStream>(io_, queues_); }

Result<std::size_t> Wire::await(std::size_t bytes) { return queues_->await(bytes); }
std::span<const std::byte> Wire::peek(std::size_t bytes, std::vector<std::byte>& scratch) {
  return queues_->peek(bytes, scratch);
}
void Wire::consume(std::size_t bytes) { queues_->consume(bytes); }
Status Wire::write(std::span<const std::byte> from) { return queues_->write(from); }
Status Wire::give(std::vector<std::byte>& bytes) { return queues_->give(bytes); }
void Wire::cut() { queues_->cut(); }
bool Wire::is_cut() const { return queues_->is_cut(); }

void Wire::finish() { queues_->finish(); }

void Wire::cut_unless_ended(std::chrono::milliseconds patience) {
  boost::asio::post(io_, [this_io = &io_, queues = std::weak_ptr<WireQueues>(queues_), patience] {
    const auto timer = std::make_shared<boost::asio::steady_timer>(*this_io, patience);
    timer->async_wait([timer, queues](const boost::system::error_code& /*never cancelled*/) {
      const auto kept = queues.lock();
      if (kept && !kept->has_ended()) kept->cut();
    });
  });
}

}  // namespace udtcat::trees
