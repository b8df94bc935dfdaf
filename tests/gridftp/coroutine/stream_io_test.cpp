// SPDX-License-Identifier: Apache-2.0
#include "gridftp/coroutine/stream_io.hpp"

#include "gridftp/coroutine/run_task.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {
namespace {

class StreamIos : public testing::Test {
 protected:
  void peer_says(std::string_view text) { EXPECT_FALSE(bridge::write_all(io, *wire.peer, bytes_of(text))); }

  boost::asio::io_context io;
  Wire wire{io};
  Bytes into = Bytes(10);
};

TEST_F(StreamIos, ReadAllThatIsAskedFor) {
  const auto read = begin(io, wire.ours->read(into));
  peer_says("hello");
  run_ready(io);
  EXPECT_FALSE(read->has_value());
  peer_says("world and more");
  EXPECT_EQ(await(io, read).value(), 10U);
  EXPECT_TRUE(into == bytes_of("helloworld"));
}

TEST_F(StreamIos, ReadUpToTheEnd) {
  peer_says("abc");
  wire.peer->async_finish([](std::error_code) {});
  EXPECT_EQ(run(io, wire.ours->read(into)).value(), 3U);
  EXPECT_EQ(run(io, wire.ours->read(into)).value(), 0U);
}

TEST_F(StreamIos, TakeWhatIsThereWithoutWaiting) {
  EXPECT_EQ(wire.ours->take(into).value(), std::nullopt);
  const auto waited = begin(io, [](StreamIo& stream) -> Task<bool> {
    co_await stream.wait_readable();
    co_return true;
  }(*wire.ours));
  run_ready(io);
  EXPECT_FALSE(waited->has_value());
  peer_says("abc");
  EXPECT_TRUE(await(io, waited));
  EXPECT_EQ(wire.ours->take(into).value(), 3U);
}

TEST_F(StreamIos, WriteEverythingHoweverSlowlyItIsRead) {
  const Bytes all = random_bytes(3 * bridge::kPairBytes + 7);
  const auto written = begin(io, wire.ours->write(all));
  run_ready(io);
  EXPECT_FALSE(written->has_value());
  Bytes got;
  Bytes piece(100'000);
  while (got.size() < all.size()) {
    run_ready(io);
    const auto read = wire.peer->read_some(piece);
    ASSERT_EQ(read.state, LocalStream::ReadState::data);
    got.insert(got.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(read.bytes));
  }
  EXPECT_TRUE(await(io, written));
  EXPECT_TRUE(got == all);
}

TEST_F(StreamIos, TellThatTheOtherSideBroke) {
  wire.hang_up();
  EXPECT_EQ(run(io, wire.ours->read(into)).error().code, Errc::connection_broken);
  EXPECT_EQ(run(io, wire.ours->write(into)).error().code, Errc::connection_broken);
  EXPECT_EQ(run(io, wire.ours->finish()).error().code, Errc::connection_broken);
}

TEST_F(StreamIos, DropWaitingCoroutinesWhenAborted) {
  const auto read = begin(io, wire.ours->read(into));
  run_ready(io);
  wire.ours->abort();
  run_ready(io);
  EXPECT_FALSE(read->has_value());
  EXPECT_EQ(read.use_count(), 1) << "and its coroutine is gone";
}

Task<Result<Endpoint>> reach(boost::asio::io_context& io, std::vector<Endpoint> addresses,
                             std::chrono::milliseconds timeout) {
  UDTCAT_CO_TRY(auto socket, co_await connect_tcp(io, std::move(addresses), timeout, "connect to it"));
  boost::asio::socket_base::linger linger;
  socket.get_option(linger);
  EXPECT_FALSE(linger.enabled()) << "its end is no reset";
  co_return bridge::from_asio(socket.remote_endpoint());
}

TEST(TcpConnections, AreMadeToTheFirstThatAnswersBesideOneThatIsSilent) {
  boost::asio::io_context io;
  const bridge::SilentPort silent(io);
  const bridge::RefusingPort refusing(io);
  const bridge::tcp::acceptor listening(io, bridge::loopback());
  const Endpoint answering = bridge::from_asio(listening.local_endpoint());
  const auto made = run(io, reach(io, {silent.endpoint(), refusing.endpoint(), answering}, std::chrono::hours(1)));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(*made, answering);
}

TEST(TcpConnections, SayWhatWasTriedAndWhyTheLastFailed) {
  boost::asio::io_context io;
  const bridge::RefusingPort refusing(io);
  const auto refused = run(io, reach(io, {refusing.endpoint()}, std::chrono::hours(1)));
  EXPECT_EQ(refused.error().code, Errc::cannot_reach);
  EXPECT_EQ(refused.error().message(), "connect to it: connection refused");
  const bridge::SilentPort silent(io);
  const auto late = run(io, reach(io, {silent.endpoint()}, std::chrono::milliseconds(10)));
  EXPECT_EQ(late.error().code, Errc::cannot_reach);
}

TEST_F(StreamIos, AreConnectedToTheAddressesOfAHost) {
  const auto found = run(io, look_up(io, {"127.0.0.1", 2811}, test::kWatchdog));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, std::vector<Endpoint>(1, bridge::loopback_v4().with_port(2811)));
}

}  // namespace
}  // namespace udtcat::gridftp
