// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/fd_writer.hpp"

#include <atomic>
#include <cstdio>
#include <tuple>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <udtcat/units.hpp>

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::bridge {
namespace {

struct FdWriterTest : ::testing::Test {
  std::unique_ptr<FdWriter> start(Descriptor to) { return FdWriter::start(io, to.release()).value(); }

  /// Writes until a write stays unanswered because the consumer takes nothing.
  void stall(FdWriter& writer) {
    payload = random_bytes(8 * kMiB);
    std::size_t written = 0;
    writer.async_write_some(payload, [&](std::error_code, std::size_t bytes) { written = bytes; });
    ASSERT_TRUE(run_until(io, [&] { return written > 0; }));
    ASSERT_LT(written, payload.size());
    writer.async_write_some(payload, [](std::error_code, std::size_t) { ADD_FAILURE() << "called after the end"; });
  }

  boost::asio::io_context io;
  Bytes payload;
};

class FdWriterSizes : public FdWriterTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(FdWriterSizes, WritesAPipeToItsEnd) {
  payload = random_bytes(GetParam());
  Ends pipe = make_pipe();
  auto consumed = read_all_in_background(pipe.read.number());
  const auto writer = start(std::move(pipe.write));
  EXPECT_FALSE(write_all(io, *writer, payload));
  EXPECT_FALSE(finish(io, *writer));
  EXPECT_TRUE(consumed.get() == payload) << "and the consumer saw the end";
}
INSTANTIATE_TEST_SUITE_P(Bytes, FdWriterSizes, ::testing::Values(0, 1, 4096, 65537, 10 * kMiB));

TEST_F(FdWriterTest, WritesAFileAndClosesIt) {
  std::FILE* const file = std::tmpfile();
  payload = random_bytes(3 * kMiB);
  const auto writer = start(Descriptor(::dup(::fileno(file))));
  EXPECT_FALSE(write_all(io, *writer, payload));
  EXPECT_FALSE(finish(io, *writer));
  std::rewind(file);
  EXPECT_TRUE(read_all(::fileno(file)) == payload);
  std::fclose(file);
}

TEST_F(FdWriterTest, SaysThatTheDiskIsFull) {
  const auto writer = start(Descriptor(::open("/dev/full", O_WRONLY)));
  EXPECT_EQ(write_all(io, *writer, bytes_of("x")), std::errc::no_space_on_device);
}

TEST_F(FdWriterTest, ReportsAConsumerThatIsGone) {
  Ends pipe = make_pipe();
  std::ignore = pipe.read.close();
  EXPECT_EQ(write_all(io, *start(std::move(pipe.write)), bytes_of("x")), std::errc::broken_pipe);
  auto [ours, theirs] = make_socket_pair();
  std::ignore = theirs.close();
  EXPECT_EQ(write_all(io, *start(std::move(ours)), bytes_of("x")), std::errc::broken_pipe);
}

TEST_F(FdWriterTest, FinishesAPipeOnlyAfterItsReaderTookTheLastByte) {
  Ends pipe = make_pipe();
  const auto writer = start(std::move(pipe.write));
  EXPECT_FALSE(write_all(io, *writer, bytes_of("ab")));
  std::atomic<bool> takes_last = false;
  std::optional<std::error_code> outcome;
  writer->async_finish([&](std::error_code error) {
    EXPECT_TRUE(takes_last);
    outcome = error;
  });
  char byte = 0;
  ASSERT_EQ(::read(pipe.read.number(), &byte, 1), 1);
  run_ready(io);
  EXPECT_FALSE(outcome);
  takes_last = true;
  ASSERT_EQ(::read(pipe.read.number(), &byte, 1), 1);
  ASSERT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  EXPECT_FALSE(*outcome);
  EXPECT_EQ(::read(pipe.read.number(), &byte, 1), 0);
}

TEST_F(FdWriterTest, FailsToFinishAPipeWhoseReaderLeavesBytesUnread) {
  Ends pipe = make_pipe();
  const auto writer = start(std::move(pipe.write));
  EXPECT_FALSE(write_all(io, *writer, bytes_of("ab")));
  std::optional<std::error_code> outcome;
  writer->async_finish([&](std::error_code error) { outcome = error; });
  std::ignore = pipe.read.close();
  ASSERT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  EXPECT_EQ(*outcome, std::errc::broken_pipe);
}

TEST_F(FdWriterTest, FinishesAUnixSocketOnlyAfterItsReaderTookAll) {
  auto [ours, theirs] = make_socket_pair();
  const auto writer = start(std::move(ours));
  EXPECT_FALSE(write_all(io, *writer, bytes_of("ab")));
  std::atomic<bool> takes = false;
  std::optional<std::error_code> outcome;
  writer->async_finish([&](std::error_code error) {
    EXPECT_TRUE(takes);
    outcome = error;
  });
  run_ready(io);
  takes = true;
  EXPECT_EQ(read_all(theirs.number()), bytes_of("ab"));
  ASSERT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  EXPECT_FALSE(*outcome);
}

TEST_F(FdWriterTest, FailsToFinishAUnixSocketWhoseReaderLeavesBytesUnread) {
  auto [ours, theirs] = make_socket_pair();
  const auto writer = start(std::move(ours));
  EXPECT_FALSE(write_all(io, *writer, bytes_of("ab")));
  std::ignore = theirs.close();
  EXPECT_EQ(finish(io, *writer), std::errc::connection_reset);
}

TEST_F(FdWriterTest, FinishesATcpSocketOnlyAfterThePeersSystemHasAll) {
  TcpPair pair(io);
  pair.theirs.set_option(boost::asio::socket_base::receive_buffer_size(4096));
  pair.ours.set_option(boost::asio::socket_base::send_buffer_size(200'000));
  const auto writer = start(Descriptor(pair.ours.release()));
  payload = random_bytes(150'000);  // more than a window that nobody has read from, less than a buffer
  EXPECT_FALSE(write_all(io, *writer, payload));
  std::optional<std::error_code> outcome;
  writer->async_finish([&](std::error_code error) { outcome = error; });
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < until) run_ready(io);
  EXPECT_FALSE(outcome) << "its window is closed";
  auto consumed = read_all_in_background(pair.theirs.native_handle());
  EXPECT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  EXPECT_FALSE(*outcome);
  EXPECT_TRUE(consumed.get() == payload) << "and sees the end, no reset";
}

TEST_F(FdWriterTest, ResetsATcpSocketThatIsDestroyedInTheMiddle) {
  TcpPair pair(io);
  auto writer = start(Descriptor(pair.ours.release()));
  EXPECT_FALSE(write_all(io, *writer, bytes_of("x")));
  writer.reset();
  char byte = 0;
  boost::system::error_code error;
  while (!error) pair.theirs.read_some(boost::asio::buffer(&byte, 1), error);
  EXPECT_EQ(error, boost::asio::error::connection_reset);
}

TEST_F(FdWriterTest, StopsAtOnceWhileTheConsumerOfAPipeIsStopped) {
  Ends pipe = make_pipe();
  auto writer = start(std::move(pipe.write));
  stall(*writer);
  writer->stop();
  EXPECT_FALSE(read_all(pipe.read.number()).empty()) << "and the consumer sees the end of what there was";
  writer.reset();
  run_ready(io);
}

TEST_F(FdWriterTest, StopsAtOnceWhileTheConsumerOfASocketIsStopped) {
  auto [ours, theirs] = make_socket_pair();
  auto writer = start(std::move(ours));
  stall(*writer);
  writer.reset();
  run_ready(io);
}

TEST_F(FdWriterTest, StopsAtOnceWhileATerminalIsStopped) {
  const Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_EQ(::grantpt(master.number()), 0);
  ASSERT_EQ(::unlockpt(master.number()), 0);
  char name[64] = {};
  ASSERT_EQ(::ptsname_r(master.number(), name, sizeof name), 0);
  auto writer = start(Descriptor(::open(name, O_RDWR | O_NOCTTY)));
  stall(*writer);
  writer.reset();
  run_ready(io);
}

TEST_F(FdWriterTest, StopsAtOnceWhileItWaitsForTheReaderOfAPipe) {
  Ends pipe = make_pipe();
  auto writer = start(std::move(pipe.write));
  EXPECT_FALSE(write_all(io, *writer, bytes_of("ab")));
  writer->async_finish([](std::error_code) { ADD_FAILURE() << "called after destruction"; });
  writer.reset();
  run_ready(io);
}

TEST_F(FdWriterTest, LeavesSharedFlagsAsTheyAre) {
  Ends pipe = make_pipe();
  auto [ours, theirs] = make_socket_pair();
  for (Descriptor* given : {&pipe.write, &ours}) {
    const Descriptor shared(::dup(given->number()));
    const int before = ::fcntl(shared.number(), F_GETFL);
    const auto writer = start(std::move(*given));
    EXPECT_FALSE(write_all(io, *writer, bytes_of("x")));
    EXPECT_EQ(::fcntl(shared.number(), F_GETFL), before);
    writer->stop();
    EXPECT_EQ(::fcntl(shared.number(), F_GETFL), before);
  }
}

}  // namespace
}  // namespace udtcat::bridge
