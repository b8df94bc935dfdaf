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
struct SharedOutcome {
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
  ConnectionEnd(std::unique_ptr<LocalStream> end, std::shared_ptr<SharedOutcome> shared)
      : ForwardingStream(std::move(end)), shared_(std::move(shared)) {}
  void receipted() override { shared_->receipt(); }

 private:
  const std::shared_ptr<SharedOutcome> shared_;
};

/// Held by the connection's outcome handler. A connection that is destroyed drops the handler uncalled.
class OutcomeGuard {
 public:
  explicit OutcomeGuard(std::shared_ptr<SharedOutcome> shared) : shared_(std::move(shared)) {}
  OutcomeGuard(const OutcomeGuard&) = delete;
  OutcomeGuard& operator=(const OutcomeGuard&) = delete;
  ~OutcomeGuard() {
    if (shared_) shared_->break_off({Errc::connection_broken, "use a stream", "its connection is gone"});
  }
  void set(const StreamOutcome& outcome) {
    const auto shared = std::exchange(shared_, nullptr);
    if (outcome.error) shared->break_off(*outcome.error);
  }

 private:
  std::shared_ptr<SharedOutcome> shared_;  // none once set
};

/// The pair's own errors say only that the other end is gone; `shared_` has the reason, then or a moment later.
class ProgramEnd final : public Stream {
 public:
  ProgramEnd(boost::asio::io_context& io, std::unique_ptr<LocalStream> end, std::shared_ptr<SharedOutcome> shared)
      : io_(io), shared_(std::move(shared)), end_(std::move(end)) {
    shared_->on_change = [this] { complete_decided(); };
  }
  ~ProgramEnd() override { shared_->on_change = nullptr; }
  ProgramEnd(const ProgramEnd&) = delete;
  ProgramEnd& operator=(const ProgramEnd&) = delete;

  void abort(const Error& reason) override {
    shared_->break_off(reason);
    end_->abort();
  }
  [[nodiscard]] boost::asio::io_context::executor_type get_executor() const override { return io_.get_executor(); }

 private:
  void read(std::span<std::byte> into, ReadHandler handler) override {
    UDTCAT_INVARIANT(!read_ && !into.empty(), "one read at a time, of at least a byte");
    read_ = std::move(handler);
    read_on(into);
  }
  void write(std::span<const std::byte> from, WriteHandler handler) override {
    UDTCAT_INVARIANT(!write_ && !finish_ && !finished_, "one write at a time, none after the finish");
    write_ = std::move(handler);
    write_on(from);
  }
  void finish(FinishHandler handler) override {
    UDTCAT_INVARIANT(!write_ && !finished_, "the finish comes once, after the last write");
    finished_ = true;
    finish_ = std::move(handler);
    end_->async_finish([](std::error_code) {});  // taken by the connection: the receipt is still to come
    complete_decided();
  }
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
    if (shared_->state == SharedOutcome::State::receipted && finish_) complete(finish_, Status());
    if (shared_->state != SharedOutcome::State::broken) return;
    if (read_) complete(read_, Result<std::size_t>(tl::unexpected(shared_->error)));
    if (write_) complete(write_, Status(tl::unexpected(shared_->error)));
    if (finish_) complete(finish_, Status(tl::unexpected(shared_->error)));
  }
  /// Posted: a handler may destroy this, or begin the next operation.
  template <typename Outcome>
  void complete(std::function<void(Outcome)>& handler, Outcome outcome) {
    boost::asio::post(io_, lifetime_.guard([handler = std::exchange(handler, nullptr), outcome = std::move(outcome)] {
      handler(outcome);
    }));
  }

  boost::asio::io_context& io_;
  const std::shared_ptr<SharedOutcome> shared_;
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
  const auto shared = std::make_shared<SharedOutcome>();
  auto stream = std::make_unique<ProgramEnd>(io, std::move(ours), shared);
  hand_over(std::make_unique<ConnectionEnd>(std::move(theirs), shared),
            [guard = std::make_shared<OutcomeGuard>(shared)](const StreamOutcome& outcome) { guard->set(outcome); });
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
