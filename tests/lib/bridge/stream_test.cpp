// SPDX-License-Identifier: Apache-2.0
#include <udtcat/stream.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/stream_pair.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat {
namespace {

using bridge::Bytes;
using bridge::drain;
using bridge::FakeConnection;
using bridge::finish;
using bridge::random_bytes;
using bridge::run_ready;
using bridge::write_all;

struct ProgramStream : ::testing::Test {
  std::unique_ptr<FakeConnection> connection = std::make_unique<FakeConnection>(bridge::loopback_v4());
  boost::asio::io_context& io = connection->io();
  std::unique_ptr<Stream> stream = static_cast<Connection&>(*connection).open_stream();
  FakeConnection::Bridged& bridged = connection->opened.at(0);

  std::optional<Result<std::size_t>> got;
  std::optional<Status> written;
  std::optional<Status> finished;
  Bytes into = Bytes(100);

  void read() {
    got.reset();
    stream->async_read(into, [this](const Result<std::size_t>& bytes) { got = bytes; });
    EXPECT_FALSE(got) << "never from inside the call";
    run_ready(io);
  }
  void write(const Bytes& bytes) {
    stream->async_write(bytes, [this](const Status& status) { written = status; });
    run_ready(io);
  }
  void finish_it() {
    stream->async_finish([this](const Status& status) { finished = status; });
    run_ready(io);
  }
  /// Takes what is there as the connection does.
  LocalStream::ReadResult take_into(Bytes& taken) {
    Bytes piece(100'000);
    for (;;) {
      const auto read = bridged.local->read_some(piece);
      if (read.state != LocalStream::ReadState::data) return read;
      taken.insert(taken.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(read.bytes));
      run_ready(io);
    }
  }
  void end_with(const Error& error) {
    bridged.local->abort();
    std::exchange(bridged.done, nullptr)({error});
    run_ready(io);
  }
};

TEST_F(ProgramStream, ReadsThePeersBytesAndTheirEnd) {
  read();
  EXPECT_FALSE(got);
  EXPECT_FALSE(write_all(io, *bridged.local, Bytes(150, std::byte{7})));
  run_ready(io);
  ASSERT_TRUE(got && *got);
  EXPECT_EQ(**got, 100U);
  EXPECT_EQ(into, Bytes(100, std::byte{7}));
  read();
  EXPECT_EQ(**got, 50U);
  std::optional<std::error_code> taken;
  bridged.local->async_finish([&](std::error_code error) { taken = error; });
  read();
  EXPECT_EQ(**got, 0U);
  EXPECT_EQ(taken, std::error_code());
}

TEST_F(ProgramStream, WritesAllAndFinishesByTheReceiptOnly) {
  const Bytes much = random_bytes(3'000'000);
  write(much);
  EXPECT_FALSE(written) << "the connection has not taken it";
  Bytes taken;
  EXPECT_EQ(take_into(taken).state, LocalStream::ReadState::would_block);
  ASSERT_TRUE(written && *written);
  finish_it();
  EXPECT_EQ(take_into(taken).state, LocalStream::ReadState::end);
  EXPECT_TRUE(taken == much);
  run_ready(io);
  EXPECT_FALSE(finished) << "the peer has not taken it";
  bridged.local->receipted();
  run_ready(io);
  ASSERT_TRUE(finished && *finished);
}

TEST_F(ProgramStream, HoldsAMegabyteThatTheConnectionHasNotTaken) {
  write(Bytes(bridge::kPairBytes));
  EXPECT_TRUE(written && *written) << "else two programs that write before they read wait for each other";
}

TEST_F(ProgramStream, TellsWhyTheConnectionBrokeItOff) {
  read();
  write(Bytes(2'000'000));
  EXPECT_FALSE(got || written);
  end_with({Errc::peer_lost, "hear from the peer", "silence"});
  ASSERT_TRUE(got && written);
  EXPECT_EQ(got->error().code, Errc::peer_lost);
  EXPECT_EQ(written->error().code, Errc::peer_lost);
  finish_it();
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->error().code, Errc::peer_lost) << "sticky";
}

TEST_F(ProgramStream, FailsWhenItsConnectionIsDestroyed) {
  finish_it();
  read();
  connection->opened.clear();
  run_ready(io);
  ASSERT_TRUE(got && finished);
  EXPECT_EQ(got->error().code, Errc::connection_broken);
  EXPECT_EQ(finished->error().code, Errc::connection_broken);
}

TEST_F(ProgramStream, BreaksOffWhenDestroyedEarly) {
  stream->async_read(into, [](const Result<std::size_t>&) { ADD_FAILURE() << "called after destruction"; });
  stream.reset();
  run_ready(io);
  EXPECT_EQ(drain(io, *bridged.local).last.error, std::errc::connection_reset);
  std::exchange(bridged.done, nullptr)({});
}

TEST_F(ProgramStream, EndsWellWhenDestroyedAtItsEnd) {
  finish_it();
  std::ignore = drain(io, *bridged.local);
  bridged.local->receipted();
  EXPECT_FALSE(finish(io, *bridged.local)) << "nothing was written, so all is read";
  read();
  EXPECT_EQ(**got, 0U);
  stream.reset();
  EXPECT_EQ(drain(io, *bridged.local).last.state, LocalStream::ReadState::end);
}

TEST_F(ProgramStream, IsAcceptedAsItIsOpened) {
  const auto accepted = static_cast<Connection&>(*connection).accept_stream(7);
  ASSERT_TRUE(connection->accepted.contains(7));
  EXPECT_FALSE(write_all(io, *connection->accepted.at(7).local, Bytes(3)));
  std::size_t bytes = 0;
  accepted->async_read(into, [&](const Result<std::size_t>& read) { bytes = read.value_or(0); });
  run_ready(io);
  EXPECT_EQ(bytes, 3U);
}

TEST_F(ProgramStream, GivesACoroutineWhatItGivesAHandler) {
  std::string course;
  boost::asio::co_spawn(
      io,
      [&]() -> boost::asio::awaitable<void> {
        using boost::asio::use_awaitable;
        const Bytes text = random_bytes(300'000);
        course += (co_await stream->async_write(text, use_awaitable)) ? "written " : "broken ";
        const auto bytes = co_await stream->async_read(into, use_awaitable);
        course += bytes ? std::to_string(*bytes) : bytes.error().message();
        course += (co_await stream->async_finish(use_awaitable)) ? " receipted" : " broken";
      },
      boost::asio::detached);
  run_ready(io);
  Bytes taken;
  std::ignore = take_into(taken);
  EXPECT_EQ(taken.size(), 300'000U);
  write_all(io, *bridged.local, random_bytes(7));
  run_ready(io);
  EXPECT_EQ(course, "written 7") << "the receipt is still to come";
  std::ignore = take_into(taken);
  bridged.local->receipted();
  run_ready(io);
  EXPECT_EQ(course, "written 7 receipted");
}

TEST_F(ProgramStream, GivesAFutureToAThreadThatWaits) {
  std::future<Result<std::size_t>> read = stream->async_read(into, boost::asio::use_future);
  write_all(io, *bridged.local, random_bytes(5));
  run_ready(io);
  ASSERT_EQ(read.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_EQ(read.get(), 5U);
}

TEST_F(ProgramStream, CallsAHandlerByTheExecutorThatItIsBoundTo) {
  boost::asio::io_context other;
  stream->async_read(into,
                     boost::asio::bind_executor(other, [this](const Result<std::size_t>& bytes) { got = bytes; }));
  write_all(io, *bridged.local, random_bytes(5));
  run_ready(io);
  EXPECT_FALSE(got);
  run_ready(other);
  EXPECT_EQ(*got, 5U);
}

TEST_F(ProgramStream, FailsWhatIsUnderWayForTheReasonOfItsAbort) {
  read();
  const Error late{Errc::cannot_reach, "read a line", "none came within a second"};
  stream->abort(late);
  EXPECT_FALSE(got) << "never from inside the call";
  run_ready(io);
  EXPECT_EQ(got->error().message(), late.message());
  write(random_bytes(1));
  EXPECT_EQ(written->error().message(), late.message());
  EXPECT_EQ(bridged.local->read_some(into).state, LocalStream::ReadState::failed)
      << "which the connection tells the peer";
}

TEST_F(ProgramStream, LeavesNoCoroutineBehindThatWaitedWhenItsConnectionWent) {
  auto waited = std::make_shared<int>();
  boost::asio::co_spawn(
      io,
      [this, waited]() -> boost::asio::awaitable<void> {
        std::ignore = co_await stream->async_read(into, boost::asio::use_awaitable);
      },
      boost::asio::detached);
  run_ready(io);
  EXPECT_EQ(waited.use_count(), 2);
  end_with({Errc::peer_lost, "read", "gone"});
  EXPECT_EQ(waited.use_count(), 1);
}

}  // namespace
}  // namespace udtcat
