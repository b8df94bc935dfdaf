// SPDX-License-Identifier: Apache-2.0
#include "gridftp/coroutine/task.hpp"

#include <new>

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

TEST(StartedTask, HasWhatItThrowsComeOutOfTheLoop) {
  boost::asio::io_context io;
  const auto out_of_memory = [](bool is_so) -> Task<Result<int>> {
    if (is_so) throw std::bad_alloc();
    co_return 1;
  };
  const auto result = start(io, out_of_memory(true), Error{Errc::connection_broken, "wait", "it has ended"});
  EXPECT_THROW(io.run(), std::bad_alloc);
  EXPECT_TRUE(result->is_set()) << "nobody waits for ever";
}

}  // namespace
}  // namespace udtcat::gridftp
