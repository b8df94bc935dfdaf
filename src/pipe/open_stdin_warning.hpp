// SPDX-License-Identifier: Apache-2.0
/// A warning of a pipe that does not end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/local_stream.hpp>

#include "lib/bridge/forwarding_stream.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::pipe {

inline constexpr std::chrono::milliseconds kOpenStdinDelay{3'000};  // guess: enough for an input that ends by itself

/// Whether a descriptor is a pipe, a socket or a file that is not empty, as opposed to a terminal or the null device.
[[nodiscard]] bool has_data(int descriptor);

/// Stdin and stdout as they are. Once all output is written while stdin has given neither a byte nor its end, `warn`
/// is called once, after a while.
/// Threads: confined to the main thread.
class OpenStdinWarning final : public bridge::ForwardingStream {
 public:
  OpenStdinWarning(boost::asio::io_context& io, std::unique_ptr<LocalStream> stdio, std::function<void()> warn,
                   std::chrono::milliseconds timeout = kOpenStdinDelay)
      : ForwardingStream(std::move(stdio)), warn_(std::move(warn)), timeout_(timeout), timer_(io) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;

 private:
  const std::function<void()> warn_;
  const std::chrono::milliseconds timeout_;
  bool has_written_ = false;
  bool has_read_ = false;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::pipe
