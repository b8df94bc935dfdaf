// SPDX-License-Identifier: Apache-2.0
/// A handler that one thread completes and the io_context thread calls.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"

namespace udtcat::bridge {

/// Keeps one handler until its call. The io_context counts it as work meanwhile.
/// Threads: confined to the io_context thread, but for complete(), which is for the working thread. That thread is
/// joined before this is destroyed.
template <typename... Args>
class PendingCall {
 public:
  using Handler = std::function<void(Args...)>;

  explicit PendingCall(boost::asio::io_context& io) : io_(io), slot_(std::make_shared<Slot>()) {}

  void expect(Handler handler) {
    UDTCAT_INVARIANT(!slot_->handler, "LocalStream allows one operation of a kind at a time");
    slot_->handler = std::move(handler);
    slot_->work.emplace(io_.get_executor());
  }

  /// Calls the handler on the io_context thread, unless it is dropped before. Once per expect().
  void complete(Args... args) const {
    boost::asio::post(io_, [slot = std::weak_ptr<Slot>(slot_), args...] {
      const std::shared_ptr<Slot> kept = slot.lock();
      if (!kept || !kept->handler) return;
      const Handler handler = std::exchange(kept->handler, nullptr);
      kept->work.reset();
      handler(args...);
    });
  }

  /// Nothing is called from now on. What the handler holds is let go of after the state is consistent.
  void drop() {
    const Handler dropped = std::exchange(slot_->handler, nullptr);
    slot_->work.reset();
  }

 private:
  struct Slot {
    Handler handler;
    std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work;
  };

  boost::asio::io_context& io_;
  const std::shared_ptr<Slot> slot_;
};

}  // namespace udtcat::bridge
