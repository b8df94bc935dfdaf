// SPDX-License-Identifier: Apache-2.0
/// Peers that fall silent, and connections on which nobody has anything to say.
#include "interop/interop_fixture.hpp"
#include "interop/peer_process.hpp"
#include "lib/transport/transport_fixture.hpp"

namespace udtcat::test::interop {
namespace {

class SilentPeer : public ByRole {
 protected:
  /// Ours here, `who` in a process of its own. Reads the dot that it sends.
  void connect(Who who, std::chrono::milliseconds idle_timeout) {
    TransportOptions options;
    options.idle_timeout = idle_timeout;
    end = std::make_unique<OurEnd>(options);
    if (role() == Role::connects) {
      process = std::make_unique<PeerProcess>(who);
      auto connected = end->connect(loopback(AddressFamily::ipv4, process->port()));
      ASSERT_TRUE(connected) << connected.error().message();
      ours = std::move(*connected);
    } else {
      const std::uint16_t port = end->listen();
      end->start_accept();
      process = std::make_unique<PeerProcess>(who, port);
      ours = end->accepted(5s);
      ASSERT_TRUE(ours);
    }
    std::byte dot{};
    ASSERT_EQ(ours->read({&dot, 1}), "");
    ASSERT_EQ(dot, std::byte{'.'});
  }
  /// How long until our read ends.
  std::optional<std::chrono::milliseconds> break_within(std::chrono::milliseconds limit) {
    const auto begin = Clock::now();
    ours->start_read(1);
    const auto ended = ours->read_ended(limit);
    if (!ended) return std::nullopt;
    EXPECT_FALSE(*ended);
    EXPECT_EQ(ended->error().code, Errc::connection_broken);
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  }

