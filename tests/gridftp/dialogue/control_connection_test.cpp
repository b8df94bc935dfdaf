// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/control_connection.hpp"

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 60s;
constexpr auto kShort = 20ms;

class ControlConnections : public testing::Test {
 protected:
  void peer_says(std::string_view text) { EXPECT_FALSE(bridge::write_all(io, *wire.peer, bytes_of(text))); }

  boost::asio::io_context io;
  Wire wire{io};
  std::unique_ptr<ControlConnection> control =
      std::make_unique<ControlConnection>(io, wire.ours, Endpoint(), Endpoint());
};

TEST_F(ControlConnections, ReadWhatThePeerSends) {
  peer_says("220 hello\r\n");
  EXPECT_EQ(run(io, control->read(kLong)).value(), "220 hello\r\n");
  const auto heard = begin(io, control->read(kLong));
  run_ready(io);
  EXPECT_FALSE(heard->has_value());
  peer_says("x");
  EXPECT_EQ(await(io, heard).value(), "x");
}

TEST_F(ControlConnections, ReadTheLastBytesBeforeTheClose) {
  peer_says("221 bye\r\n");
  wire.peer->async_finish([](std::error_code) {});
  run_ready(io);
  EXPECT_EQ(run(io, control->read(kLong)).value(), "221 bye\r\n");
  EXPECT_EQ(run(io, control->read(kLong)).error().code, Errc::connection_broken);
  EXPECT_EQ(run(io, control->read(kLong)).error().code, Errc::connection_broken) << "and so it stays";
}

TEST_F(ControlConnections, TimeOutInSilence) {
  EXPECT_EQ(run(io, control->read(kShort)).error().code, Errc::peer_lost);
}

TEST_F(ControlConnections, DoNotTimeOutWhileDataMove) {
  std::uint64_t moved = 0;
  std::uint64_t asked = 0;
  const auto moves = [&] { return ++asked < 20 ? ++moved : moved; };
  EXPECT_EQ(run(io, control->read(2ms, moves)).error().code, Errc::peer_lost);
  EXPECT_GE(asked, 20U) << "it was looked at until it stood still";
}

TEST_F(ControlConnections, WriteAllBytes) {
  const std::string text(3 * bridge::kPairBytes, 'x');
  const auto said = begin(io, control->write(text, kLong));
  std::size_t got = 0;
  Bytes piece(bridge::kPairBytes);
  while (got < text.size()) {
    run_ready(io);
    const auto read = wire.peer->read_some(piece);
    ASSERT_EQ(read.state, LocalStream::ReadState::data);
    got += read.bytes;
  }
  EXPECT_TRUE(await(io, said));
}

TEST_F(ControlConnections, TimeOutWhereThePeerReadsNothing) {
  const std::string text(3 * bridge::kPairBytes, 'x');
  EXPECT_EQ(run(io, control->write(text, kShort)).error().code, Errc::peer_lost);
  EXPECT_FALSE(run(io, control->read(kLong)));
}

TEST_F(ControlConnections, ReadWhileTheyWrite) {
  const auto said = begin(io, control->write(std::string(3 * bridge::kPairBytes, 'x'), kLong));
  run_ready(io);
  peer_says("ABOR\r\n");
  EXPECT_EQ(run(io, control->read(kLong)).value(), "ABOR\r\n");
  EXPECT_FALSE(said->has_value());
}

TEST_F(ControlConnections, StopReadingWhileBytesAreNotTaken) {
  std::size_t taken = 0;
  const Bytes piece(100'000);
  bool waits = false;
  while (!waits && taken < 100'000'000) {
    std::size_t written = 0;
    wire.peer->async_write_some(piece, [&](std::error_code, std::size_t bytes) { written = bytes; });
    run_ready(io);
    waits = written == 0;
    taken += written;
  }
  EXPECT_TRUE(waits);
  EXPECT_LE(taken, ControlConnection::kMaxUnheardBytes + bridge::kPairBytes + 2 * piece.size());
  EXPECT_GE(run(io, control->read(kLong)).value().size(), ControlConnection::kMaxUnheardBytes);
}

TEST_F(ControlConnections, FailAPendingReadWhenClosed) {
  const auto heard = begin(io, control->read(kLong));
  const auto said = begin(io, control->write(std::string(3 * bridge::kPairBytes, 'x'), kLong));
  run_ready(io);
  control->close();
  EXPECT_EQ(await(io, heard).error().code, Errc::interrupted);
  EXPECT_EQ(await(io, said).error().code, Errc::interrupted);
}

TEST_F(ControlConnections, CanBeDestroyedDuringARead) {
  const auto heard = begin(io, control->read(kLong));
  const auto said = begin(io, control->write(std::string(3 * bridge::kPairBytes, 'x'), kLong));
  run_ready(io);
  control.reset();
  EXPECT_FALSE(await(io, heard));
  EXPECT_FALSE(await(io, said));
}

TEST_F(ControlConnections, FailAWriteWhenThePeerIsGone) {
  const auto said = begin(io, control->write(std::string(3 * bridge::kPairBytes, 'x'), kLong));
  run_ready(io);
  wire.hang_up();
  EXPECT_EQ(await(io, said).error().code, Errc::connection_broken);
}

TEST_F(ControlConnections, FinishWhenThePeerHasEverything) {
  EXPECT_TRUE(run(io, control->write("221 bye\r\n", kLong)));
  const auto finished = begin(io, [](ControlConnection& from) -> Task<bool> {
    co_await from.finish();
    co_return true;
  }(*control));
  EXPECT_TRUE(bridge::drain(io, *wire.peer).bytes == bytes_of("221 bye\r\n"));
  EXPECT_TRUE(await(io, finished));
}

Endpoint towards(const std::string& host) {
  return local_address_towards(resolve({.host = host, .port = 9}, AddressFamily::any).value().front());
}

TEST(LocalAddress, IsTheOneThatThePeerSees) {
  EXPECT_EQ(towards("127.0.0.1").to_string(), "127.0.0.1:0");
  EXPECT_EQ(towards("127.0.0.2").to_string(), "127.0.0.1:0") << "of another address of this host, too";
}

TEST(LocalAddress, IsTheWildcardWhereThereIsNoWay) {
  EXPECT_TRUE(towards("255.255.255.255").is_wildcard()) << "broadcast is not for a client that has not asked for it";
}

}  // namespace
}  // namespace udtcat::gridftp
