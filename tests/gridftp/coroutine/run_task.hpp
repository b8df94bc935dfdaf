// SPDX-License-Identifier: Apache-2.0
/// For tests: tasks run on a loop, and connections in memory.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/stream_pair.hpp"

namespace udtcat::gridftp {

using bridge::Bytes;
using bridge::bytes_of;
using bridge::random_bytes;
using bridge::run_ready;
using bridge::run_until;

template <typename T>
using Outcome = std::shared_ptr<std::optional<T>>;

/// Begins a task on the loop; its outcome is there when the loop has run far enough.
template <typename T>
Outcome<T> begin(boost::asio::io_context& io, Task<T> task) {
  auto outcome = std::make_shared<std::optional<T>>();
  boost::asio::co_spawn(
      io, [task = std::move(task), outcome]() mutable -> Task<void> { outcome->emplace(co_await std::move(task)); },
      rethrow);
  return outcome;
}

/// Runs the loop until the outcome is there. Throws, and so fails the test, where it never is.
template <typename T>
T await(boost::asio::io_context& io, const Outcome<T>& outcome) {
  EXPECT_TRUE(run_until(io, [&] { return outcome->has_value(); }));
  return outcome->value();
}

template <typename T>
T run(boost::asio::io_context& io, Task<T> task) {
  return await(io, begin(io, std::move(task)));
}
inline void run(boost::asio::io_context& io, Task<void> task) {
  std::ignore = run(io, [](Task<void> inner) -> Task<bool> {
    co_await std::move(inner);
    co_return true;
  }(std::move(task)));
}

/// A connection in memory: one end for the code under test, one for the peer.
struct Wire {
  explicit Wire(boost::asio::io_context& io) : Wire(bridge::make_stream_pair(io, "wire")) {}
  explicit Wire(std::pair<std::unique_ptr<LocalStream>, std::unique_ptr<LocalStream>> ends)
      : ours(std::make_shared<StreamIo>(std::move(ends.first))), peer(std::move(ends.second)) {}
  void hang_up() { peer.reset(); }

  std::shared_ptr<StreamIo> ours;
  std::unique_ptr<LocalStream> peer;
};

}  // namespace udtcat::gridftp