  std::unique_ptr<OurEnd> end;
  std::unique_ptr<PeerProcess> process;
  std::unique_ptr<OurChannel> ours;
};
UDTCAT_FOR_BOTH_ROLES(SilentPeer);

TEST_P(SilentPeer, ThatIsFrozenIsGivenUpInTheTimeAsked) {
  connect(Who::libudt, 3s);
  process->freeze();
  const auto took = break_within(10s);
  ASSERT_TRUE(took) << "its idle timeout is 3 s";
  std::printf("broken after %ld ms\n", took->count());
  EXPECT_GT(*took, 2s);
  EXPECT_LT(*took, 6s);
}

TEST_P(SilentPeer, ThatIsFrozenForAMomentComesBack) {
  connect(Who::libudt, 5s);
  process->freeze();
  EXPECT_FALSE(break_within(2s));
  process->thaw();
  const auto ended = ours->read_ended(5s);
  EXPECT_FALSE(ended) << "the connection broke although libudt lives";
}

TEST_P(SilentPeer, ThatIsDeadIsKnownFromItsPort) {
  connect(Who::libudt, 20s);
  EXPECT_FALSE(ours->port_is_closed());
  process->kill();
  const auto begin = Clock::now();
  while (!ours->port_is_closed() && Clock::now() - begin < 8s) let_pass(10ms);
  EXPECT_TRUE(ours->port_is_closed());
}

TEST_P(SilentPeer, ThatIsDeadIsGivenUpInTheTimeAsked) {
  connect(Who::libudt, 3s);
  process->kill();
  const auto took = break_within(10s);
  ASSERT_TRUE(took) << "its idle timeout is 3 s";
  EXPECT_LT(*took, 6s);
}

TEST_P(SilentPeer, OfOurOwnKindIsGivenUpInTheTimeAsked) {
  connect(Who::ours, 3s);
  process->freeze();
  const auto took = break_within(10s);
  ASSERT_TRUE(took) << "its idle timeout is 3 s";
  EXPECT_LT(*took, 6s);
}

class Idle : public ByRole {
 protected:
  static void stay(std::chrono::milliseconds time) {
    LinkOptions options{.relayed = true};
    options.ours.idle_timeout = 5s;
    Link link = make_link(role(), options);
    ASSERT_TRUE(link.up());
    carry(link, Flow::both, 1000, 3s);
    link.relay->capture();
    link.ours->start_read(1);
    const auto ended = link.ours->read_ended(time);
    ASSERT_FALSE(ended) << "we broke: " << ended->error().message() << link.tell();
    EXPECT_TRUE(link.theirs->connected()) << link.tell();
    // A sign of life every second is plenty, and must not fail to come.
    std::optional<Clock::time_point> last;
    std::chrono::milliseconds longest{0};
    std::size_t packets = 0;
    for (const Captured& each : link.relay->captured(towards_them(), [](auto&) { return true; })) {
      if (last) longest = std::max(longest, std::chrono::duration_cast<std::chrono::milliseconds>(each.at - *last));
      last = each.at;
      ++packets;
    }
    std::printf("%zu packets of ours, the longest silence %ld ms\n", packets, longest.count());
    EXPECT_LT(longest, 2s) << link.tell();
    EXPECT_LT(packets, 20U + 10U * static_cast<std::size_t>(time / 1s)) << link.tell();
    std::ignore = link.theirs->send(std::vector<std::byte>(1));
    const auto read = link.ours->read_ended(3s);
    ASSERT_TRUE(read);
    EXPECT_TRUE(*read);
    carry(link, Flow::both, 1000, 3s);
  }
};
UDTCAT_FOR_BOTH_ROLES(Idle);

TEST_P(Idle, ConnectionsStayForSevenSeconds) { stay(7s); }
TEST_P(Idle, ConnectionsStayForTenMinutesSoak) { stay(600s); }

class Blackhole : public ByRole {};
UDTCAT_FOR_BOTH_ROLES(Blackhole);

TEST_P(Blackhole, OfFourSecondsIsSurvivedInMidTransfer) {
  Link link = make_link(role(), {.relayed = true});
  ASSERT_TRUE(link.up());
  const Job got = link.theirs->start_receiving(Pattern(1), 4 << 20);
  const Job sent = link.ours->start_sending(Pattern(1), 4 << 20);
  ASSERT_TRUE(got.wait_for_bytes(100'000, 5s)) << link.tell();
  link.relay->blackhole(towards_them(), true);
  link.relay->blackhole(towards_us(), true);
  let_pass(4s);
  link.relay->blackhole(towards_them(), false);
  link.relay->blackhole(towards_us(), false);
  const auto begin = Clock::now();
  EXPECT_TRUE(complete(got.wait(20s), 4 << 20)) << link.tell();
  EXPECT_LT(Clock::now() - begin, 15s);
}

// Our silence, as libudt takes it: about a minute.
TEST_P(Blackhole, BreaksLibudtWithinItsMinuteSoak) {
  Link link = make_link(role(), {.relayed = true});
  ASSERT_TRUE(link.up());
  carry(link, Flow::both, 1000, 3s);
  link.relay->blackhole(towards_them(), true);
  const auto took = link.theirs->wait_until_broken(100s);
  ASSERT_TRUE(took);
  std::printf("libudt broke after %ld ms\n", took->count());
  EXPECT_GT(*took, 40s);
  EXPECT_LT(*took, 70s);
}

TEST_P(Blackhole, ThatOpensInTimeBreaksNobodySoak) {
  Link link = make_link(role(), {.relayed = true});
  ASSERT_TRUE(link.up());
  carry(link, Flow::both, 1000, 3s);
  link.relay->blackhole(towards_them(), true);
  link.relay->blackhole(towards_us(), true);
  let_pass(30s);
  link.relay->blackhole(towards_them(), false);
  link.relay->blackhole(towards_us(), false);
  carry(link, Flow::both, 100'000, 20s);
}

class UnansweredChannels : public transport::TransportTest, public testing::WithParamInterface<TransportKind> {
 protected:
  UnansweredChannels() : TransportTest(with_idle_timeout(GetParam())) {}
  static TransportOptions with_idle_timeout(TransportKind kind) {
    TransportOptions options = transport::options_for(kind);
    options.idle_timeout = 2s;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(With, UnansweredChannels, testing::ValuesIn(transport::transports_of_udp()),
                         [](const auto& each) { return transport::name_of(each.param); });

TEST_P(UnansweredChannels, BreakThoughThePeerIsHeard) {
  const auto acceptor = TransportTest::listen({loopback(AddressFamily::ipv4)});
  UdpRelay relay(acceptor->local_endpoints().front().port());
  const Pair pair = connect_pair(*acceptor, loopback(AddressFamily::ipv4, relay.port()));
  std::vector<std::byte> into(1);
  ASSERT_TRUE(write(*pair.here, into));
  ASSERT_TRUE(read(*pair.there, into));
  relay.blackhole(Towards::listener, true);
  ASSERT_TRUE(write(*pair.here, into));
  std::optional<Status> drained;
  pair.here->async_drained([&](Status status) { drained = std::move(status); });
  const Status ended = read(*pair.here, into, 7s);  // libudt takes at least 5 s, and 5 s again to miss the peer
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Errc::connection_broken);
  EXPECT_EQ(read(*pair.here, into).error().code, Errc::connection_broken) << "sticky";
  ASSERT_TRUE(run_until([&] { return drained.has_value(); }, 7s));
  EXPECT_FALSE(*drained);
}

TEST_P(UnansweredChannels, WaitForAPeerThatReadsNothing) {
  const auto bytes = random_bytes(64 << 20, 1);
  const Pair pair = connect_pair(AddressFamily::ipv4);
  std::optional<Status> written;
  pair.here->async_write(transport::copy_of(bytes), [&](Status status) { written = std::move(status); });
  std::vector<std::byte> got(bytes.size());
  std::optional<Status> broken;
  std::byte never{};
  pair.here->async_read({&never, 1}, [&](Status status) { broken = std::move(status); });
  run_for(6s);
  ASSERT_FALSE(broken) << broken->error().message();
  ASSERT_TRUE(read(*pair.there, got));
  EXPECT_TRUE(got == bytes);
  EXPECT_TRUE(run_until([&] { return written.has_value(); }));
}

}  // namespace
}  // namespace udtcat::test::interop
