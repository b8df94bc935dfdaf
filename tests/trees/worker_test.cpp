// SPDX-License-Identifier: Apache-2.0
#include "trees/worker.hpp"

#include <future>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "trees/no_threads.hpp"

namespace udtcat::trees {
namespace {

TEST(Worker, WorksOnAThreadOfItsOwnAndTellsTheResultOnce) {
  boost::asio::io_context io;
  std::optional<std::thread::id> worked_on;
  int told = 0;
  const Worker worker(
      io,
      [&]() -> Status {
        worked_on = std::this_thread::get_id();
        return fail(Errc::interrupted, "work");
      },
      [&](const Status& result) {
        ++told;
        EXPECT_EQ(result.error().code, Errc::interrupted);
      });
  io.run();  // for as long as the work is under way
  EXPECT_EQ(told, 1);
  EXPECT_NE(worked_on, std::this_thread::get_id());
}

TEST(Worker, WaitsForItsWorkAndTellsNobodyOnceItIsGone) {
  boost::asio::io_context io;
  std::promise<void> end;
  bool has_ended = false;
  bool is_told = false;
  {
    const Worker worker(
        io,
        [&] {
          end.get_future().wait();
          has_ended = true;
          return Status();
        },
        [&](const Status& /*nobody asks*/) { is_told = true; });
    end.set_value();
  }
  EXPECT_TRUE(has_ended);
  io.run();
  EXPECT_FALSE(is_told);
}

TEST(Worker, TellsWhereThereIsNoThreadToBeHad) {
  boost::asio::io_context io;
  int told = 0;
  const NoThreads none;
  const Worker worker(
      io,
      [] {
        ADD_FAILURE() << "there is none";
        return Status();
      },
      [&](const Status& result) {
        ++told;
        EXPECT_EQ(result.error().code, Errc::out_of_resources);
      });
  EXPECT_FALSE(worker.started());
  EXPECT_EQ(told, 0) << "not from within";
  io.restart();
  io.run();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace udtcat::trees
