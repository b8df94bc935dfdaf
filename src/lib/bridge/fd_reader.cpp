// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/fd_reader.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include <poll.h>

#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::bridge {

Result<std::unique_ptr<FdReader>> FdReader::start(boost::asio::io_context& io, int number) {
  Descriptor owned(number);
  UDTCAT_TRY(WakeEvent stop, WakeEvent::make());
  std::unique_ptr<FdReader> reader(new FdReader(io, owned.release(), std::move(stop)));
  try {
    reader->thread_ = std::thread(&FdReader::run, reader.get());
  } catch (const std::system_error& error) {
    return fail(Errc::out_of_resources, "start a thread that reads", core::errno_text(error.code().value()));
  }
  return reader;
}

FdReader::FdReader(boost::asio::io_context& io, int number, WakeEvent stop)
    : stop_(std::move(stop)), descriptor_(number, Half::read), readable_(io), ring_(kRingBytes) {
  if (descriptor_.kind() == DescriptorKind::file) owner_ = Owner::thread;
}

FdReader::~FdReader() { stop(); }

void FdReader::run() {
  for (;;) {
    const std::span<std::byte> space = wait_until_owner();
    if (space.empty()) return;
    const std::optional<IoResult> result = read_next(space);
    if (!result) return;
    if (result->bytes == 0) std::ignore = descriptor_.close();  // everything it had has been read
    deliver(*result);
  }
}

/// returns  empty: to stop, or nothing is left to read
std::span<std::byte> FdReader::wait_until_owner() {
  const core::MutexLock lock(mutex_);
  // Waits for space of a whole read: a consumer of small pieces must not make the reads small.
  while (!stopping_ && state_ == State::reading && (owner_ == Owner::io_thread || ring_.free_bytes() < kReadBytes))
    changed_.wait(mutex_);
  if (stopping_ || state_ != State::reading) return {};
  const std::span<std::byte> space = ring_.writable();
  return space.first(std::min(space.size(), kReadBytes));
}

/// returns  none: to stop; never State::would_block
std::optional<IoResult> FdReader::read_next(std::span<std::byte> into) {
  // A read that never waits comes before poll(), which reports no hang-up for a FIFO that was opened again after its
  // last writer left.
  bool wait = !descriptor_.never_waits();
  for (;;) {
    if (wait && stop_.wait(descriptor_.number(), POLLIN) == WakeEvent::Wake::raised) return std::nullopt;
    const IoResult result = descriptor_.read_some(into);
    if (result.state != IoResult::State::would_block) return result;
    wait = true;
  }
}

void FdReader::deliver(const IoResult& result) {
  const core::MutexLock lock(mutex_);
  ring_.commit(result.bytes);
  if (result.bytes == 0) note_end(result);
  if (owner_ == Owner::thread_once) owner_ = Owner::io_thread;
  if (std::exchange(reader_waits_, false)) readable_.complete();
}

/// The descriptor is closed already.
void FdReader::note_end(const IoResult& last) {
  state_ = last.state == IoResult::State::failed ? State::failed : State::ended;
  error_ = last.error;
  changed_.notify_one();
}

LocalStream::ReadResult FdReader::read_some(std::span<std::byte> into) {
  UDTCAT_INVARIANT(!into.empty(), "the caller asks only when it has room");
  const LocalStream::ReadResult taken = take_from_ring(into);
  if (taken.state != LocalStream::ReadState::would_block) return taken;
  {
    const core::MutexLock lock(mutex_);
    if (owner_ != Owner::io_thread) return taken;
  }
  return read_now(into);
}

LocalStream::ReadResult FdReader::take_from_ring(std::span<std::byte> into) {
  using ReadState = LocalStream::ReadState;
  std::size_t taken = 0;
  core::MutexLock lock(mutex_);
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

/// The thread sleeps meanwhile.
LocalStream::ReadResult FdReader::read_now(std::span<std::byte> into) {
  using ReadState = LocalStream::ReadState;
  const std::optional<IoResult> result = descriptor_.read_now(into);
  if (result && result->state == IoResult::State::would_block) return {.state = ReadState::would_block};
  if (result && result->bytes > 0) return {.state = ReadState::data, .bytes = result->bytes};
  if (result) std::ignore = descriptor_.close();  // everything it had has been read
  const core::MutexLock lock(mutex_);
  if (!result) {
    owner_ = Owner::thread;
    changed_.notify_one();
    return {.state = ReadState::would_block};
  }
  note_end(*result);
  if (state_ == State::ended) return {.state = ReadState::end};
  return {.state = ReadState::failed, .error = error_};
}

void FdReader::async_wait_readable(LocalStream::WaitHandler handler) {
  readable_.expect(std::move(handler));
  const core::MutexLock lock(mutex_);
  if (ring_.size_bytes() > 0 || state_ != State::reading) return readable_.complete();
  reader_waits_ = true;
  if (owner_ != Owner::io_thread) return;
  owner_ = Owner::thread_once;
  changed_.notify_one();
}

void FdReader::stop() {
  stop_.raise();
  {
    const core::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  readable_.drop();
  std::ignore = descriptor_.close();  // given up: its error concerns no reader any more
  const core::MutexLock lock(mutex_);
  if (state_ == State::reading) {
    state_ = State::failed;
    error_ = std::make_error_code(std::errc::operation_canceled);
  }
}

}  // namespace udtcat::bridge
