#include "bridge/fd_reader.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include <poll.h>

#include "core/invariant.hpp"

namespace udtcat::bridge {

Result<std::unique_ptr<FdReader>> FdReader::start(boost::asio::io_context& io, int number) {
  Descriptor owned(number);
  Result<StopEvent> stop = StopEvent::make();
  if (!stop) return tl::unexpected(stop.error());
  std::unique_ptr<FdReader> reader(new FdReader(io, owned.release(), std::move(*stop)));
  try {
    reader->thread_ = std::thread(&FdReader::run, reader.get());
  } catch (const std::system_error& error) {
    return fail(Errc::out_of_resources, "start a thread that reads", errno_text(error.code().value()));
  }
  return reader;
}

FdReader::FdReader(boost::asio::io_context& io, int number, StopEvent stop)
    : stop_(std::move(stop)), descriptor_(number, Half::read), readable_(io), ring_(kRingBytes) {}

FdReader::~FdReader() { stop(); }

void FdReader::run() {
  for (;;) {
    const std::span<std::byte> space = wait_for_space();
    if (space.empty()) return;
    const std::optional<Transfer> transfer = read_next(space);
    if (!transfer) return;
    const bool last = transfer->bytes == 0;
    if (last) std::ignore = descriptor_.close();  // everything it had has been read
    deliver(*transfer);
    if (last) return;
  }
}

/// returns  empty: to stop
std::span<std::byte> FdReader::wait_for_space() {
  std::unique_lock lock(mutex_);
  // A consumer that takes little at a time must not make us read as little at a time.
  changed_.wait(lock, [this] { return stopping_ || ring_.free_bytes() >= kReadBytes; });
  if (stopping_) return {};
  const std::span<std::byte> space = ring_.writable();
  return space.first(std::min(space.size(), kReadBytes));
}

/// returns  none: to stop; never State::would_block
std::optional<Transfer> FdReader::read_next(std::span<std::byte> into) {
  // Where a read never waits it comes first: a FIFO opened again after its last writer left has no hang-up for poll() to
  // tell, and its end shows in read() only.
  bool wait = !descriptor_.never_waits();
  for (;;) {
    if (wait && stop_.wait(descriptor_.number(), POLLIN) == StopEvent::Wake::stop) return std::nullopt;
    const Transfer transfer = descriptor_.read_some(into);
    if (transfer.state != Transfer::State::would_block) return transfer;
    wait = true;
  }
}

void FdReader::deliver(const Transfer& transfer) {
  const std::lock_guard lock(mutex_);
  ring_.commit(transfer.bytes);
  if (transfer.state == Transfer::State::failed) {
    state_ = State::failed;
    error_ = transfer.error;
  } else if (transfer.bytes == 0) {
    state_ = State::ended;
  }
  if (std::exchange(reader_waits_, false)) readable_.complete();
}

LocalStream::ReadResult FdReader::read_some(std::span<std::byte> into) {
  using ReadState = LocalStream::ReadState;
  UDTCAT_INVARIANT(!into.empty(), "the caller asks only when it has room");
  std::size_t taken = 0;
  std::unique_lock lock(mutex_);
  while (taken < into.size() && ring_.size_bytes() > 0) {
    const std::span<const std::byte> oldest = ring_.readable();
    const std::size_t bytes = std::min(oldest.size(), into.size() - taken);
    lock.unlock();  // the thread goes on reading; it does not touch what readable() lent
    std::memcpy(into.data() + taken, oldest.data(), bytes);
    lock.lock();
    const bool was_short = ring_.free_bytes() < kReadBytes;
    ring_.consume(bytes);
    if (was_short && ring_.free_bytes() >= kReadBytes) changed_.notify_one();
    taken += bytes;
  }
  if (taken > 0) return {.state = ReadState::data, .bytes = taken};
  if (state_ == State::reading) return {.state = ReadState::would_block};
  if (state_ == State::ended) return {.state = ReadState::end};
  return {.state = ReadState::failed, .error = error_};
}

void FdReader::async_wait_readable(LocalStream::WaitHandler handler) {
  readable_.expect(std::move(handler));
  const std::lock_guard lock(mutex_);
  if (ring_.size_bytes() > 0 || state_ != State::reading) {
    readable_.complete();
  } else {
    reader_waits_ = true;
  }
}

void FdReader::stop() {
  stop_.request();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  readable_.drop();
  std::ignore = descriptor_.close();  // given up: nobody is left to tell
  const std::lock_guard lock(mutex_);
  if (state_ == State::reading) {
    state_ = State::failed;
    error_ = std::make_error_code(std::errc::operation_canceled);
  }
}

}  // namespace udtcat::bridge
