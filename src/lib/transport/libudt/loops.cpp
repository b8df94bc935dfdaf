// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/loops.hpp"

#include <system_error>
#include <tuple>
#include <utility>

#include "lib/core/invariant.hpp"

namespace udtcat::transport::libudt {

namespace {

// Often enough to see an orderly end while it is fresh (LibudtConnection::note_end).
constexpr std::chrono::milliseconds kEndPoll{500};  // guess

}  // namespace

ReceiveLoop::~ReceiveLoop() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void ReceiveLoop::read(Request request) {
  {
    const core::MutexLock lock(mutex_);
    UDTCAT_INVARIANT(!request_, "a channel has one read at a time");
    if (stopping_) return request.done.post(fail(Errc::connection_broken, "receive", "the channel is closed"));
    request_.emplace(std::move(request));
  }
  changed_.notify_one();
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    const core::MutexLock lock(mutex_);
    request_->done.post(fail(Errc::out_of_resources, "start a thread to receive with", error.what()));
    request_.reset();
  }
}

void ReceiveLoop::stop() {
  {
    const core::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
}

void ReceiveLoop::run() {
  core::MutexLock lock(mutex_);
  for (;;) {
    while (!request_ && !stopping_) {
      if (changed_.wait_for(mutex_, kEndPoll) == std::cv_status::no_timeout) continue;
      lock.unlock();
      connection_->note_end();
      lock.lock();
    }
    if (!request_) return;
    Request request = std::move(*request_);
    request_.reset();
    lock.unlock();
    auto filled = fill(request);
    request.done.post(std::move(filled));
    lock.lock();
  }
}

Result<std::size_t> ReceiveLoop::fill(const Request& request) {
  std::size_t filled = 0;
  while (filled < request.least_bytes) {
    {
      const core::MutexLock lock(mutex_);
      if (stopping_) return fail(Errc::connection_broken, "receive", "the channel is closed");
    }
    if (broken_ && request.tells_the_end && connection_->ended_in_order()) return std::size_t{0};
    if (broken_) return tl::unexpected(*broken_);
    const auto received = connection_->receive(request.into.subspan(filled));
    if (received) {
      filled += *received;
    } else {
      broken_ = received.error();
    }
  }
  return filled;
}

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// libudt does not tell when the last acknowledgement has come; it has to be asked.
constexpr auto kDrainPoll = 2ms;  // guess: about one more timer tick at the end of a connection

}  // namespace

/// The state that the channel and the thread share.
/// Threads: internally synchronised.
class SendLoop::Queue {
 public:
  explicit Queue(std::shared_ptr<LibudtConnection> connection) : connection_(std::move(connection)) {}

  void push(core::SharedBytes from, Completion done);
  void push_drained(Completion done);
  void fail_all(const Error& error);
  /// False when it had been closed before.
  bool close(Clock::time_point deadline);
  void run();

  [[nodiscard]] std::shared_ptr<const std::atomic<bool>> finished() const { return finished_; }

 private:
  struct Write {
    core::SharedBytes from;
    Completion done;
    bool until_drained = false;  // sends nothing, waits for what was sent before
  };

  void push(Write write);
  [[nodiscard]] Status send_all(std::span<const std::byte> from);
  [[nodiscard]] Status wait_drained();
  [[nodiscard]] bool is_last();
  [[nodiscard]] bool out_of_time();
  void finish_front(Status status);

  const std::shared_ptr<LibudtConnection> connection_;
  const std::shared_ptr<std::atomic<bool>> finished_ = std::make_shared<std::atomic<bool>>(false);
  core::Mutex mutex_;
  core::Condition changed_;
  std::deque<Write> waiting_ UDTCAT_GUARDED_BY(mutex_);                  // the front one is being sent
  std::optional<Clock::time_point> deadline_ UDTCAT_GUARDED_BY(mutex_);  // set when draining
  std::optional<Error> broken_ UDTCAT_GUARDED_BY(mutex_);
};

void SendLoop::Queue::push(core::SharedBytes from, Completion done) { push({std::move(from), std::move(done)}); }

void SendLoop::Queue::push_drained(Completion done) { push({{}, std::move(done), true}); }

