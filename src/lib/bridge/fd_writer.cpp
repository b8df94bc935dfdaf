// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/fd_writer.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <tuple>
#include <utility>

#include <poll.h>

#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::bridge {
namespace {

using namespace std::chrono_literals;
constexpr auto kFirstPause = 1ms;     // guess: the reader of a short stream is a few milliseconds behind
constexpr auto kLongestPause = 20ms;  // guess: fifty looks a second at a stalled consumer cost nothing

/// A write to a pipe without readers then says EPIPE, and no more.
void block_sigpipe_here() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  const int error = ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  UDTCAT_INVARIANT(error == 0, "pthread_sigmask fails only by a bad argument");
}

bool sigpipe_is_ignored() {
  struct sigaction action {};
  return ::sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Result<std::unique_ptr<FdWriter>> FdWriter::start(boost::asio::io_context& io, int number, bool until_read) {
  Descriptor owned(number);
  UDTCAT_TRY(WakeEvent stop, WakeEvent::make());
  std::unique_ptr<FdWriter> writer(new FdWriter(io, owned.release(), until_read, std::move(stop)));
  try {
    writer->thread_ = std::thread(&FdWriter::run, writer.get());
  } catch (const std::system_error& error) {
    return fail(Errc::out_of_resources, "start a thread that writes", core::errno_text(error.code().value()));
  }
  return writer;
}

FdWriter::FdWriter(boost::asio::io_context& io, int number, bool until_read, WakeEvent stop)
    : stop_(std::move(stop)),
      until_read_(until_read),
      sigpipe_ignored_(sigpipe_is_ignored()),
      descriptor_(number, Half::write),
      written_(io),
      finished_(io) {
  descriptor_.close_as_a_failure(true);
}

FdWriter::~FdWriter() { stop(); }

void FdWriter::async_write_some(std::span<const std::byte> from, LocalStream::WriteHandler handler) {
  UDTCAT_INVARIANT(!from.empty(), "the caller writes only when it has bytes");
  written_.expect(std::move(handler));
  const std::optional<IoResult> result = write_now(from);
  if (!result || result->state == IoResult::State::would_block) return start_operation({Operation::write, from});
  written_.complete(result->error, result->bytes);
}

/// returns  none: only the thread may
std::optional<IoResult> FdWriter::write_now(std::span<const std::byte> from) const {
  if (descriptor_.kind() == DescriptorKind::fifo && !sigpipe_ignored_) return std::nullopt;
  return descriptor_.write_now(from);
}

void FdWriter::async_finish(LocalStream::FinishHandler handler) {
  finished_.expect(std::move(handler));
  start_operation({Operation::finish});
}

void FdWriter::start_operation(const PendingOperation& pending) {
  const core::MutexLock lock(mutex_);
  UDTCAT_INVARIANT(pending_.operation == Operation::none, "one operation at a time, and none after the finish");
  pending_ = pending;
  pending_changed_.notify_one();
}

void FdWriter::run() {
  block_sigpipe_here();
  while (perform(wait_for_operation())) continue;
}

FdWriter::PendingOperation FdWriter::wait_for_operation() {
  const core::MutexLock lock(mutex_);
  while (pending_.operation == Operation::none) pending_changed_.wait(mutex_);
  return pending_;
}

/// returns  false: that was the last one
bool FdWriter::perform(const PendingOperation& pending) {
  if (pending.operation == Operation::write) {
    const std::optional<IoResult> result = write(pending.from);
    if (!result) return false;
    const core::MutexLock lock(mutex_);
    if (pending_.operation == Operation::stop) return false;
    pending_.operation = Operation::none;  // before the handler can give the next one
    written_.complete(result->error, result->bytes);
    return true;
  }
  if (pending.operation == Operation::finish) {
    if (const std::optional<std::error_code> error = finish()) finished_.complete(*error);
  }
  return false;
}

/// returns  none: to stop; never State::would_block
std::optional<IoResult> FdWriter::write(std::span<const std::byte> from) {
  bool wait = !descriptor_.never_waits();
  for (;;) {
    if (wait && stop_.wait(descriptor_.number(), POLLOUT) == WakeEvent::Wake::raised) return std::nullopt;
    const IoResult result = descriptor_.write_some(from);
    if (result.state != IoResult::State::would_block) return result;
    wait = true;
  }
}

/// returns  none: to stop
std::optional<std::error_code> FdWriter::finish() {
  std::optional<std::error_code> error = descriptor_.end_writing();
  if (!*error && until_read_) error = wait_until_taken();
  if (!error) return std::nullopt;
  if (!*error) descriptor_.close_as_a_failure(false);
  const std::error_code close_error = descriptor_.close();
  return *error ? error : close_error;
}

/// Polls, soon at first: the system has no event for a pipe or socket that has become empty.
std::optional<std::error_code> FdWriter::wait_until_taken() {
  for (auto pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    const std::optional<std::error_code> status = consumer_status(descriptor_.number(), descriptor_.kind());
    if (status) return status;
    if (stop_.wait_for(pause) == WakeEvent::Wake::raised) return std::nullopt;
  }
}

void FdWriter::stop() {
  end_thread();
  std::ignore = descriptor_.close();  // given up, which a TCP socket's other side sees as a reset
}

void FdWriter::end_thread() {
  stop_.raise();
  {
    const core::MutexLock lock(mutex_);
    pending_.operation = Operation::stop;
    pending_changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  written_.drop();
  finished_.drop();
}

}  // namespace udtcat::bridge
