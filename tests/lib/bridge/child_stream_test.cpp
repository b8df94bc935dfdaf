// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/child_stream.hpp"

#include <chrono>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

using ReadState = LocalStream::ReadState;

class ChildStreamTest : public testing::Test {
 protected:
  void start(const std::string& script, ChildCompletion proof = ChildCompletion::success) {
    auto started = ChildProcess::start(
        io, {.program = "/bin/sh", .words = {"sh", "-c", script}, .pipe_stderr = false, .core_limit_bytes = {}},
        [](ChildExit) {});
    ASSERT_TRUE(started) << started.error().message();
    child = std::move(*started);
    ChildPipes pipes = child->take_pipes();
    auto made = ChildStream::make(io, *child, std::move(pipes.input), std::move(pipes.output), proof);
    ASSERT_TRUE(made) << made.error().message();
    stream = std::move(*made);
  }
  [[nodiscard]] bool child_ends() {
    return run_until(io, [this] { return child->end().has_value(); });
  }

  boost::asio::io_context io;
  std::unique_ptr<ChildProcess> child;
  std::unique_ptr<LocalStream> stream;
};

TEST_F(ChildStreamTest, CarriesBothWaysToTheChildsExit) {
  start("cat");
  const Bytes payload = random_bytes(3'000);
  EXPECT_FALSE(write_all(io, *stream, payload));
  EXPECT_FALSE(finish(io, *stream));
  const Drained drained = drain(io, *stream);
  EXPECT_EQ(drained.last.state, ReadState::end);
  EXPECT_TRUE(drained.bytes == payload);
}

TEST_F(ChildStreamTest, IsNotFinishedByAChildThatTookAllAndFailed) {
  start("cat > /dev/null; exit 3");
  EXPECT_FALSE(write_all(io, *stream, bytes_of("all of it")));
  EXPECT_EQ(finish(io, *stream).message(), "ended with status 3");
}

TEST_F(ChildStreamTest, IsNotFinishedBeforeTheChildHasEnded) {
  start("cat > /dev/null; exec 0<&- 1>&-; sleep 0.2; kill -TERM $$");
  EXPECT_EQ(finish(io, *stream).message(), "was ended by signal 15");
}

TEST_F(ChildStreamTest, ReportsNoEndOfInputOfAChildThatFailed) {
  start("echo part; exit 3");
  const Drained drained = drain(io, *stream);
  EXPECT_EQ(drained.last.state, ReadState::failed);
  EXPECT_EQ(drained.last.error.message(), "ended with status 3");
  EXPECT_EQ(drained.bytes, bytes_of("part\n"));
}

TEST_F(ChildStreamTest, NamesTheStatusOfAChildThatLeftItsInput) {
  start("exec 0<&-; sleep 0.1; exit 3");
  std::error_code error;
  for (const Bytes payload = random_bytes(1000); !error;) error = write_all(io, *stream, payload);
  EXPECT_EQ(error.message(), "ended with status 3");
}

TEST_F(ChildStreamTest, NamesTheLeftInputOfAChildThatGoesOn) {
  start("exec 0<&-; exec sleep 60");
  std::error_code error;
  for (const Bytes payload = random_bytes(1000); !error;) error = write_all(io, *stream, payload);
  EXPECT_EQ(error, std::errc::broken_pipe);
  child->signal(SIGKILL);
  EXPECT_TRUE(child_ends());
}

TEST_F(ChildStreamTest, NeedsNoStatusWhereOnlyReadingCounts) {
  start("cat > /dev/null; exit 3", ChildCompletion::taken);
  EXPECT_FALSE(finish(io, *stream));
  EXPECT_EQ(drain(io, *stream).last.state, ReadState::end);
}

TEST_F(ChildStreamTest, KeepsALivingChildsInputOpenOnAbortOrDestruction) {
  for (const bool aborts : {true, false}) {
    start("cat > /dev/null", ChildCompletion::taken);
    EXPECT_FALSE(write_all(io, *stream, bytes_of("part")));
    if (aborts) stream->abort();
    stream.reset();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (!child->end() && std::chrono::steady_clock::now() < until) run_ready(io);
    EXPECT_FALSE(child->end()) << "its input has ended";
    child->signal(SIGHUP);
    ASSERT_TRUE(child_ends());
    EXPECT_EQ(child->end()->signal, SIGHUP);
  }
}

}  // namespace
}  // namespace udtcat::bridge
