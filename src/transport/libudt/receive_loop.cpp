#include "transport/libudt/receive_loop.hpp"

#include <system_error>

#include "core/invariant.hpp"

namespace udtcat::transport::libudt {

ReceiveLoop::~ReceiveLoop() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void ReceiveLoop::read(std::span<std::byte> into, Completion done) {
  {
    const std::lock_guard lock(mutex_);
    UDTCAT_INVARIANT(!request_, "a channel has one read at a time");
    if (stopping_) return done.post(fail(Errc::connection_broken, "receive", "the channel is closed"));
    request_.emplace(Request{into, std::move(done)});
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
    changed_.wait(lock, [this] { return request_ || stopping_; });
    if (!request_) return;
    Request request = std::move(*request_);
    request_.reset();
    lock.unlock();
    Status filled = fill(request.into);
    request.done.post(std::move(filled));
    lock.lock();
  }
}

Status ReceiveLoop::fill(std::span<std::byte> into) {
  while (!into.empty()) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return fail(Errc::connection_broken, "receive", "the channel is closed");
    }
    if (broken_) return tl::unexpected(*broken_);
    const auto received = connection_->receive(into);
    if (received) {
      into = into.subspan(*received);
    } else {
      broken_ = received.error();
    }
  }
  return {};
}

}  // namespace udtcat::transport::libudt
