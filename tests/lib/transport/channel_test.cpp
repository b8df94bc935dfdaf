// SPDX-License-Identifier: Apache-2.0
/// A channel over src/lib/transport/libudt, src/lib/transport/native and src/lib/transport/tcp: what each owes to a
/// session.
#include <algorithm>

#include "lib/transport/transport_fixture.hpp"

namespace udtcat::transport {
namespace {

class Channels : public TransportTest, public testing::WithParamInterface<std::tuple<TransportKind, AddressFamily>> {
 protected:
  Channels() : TransportTest(options_for(std::get<0>(GetParam()))), pair(connect_pair(std::get<1>(GetParam()))) {}
  Pair pair;
};

INSTANTIATE_TEST_SUITE_P(EachTransport, Channels,
                         testing::Combine(testing::ValuesIn(transports()),
                                          testing::Values(AddressFamily::ipv4, AddressFamily::ipv6)),
                         [](const auto& row) {
                           const bool ipv6 = std::get<1>(row.param) == AddressFamily::ipv6;
                           return name_of(std::get<0>(row.param)) + (ipv6 ? "Ipv6" : "Ipv4");
                         });

TEST_P(Channels, CarryBytesUnchangedBothWaysAtOnce) {
  constexpr std::size_t kBytes = 8 << 20;
  const auto up = random_bytes(kBytes, 1);
  const auto down = random_bytes(kBytes, 2);
  std::vector<std::byte> got_up(kBytes);
  std::vector<std::byte> got_down(kBytes);
  int finished = 0;
  const auto finish = [&](const Status& status) {
    EXPECT_TRUE(status) << status.error().message();
    ++finished;
  };
  pair.here->async_read(got_down, finish);
  pair.there->async_read(got_up, finish);
  pair.here->async_write(copy_of(up), finish);
  pair.there->async_write(copy_of(down), finish);
  ASSERT_TRUE(run_until([&] { return finished == 4; }, 60s));
  EXPECT_TRUE(got_up == up);
  EXPECT_TRUE(got_down == down);
  EXPECT_EQ(pair.here->stats().bytes_received, kBytes);
  EXPECT_EQ(pair.there->stats().bytes_received, kBytes);
  EXPECT_GE(pair.here->stats().packets_sent, kBytes / 65'536);
  EXPECT_GT(pair.here->stats().rtt, std::chrono::microseconds(0));
}

TEST_P(Channels, KeepTheOrderOfManyOutstandingWrites) {
  std::vector<std::vector<std::byte>> pieces;
  std::vector<std::byte> all;
  for (unsigned i = 0; i < 300; ++i) {
    pieces.push_back(random_bytes((i * 977) % 20'000, i));
    all.insert(all.end(), pieces.back().begin(), pieces.back().end());
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    pair.here->async_write(copy_of(pieces[i]), [&, i](const Status& status) {
      EXPECT_TRUE(status);
      order.push_back(i);
    });
  std::vector<std::byte> got(all.size());
  ASSERT_TRUE(read(*pair.there, got));
  EXPECT_TRUE(got == all);
  ASSERT_TRUE(run_until([&] { return order.size() == pieces.size(); }));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(Channels, CarryADatagramAheadOfWhatNobodyReadsWhereTheTransportHasThem) {
  pair.here->async_write(copy_of(random_bytes(8 << 20, 1)), [](const Status&) {});
  const bool has_them = std::get<0>(GetParam()) == TransportKind::native;
  EXPECT_EQ(pair.here->datagram_room_bytes() >= 1216, has_them);
  const auto word = random_bytes(100, 2);
  std::vector<std::byte> got;
  pair.there->on_datagram([&](std::span<const std::byte> bytes) { got.assign(bytes.begin(), bytes.end()); });
  pair.here->send_datagram(word);
  EXPECT_EQ(run_until([&] { return got == word; }, has_them ? 10s : 100ms), has_them);
}

TEST_P(Channels, KnowTheirPeers) {
  EXPECT_EQ(pair.here->peer().with_port(0), loopback(std::get<1>(GetParam())));
  EXPECT_EQ(pair.there->peer().with_port(0), loopback(std::get<1>(GetParam())));
  EXPECT_NE(pair.there->peer().port(), pair.here->peer().port());
  EXPECT_FALSE(pair.here->port_closed_since());
}

TEST_P(Channels, CountBytesOfAReadStillInProgress) {
  std::vector<std::byte> into(1000);
  bool called = false;
  pair.there->async_read(into, [&](const Status&) { called = true; });
  ASSERT_TRUE(write(*pair.here, random_bytes(10, 1)));
  EXPECT_TRUE(run_until([&] { return pair.there->stats().bytes_received == 10; }));
  EXPECT_FALSE(called);
}

TEST_P(Channels, EndTheReadOfAPeerThatClosed) {
  std::vector<std::byte> into(1000);
  ASSERT_TRUE(write(*pair.here, random_bytes(10, 1)));
  pair.here->close(5s);
  const Status ended = read(*pair.there, into);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Errc::connection_broken);
  EXPECT_NE(ended.error().message().find(pair.there->peer().to_string()), std::string::npos) << ended.error().message();
  EXPECT_EQ(pair.there->stats().bytes_received, 10U) << "what was written before the close came first";
  EXPECT_EQ(read(*pair.there, into).error().code, Errc::connection_broken) << "sticky";
  ASSERT_TRUE(run_until([&] { return !write(*pair.there, into); }));
}

TEST_P(Channels, SendWhatWasWrittenBeforeTheyClose) {
  const auto bytes = random_bytes(4 << 20, 3);
  int taken = 0;
  for (int i = 0; i < 4; ++i)
    pair.here->async_write(copy_of(bytes), [&](const Status& status) { taken += status ? 1 : 0; });
  pair.here->close(30s);
  std::vector<std::byte> got(bytes.size());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(read(*pair.there, got));
    EXPECT_TRUE(got == bytes);
  }
  EXPECT_TRUE(run_until([&] { return taken == 4; }));
  EXPECT_EQ(write(*pair.here, bytes).error().code, Errc::connection_broken) << "closed";
}

TEST_P(Channels, GoOnDrainingWhenDestroyedMeanwhile) {
  const auto bytes = random_bytes(1 << 18, 4);
  ASSERT_TRUE(write(*pair.here, bytes));
  pair.here->close(30s);
  pair.here.reset();
  std::vector<std::byte> got(bytes.size());
  ASSERT_TRUE(read(*pair.there, got));
  EXPECT_TRUE(got == bytes);
}

TEST_P(Channels, GoOnAtOnceWhenTheirReaderDoes) {
  const auto bytes = random_bytes(3 << 20, 8);
  pair.here->async_write(copy_of(bytes), [](const Status&) {});
  std::vector<std::chrono::milliseconds> times;
  std::vector<std::byte> got(bytes.size() / 3);
  for (int i = 0; i < 3; ++i) {
    run_for(500ms);  // nobody reads: the window shuts
    const auto before = Clock::now();
    ASSERT_TRUE(read(*pair.there, got));
    times.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - before));
  }
  std::ranges::sort(times);
  EXPECT_LT(times[1], 100ms) << "of three, the middle one";
}

TEST_P(Channels, EndOutstandingOperationsWhenClosed) {
  std::vector<std::byte> into(1000);
  const auto more_than_fits = random_bytes(96 << 20, 5);  // nobody reads it
  std::optional<Status> was_read;
  std::optional<Status> was_written;
  pair.here->async_read(into, [&](Status status) { was_read = std::move(status); });
  pair.here->async_write(copy_of(more_than_fits), [&](Status status) { was_written = std::move(status); });
  run_for(100ms);
  EXPECT_FALSE(was_read || was_written);
  const auto before = Clock::now();
  pair.here->close(300ms);
  EXPECT_LT(Clock::now() - before, 200ms) << "returns at once";
  ASSERT_TRUE(run_until([&] { return was_read && was_written; }, 5s));
  EXPECT_EQ(was_read->error().code, Errc::connection_broken);
  EXPECT_EQ(was_written->error().code, Errc::connection_broken);
  EXPECT_EQ(read(*pair.here, into).error().code, Errc::connection_broken);
}

TEST_P(Channels, CallNoHandlerOnceDestroyed) {
  std::vector<std::byte> into(1000);
  const auto more_than_fits = random_bytes(96 << 20, 6);
  bool called = false;
  pair.here->async_read(into, [&](const Status&) { called = true; });
  pair.here->async_write(copy_of(more_than_fits), [&](const Status&) { called = true; });
  const auto before = Clock::now();
  pair.here.reset();
  EXPECT_LT(Clock::now() - before, 1s);
  EXPECT_FALSE(run_until([&] { return called; }, 100ms));
}

TEST_P(Channels, ReadWhatThereIsAndThenTheEnd) {
  const auto bytes = random_bytes(3 << 20, 8);
  pair.here->async_write(copy_of(bytes), [](const Status&) {});
  pair.here->close(30s);
  std::vector<std::byte> got;
  std::vector<std::byte> into(100'000);
  for (;;) {
    const auto read = read_some(*pair.there, into);
    ASSERT_TRUE(read) << read.error().message();
    if (*read == 0) break;
    got.insert(got.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(*read));
  }
  EXPECT_TRUE(got == bytes);
  EXPECT_EQ(read_some(*pair.there, into).value_or(1), 0U) << "sticky";
  EXPECT_EQ(read(*pair.there, into).error().code, Errc::connection_broken) << "who counts on bytes is told";
}

TEST_P(Channels, ReadAtLeastWhatIsAskedForAndNoMoreThanThereIsRoomFor) {
  const auto bytes = random_bytes(100'000, 8);
  ASSERT_TRUE(write(*pair.here, std::span(bytes).first(60'000)));
  std::vector<std::byte> into(80'000);
  std::optional<Result<std::size_t>> got;
  pair.there->async_read_least(into, 70'000, [&](Result<std::size_t> read) { got = std::move(read); });
  run_for(100ms);
  EXPECT_FALSE(got);
  ASSERT_TRUE(write(*pair.here, std::span(bytes).subspan(60'000)));
  ASSERT_TRUE(run_until([&] { return got.has_value(); }));
  const std::size_t read_bytes = got->value_or(0);
  ASSERT_GE(read_bytes, 70'000U);
  ASSERT_LE(read_bytes, into.size());
  std::vector<std::byte> rest(bytes.size() - read_bytes);
  ASSERT_TRUE(read(*pair.there, rest));
  into.resize(read_bytes);
  into.insert(into.end(), rest.begin(), rest.end());
  EXPECT_TRUE(into == bytes);
}

TEST_P(Channels, SeeTheEndOfAPeerThatNeverSpoke) {
  std::vector<std::byte> into(10);
  std::optional<Result<std::size_t>> got;
  pair.there->async_read_some(into, [&](Result<std::size_t> read) { got = std::move(read); });
  run_for(4s);  // longer than the silence that tells the lost from the closed
  pair.here->close(1s);
  ASSERT_TRUE(run_until([&] { return got.has_value(); }));
  EXPECT_EQ(got->value_or(1), 0U);
}

TEST_P(Channels, ReadTheRestAndTheEndLongAfterIt) {
  std::vector<std::byte> into(10);
  ASSERT_TRUE(write(*pair.here, random_bytes(20, 1)));
  pair.here->close(5s);
  ASSERT_EQ(read_some(*pair.there, into).value_or(0), 10U);
  run_for(5s);  // a consumer that takes its time
  ASSERT_EQ(read_some(*pair.there, into).value_or(0), 10U);
  EXPECT_EQ(read_some(*pair.there, into).value_or(1), 0U);
}

// libudt throws away what nobody has read a minute after the end.
TEST_P(Channels, SayThatBytesAreMissingWhereLibudtThrewThemAwaySoak) {
  if (std::get<0>(GetParam()) == TransportKind::tcp) GTEST_SKIP() << "its first window is less than that";
  const auto bytes = random_bytes(256 << 10, 3);
  ASSERT_TRUE(write(*pair.here, bytes));
  ASSERT_TRUE(drained(*pair.here));
  pair.here->close(5s);
  std::vector<std::byte> into(1 << 16);
  std::size_t got = read_some(*pair.there, into).value_or(0);
  run_for(75s);
  for (;;) {
    const auto read = read_some(*pair.there, into);
    if (!read) {
      EXPECT_LT(got, bytes.size());
      return;
    }
    if (*read == 0) break;
    got += *read;
  }
  EXPECT_EQ(got, bytes.size()) << "an end, and not all was read";
}

TEST_P(Channels, EndReadingSomeWhenClosedHere) {
  std::vector<std::byte> into(10);
  std::optional<Result<std::size_t>> got;
  pair.here->async_read_some(into, [&](Result<std::size_t> read) { got = std::move(read); });
  pair.here->close(0s);
  ASSERT_TRUE(run_until([&] { return got.has_value(); }));
  EXPECT_FALSE(*got);
}

TEST_P(Channels, SayWhenThePeerHasItAll) {
  ASSERT_TRUE(drained(*pair.here)) << "nothing was written";
  const auto bytes = random_bytes(4 << 20, 9);
  int taken = 0;
  pair.here->async_write(copy_of(bytes), [&](const Status& status) { taken += status ? 1 : 0; });
  std::vector<std::byte> got(bytes.size());
  bool arrived = false;
  pair.there->async_read(got, [&](const Status& status) { arrived = status.has_value(); });
  ASSERT_TRUE(drained(*pair.here));
  EXPECT_EQ(taken, 1) << "in the order of the calls";
  ASSERT_TRUE(run_until([&] { return arrived; }));
  EXPECT_TRUE(got == bytes);
}

TEST_P(Channels, SayWhenThePeerClosedBeforeItHadItAll) {
  const auto more_than_fits = random_bytes(96 << 20, 5);  // nobody reads it
  pair.here->async_write(copy_of(more_than_fits), [](const Status&) {});
  std::optional<Status> got;
  pair.here->async_drained([&](Status status) { got = std::move(status); });
  run_for(100ms);
  EXPECT_FALSE(got);
  pair.there->close(0s);
  ASSERT_TRUE(run_until([&] { return got.has_value(); }));
  EXPECT_EQ(got->error().code, Errc::connection_broken);
}

// libudt holds a full last packet back for 100 ms, see Connection::send.
TEST_P(Channels, DeliverWritesOfWholePacketsPromptly) {
  ASSERT_TRUE(write(*pair.there, random_bytes(1, 1)));
  std::vector<std::byte> first(1);
  ASSERT_TRUE(read(*pair.here, first));
  const std::size_t payload = std::get<1>(GetParam()) == AddressFamily::ipv6 ? 8980 - 44 : 9000 - 44;
  std::vector<std::chrono::microseconds> times;
  for (int i = 0; i < 9; ++i) {
    const auto bytes = random_bytes(payload * (i % 3 == 0 ? 1 : 10), 7);
    std::vector<std::byte> got(bytes.size());
    const auto before = Clock::now();
    pair.here->async_write(copy_of(bytes), [](const Status&) {});
    ASSERT_TRUE(read(*pair.there, got));
    times.push_back(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - before));
    EXPECT_TRUE(got == bytes);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times[times.size() / 2], 90ms) << "of nine, the middle one";
}

}  // namespace
}  // namespace udtcat::transport
