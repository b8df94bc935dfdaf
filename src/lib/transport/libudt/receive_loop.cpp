#include "lib/transport/libudt/receive_loop.hpp"

#include <system_error>

#include "lib/core/invariant.hpp"

namespace udtcat::transport::libudt {

namespace {

// Often enough to see an orderly end while it is fresh (Connection::look).
constexpr std::chrono::milliseconds kEndLook{500};  // guess

}  // namespace

ReceiveLoop::~ReceiveLoop() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void ReceiveLoop::read(Request request) {
  {
    const std::lock_guard lock(mutex_);
    UDTCAT_INVARIANT(!request_, "a channel has one read at a time");
    if (stopping_) return request.done.post(fail(Errc::connection_broken, "receive", "the channel is closed"));
    request_.emplace(std::move(request));
  }
  changed_.notify_one();
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    const std::lock_guard lock(mutex_);
    request_->done.post(fail(Errc::out_of_resources, "start a thread to receive with", error.what()));
    request_.reset();
  }
}

void ReceiveLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
}

void ReceiveLoop::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wait_for_request(lock);
    if (!request_) return;
    Request request = std::move(*request_);
    request_.reset();
    lock.unlock();
    auto filled = fill(request);
    request.done.post(std::move(filled));
    lock.lock();
  }
}

void ReceiveLoop::wait_for_request(std::unique_lock<std::mutex>& lock) {
  while (!changed_.wait_for(lock, kEndLook, [this] { return request_ || stopping_; })) {
    lock.unlock();
    connection_->look();
    lock.lock();
  }
}

Result<std::size_t> ReceiveLoop::fill(const Request& request) {
  std::size_t filled = 0;
  while (filled < request.least_bytes) {
    {
      const std::lock_guard lock(mutex_);
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

}  // namespace udtcat::transport::libudt