void SendLoop::Queue::push(Write write) {
  {
    const core::MutexLock lock(mutex_);
    if (deadline_) return write.done.post(fail(Errc::connection_broken, "send", "the channel is closed"));
    if (broken_) return write.done.post(tl::unexpected(*broken_));
    waiting_.push_back(std::move(write));
  }
  changed_.notify_all();
}

void SendLoop::Queue::fail_all(const Error& error) {
  {
    const core::MutexLock lock(mutex_);
    broken_ = error;
    for (Write& write : waiting_) write.done.post(tl::unexpected(error));
    waiting_.clear();
  }
  changed_.notify_all();
}

bool SendLoop::Queue::close(Clock::time_point deadline) {
  {
    const core::MutexLock lock(mutex_);
    if (deadline_) return false;
    deadline_ = deadline;
  }
  changed_.notify_all();
  return true;
}

void SendLoop::Queue::run() {
  core::MutexLock lock(mutex_);
  for (;;) {
    while (waiting_.empty() && !deadline_) changed_.wait(mutex_);
    if (waiting_.empty()) break;
    const core::SharedBytes from = waiting_.front().from;
    const bool until_drained = waiting_.front().until_drained;
    lock.unlock();
    const Status sent = until_drained ? wait_drained() : send_all(from.bytes());
    if (sent) {
      finish_front(sent);
    } else {
      fail_all(sent.error());
    }
    lock.lock();
  }
  lock.unlock();
  std::ignore = wait_drained();  // whatever came of it: this is the end
  connection_->close();
  *finished_ = true;
}

Status SendLoop::Queue::send_all(std::span<const std::byte> from) {
  while (!from.empty()) {
    if (out_of_time()) return fail(Errc::connection_broken, "send", "the channel is closed");
    const auto sent = connection_->send(from, is_last());
    if (!sent) return tl::unexpected(sent.error());
    from = from.subspan(*sent);
  }
  return {};
}

bool SendLoop::Queue::is_last() {
  const core::MutexLock lock(mutex_);
  return waiting_.size() == 1 || waiting_[1].until_drained;
}

bool SendLoop::Queue::out_of_time() {
  const core::MutexLock lock(mutex_);
  return deadline_ && Clock::now() >= *deadline_;
}

void SendLoop::Queue::finish_front(Status status) {
  {
    const core::MutexLock lock(mutex_);
    waiting_.front().done.post(std::move(status));
    waiting_.pop_front();
  }
  changed_.notify_all();
}

Status SendLoop::Queue::wait_drained() {
  core::MutexLock lock(mutex_);
  for (;;) {
    if (broken_) return tl::unexpected(*broken_);
    if (deadline_ && Clock::now() >= *deadline_)
      return fail(Errc::connection_broken, "wait for acknowledgements", "the channel is closed");
    lock.unlock();
    const auto drained = connection_->drained();
    lock.lock();
    if (!drained) return tl::unexpected(drained.error());
    if (*drained) return {};
    changed_.wait_for(mutex_, kDrainPoll);
  }
}

SendLoop::SendLoop(std::shared_ptr<LibudtConnection> connection, std::shared_ptr<Runtime> runtime)
    : connection_(std::move(connection)), runtime_(std::move(runtime)), queue_(std::make_shared<Queue>(connection_)) {}

SendLoop::~SendLoop() {
  close(0ms);
  if (!thread_.joinable()) return;
  runtime_->adopt(std::move(thread_), queue_->finished());
}

void SendLoop::write(core::SharedBytes from, Completion done) {
  queue_->push(std::move(from), std::move(done));
  start();
}

void SendLoop::wait_drained(Completion done) {
  queue_->push_drained(std::move(done));
  start();
}

void SendLoop::start() {
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([queue = queue_] { queue->run(); });
  } catch (const std::system_error& error) {
    queue_->fail_all(Error{Errc::out_of_resources, "start a thread to send with", error.what()});
  }
}

void SendLoop::close(std::chrono::milliseconds drain) {
  if (!queue_->close(Clock::now() + drain)) return;
  // Nothing can wait where nothing was ever written. And without time to drain, a thread blocked in libudt is to wake
  // now.
  if (!thread_.joinable() || drain <= 0ms) connection_->close();
}

}  // namespace udtcat::transport::libudt
