// SPDX-License-Identifier: Apache-2.0
/// The wait until a socket can be read or written, or for a while instead.
#pragma once

#include <functional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Threads: confined to the io_context's.
class SocketWait {
 public:
  using Readiness = boost::asio::posix::stream_descriptor::wait_type;

  /// on_ready   ends each wait
  SocketWait(boost::asio::io_context& io, std::function<void()> on_ready)
      : descriptor_(io), timer_(io), on_ready_(std::move(on_ready)) {}
  ~SocketWait() { stop_watching(); }
  SocketWait(const SocketWait&) = delete;
  SocketWait& operator=(const SocketWait&) = delete;

  /// descriptor   watched from now on until another wait or stop_watching(): a watched socket wakes the io_context with
  ///              each datagram, also while none is waited for. It stays its owner's
  /// instead      so long where the system has no room to watch one more descriptor
  void until(Readiness readiness, int descriptor, Duration instead) {
    boost::system::error_code no_room;
    if (!descriptor_.is_open()) descriptor_.assign(descriptor, no_room);
    if (no_room) return after(instead);
    descriptor_.async_wait(readiness, lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) on_ready_();
    }));
  }
  void after(Duration time) {
    stop_watching();
    timer_.expires_after(time);
    timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) on_ready_();
    }));
  }
  [[nodiscard]] bool is_watching() const { return descriptor_.is_open(); }
  void stop_watching() {
    if (descriptor_.is_open()) descriptor_.release();
  }

 private:
  boost::asio::posix::stream_descriptor descriptor_;  // borrowed; open while it is watched
  boost::asio::steady_timer timer_;
  const std::function<void()> on_ready_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
