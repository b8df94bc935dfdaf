// SPDX-License-Identifier: Apache-2.0
/// One question for the state of this process, whose rates need two moments.
#pragma once

#include <chrono>
#include <functional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/lifetime.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat::tool {

/// Rates in an answer are those of this time, for which the asking end waits: an idle process need not count.
inline constexpr std::chrono::milliseconds kStatusInterval{250};  // guess: some round trips of a long path

using SnapshotSource = std::function<ProcessSnapshot()>;

/// Threads: confined to the executor's thread.
class SnapshotQuestion {
 public:
  using Handler = std::function<void(ProcessSnapshot)>;

  explicit SnapshotQuestion(const boost::asio::any_io_executor& executor) : timer_(executor) {}

  /// Once. Nothing is called any more after destruction.
  void async_ask(SnapshotSource source, Handler handler);

 private:
  Rates rates_;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
