// SPDX-License-Identifier: Apache-2.0
/// Connection::open_stream() and accept_stream(): a stream that the program reads and writes, by way of a pair in
/// memory.
#include <udtcat/stream.hpp>

#include <utility>

#include <boost/asio/post.hpp>

#include <udtcat/connection.hpp>

#include "lib/bridge/forwarding_stream.hpp"
#include "lib/bridge/stream_pair.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat {

namespace {

/// The outcome of a stream, from the connection to the program's end. Lives as long as either of them.
///
///   running ──receipt──► receipted        running, receipted ──error──► broken
struct Course {
  enum class State { running, receipted, broken };
  State state = State::running;
  Error error;                      // of State::broken
  std::function<void()> on_change;  // empty once the program has dropped its end

  void receipt() {
    if (state != State::running) return;
    state = State::receipted;
    if (on_change) on_change();
  }
  void break_off(Error why) {
    if (state == State::broken) return;
    state = State::broken;
    error = std::move(why);
    if (on_change) on_change();
  }
};

/// The connection's end of the pair.
class ConnectionEnd final : public bridge::ForwardingStream {
 public:
  ConnectionEnd(std::unique_ptr<LocalStream> end, std::shared_ptr<Course> course)
      : ForwardingStream(std::move(end)), course_(std::move(course)) {}
  void receipted() override { course_->receipt(); }

 private:
  const std::shared_ptr<Course> course_;
};

/// Held by the connection's outcome handler. A connection that is destroyed drops the handler uncalled.
class Ending {
 public:
  explicit Ending(std::shared_ptr<Course> course) : course_(std::move(course)) {}
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    if (course_) course_->break_off({Errc::connection_broken, "use a stream", "its connection is gone"});
  }
  void tell(const StreamOutcome& outcome) {
    const auto course = std::exchange(course_, nullptr);
    if (outcome.error) course->break_off(*outcome.error);
  }

 private:
  std::shared_ptr<Course> course_;  // none once told
};

/// The pair's own errors say only that the other end is gone; `course_` has the reason, then or a moment later.
class ProgramEnd final : public Stream {
 public:
  ProgramEnd(boost::asio::io_context& io, std::unique_ptr<LocalStream> end, std::shared_ptr<Course> course)
      : io_(io), course_(std::move(course)), end_(std::move(end)) {
    course_->on_change = [this] { complete_decided(); };
  }
  ~ProgramEnd() override { course_->on_change = nullptr; }
  ProgramEnd(const ProgramEnd&) = delete;
  ProgramEnd& operator=(const ProgramEnd&) = delete;

  void async_read(std::span<std::byte> into, ReadHandler handler) override {
    UDTCAT_INVARIANT(!read_ && !into.empty(), "one read at a time, of at least a byte");
    read_ = std::move(handler);
    read_on(into);
  }
  void async_write(std::span<const std::byte> from, WriteHandler handler) override {
    UDTCAT_INVARIANT(!write_ && !finish_ && !finished_, "one write at a time, none after the finish");
    write_ = std::move(handler);
    write_on(from);
  }
  void async_finish(FinishHandler handler) override {
    UDTCAT_INVARIANT(!write_ && !finished_, "the finish comes once, after the last write");
    finished_ = true;
    finish_ = std::move(handler);
    end_->async_finish([](std::error_code) {});  // taken by the connection: the receipt is still to come
    complete_decided();
  }

 private:
  void read_on(std::span<std::byte> into) {
    const auto read = end_->read_some(into);
    switch (read.state) {
      case LocalStream::ReadState::data:
      case LocalStream::ReadState::end:
        return complete(read_, Result<std::size_t>(read.bytes));
      case LocalStream::ReadState::would_block:
        return end_->async_wait_readable([this, into] {
          if (read_) read_on(into);
        });
      case LocalStream::ReadState::failed:
        return complete_decided();
    }
  }
  void write_on(std::span<const std::byte> from) {
    if (from.empty()) return complete(write_, Status());
    end_->async_write_some(from, [this, from](std::error_code error, std::size_t bytes) {
      if (error) return complete_decided();
      if (write_) write_on(from.subspan(bytes));
    });
  }
  void complete_decided() {
    if (course_->state == Course::State::receipted && finish_) complete(finish_, Status());
    if (course_->state != Course::State::broken) return;
    if (read_) complete(read_, Result<std::size_t>(tl::unexpected(course_->error)));
    if (write_) complete(write_, Status(tl::unexpected(course_->error)));
    if (finish_) complete(finish_, Status(tl::unexpected(course_->error)));
  }
  /// Posted: a handler may destroy this, or begin the next operation.
  template <typename Outcome>
  void complete(std::function<void(Outcome)>& handler, Outcome outcome) {
    boost::asio::post(io_, lifetime_.guard([handler = std::exchange(handler, nullptr), outcome = std::move(outcome)] {
      handler(outcome);
    }));
  }

  boost::asio::io_context& io_;
  const std::shared_ptr<Course> course_;
  const std::unique_ptr<LocalStream> end_;
  ReadHandler read_;
  WriteHandler write_;
  FinishHandler finish_;
  bool finished_ = false;
  core::Lifetime lifetime_;
};

/// Hands the connection its end of a new stream, by `hand_over(local, done)`.
template <typename HandOver>
std::unique_ptr<Stream> make_stream(boost::asio::io_context& io, HandOver hand_over) {
  auto [theirs, ours] = bridge::make_stream_pair(io, "the program");
  const auto course = std::make_shared<Course>();
  auto stream = std::make_unique<ProgramEnd>(io, std::move(ours), course);
  hand_over(std::make_unique<ConnectionEnd>(std::move(theirs), course),
            [ending = std::make_shared<Ending>(course)](const StreamOutcome& outcome) { ending->tell(outcome); });
  return stream;
}

}  // namespace

std::unique_ptr<Stream> Connection::open_stream() {
  return make_stream(io(), [this](auto local, auto done) { open_stream(std::move(local), std::move(done)); });
}

std::unique_ptr<Stream> Connection::accept_stream(StreamId id) {
  return make_stream(io(), [this, id](auto local, auto done) { accept_stream(id, std::move(local), std::move(done)); });
}

}  // namespace udtcat
