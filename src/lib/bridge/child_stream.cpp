// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/child_stream.hpp"

#include <chrono>
#include <utility>

#include "lib/core/program_exit.hpp"
#include "lib/core/try.hpp"

namespace udtcat::bridge {

namespace {

// guess: a child that leaves its input ends soon, or goes on for long
constexpr auto kStatusTimeout = std::chrono::seconds(1);

}  // namespace

std::error_code error_of(const ChildExit& end) { return core::program_exit(end.status, end.signal); }

Result<std::unique_ptr<LocalStream>> ChildStream::make(boost::asio::io_context& io, ChildProcess& child,
                                                       Descriptor input, Descriptor output,
                                                       ChildCompletion completion) {
  const StdioHalves halves{.read = output.is_open(), .write = input.is_open()};
  std::unique_ptr<ChildStream> stream(new ChildStream(io, child, halves, completion));
  UDTCAT_TRY(stream->pipes_, make_stdio_stream(io, output.release(), input.release(), halves));
  return stream;
}

ChildStream::ChildStream(boost::asio::io_context& io, ChildProcess& child, const StdioHalves& halves,
                         ChildCompletion completion)
    : child_(child), halves_(halves), completion_(completion), timeout_(io) {
  if (completion_ == ChildCompletion::success) child_.when_ended(lifetime_.guard([this] { on_child_ended(); }));
}

ChildStream::~ChildStream() = default;

LocalStream::ReadResult ChildStream::read_some(std::span<std::byte> into) {
  const ReadResult read = pipes_->read_some(into);
  if (read.state != ReadState::end || !awaits_status(halves_.read)) return read;
  source_ended_ = true;
  if (!child_.end()) return {.state = ReadState::would_block};
  if (const std::error_code error = error_of(*child_.end())) return {.state = ReadState::failed, .error = error};
  return read;
}

void ChildStream::async_wait_readable(WaitHandler handler) {
  if (source_ended_ && !child_.end()) {
    waiting_ = std::move(handler);
    return;
  }
  pipes_->async_wait_readable(std::move(handler));
}

void ChildStream::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  pipes_->async_write_some(
      from, lifetime_.guard([this, handler = std::move(handler)](std::error_code error, std::size_t bytes) {
        if (!error) return handler({}, bytes);
        complete(error, [handler](std::error_code status) { handler(status, 0); });
      }));
}

void ChildStream::async_finish(FinishHandler handler) {
  pipes_->async_finish(lifetime_.guard([this, handler = std::move(handler)](std::error_code error) {
    child_.end_input();
    complete(error, handler);
  }));
}

/// Waits for the child's status, which says more than that its input was closed.
void ChildStream::complete(std::error_code error, std::function<void(std::error_code)> handler) {
  if (!awaits_status(halves_.write)) return handler(error);
  write_error_ = error;
  completing_ = std::move(handler);
  if (child_.end()) return on_child_ended();
  if (!error) return;  // all was taken: however long it works on that
  timeout_.expires_after(kStatusTimeout);
  timeout_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled && completing_) std::exchange(completing_, nullptr)(write_error_);
  }));
}

void ChildStream::on_child_ended() {
  timeout_.cancel();
  if (waiting_) std::exchange(waiting_, nullptr)();
  if (!completing_) return;
  const std::error_code status = error_of(*child_.end());
  std::exchange(completing_, nullptr)(status ? status : write_error_);
}

void ChildStream::abort() {
  lifetime_.end();
  waiting_ = nullptr;
  completing_ = nullptr;
  pipes_->abort();
}

}  // namespace udtcat::bridge
