// SPDX-License-Identifier: Apache-2.0
/// Each stack: a listener, a connection through it, bytes both ways.
#include "gridftp/mode_e/data_stack.hpp"

#include "gridftp/support.hpp"
#include "support/addresses.hpp"

namespace udtcat::gridftp {
namespace {

class DataStacks : public testing::Test {
 protected:
  void open(const std::shared_ptr<DataStack>& to) {
    auto opened = to->listen(bridge::loopback_v4(), [this](std::shared_ptr<StreamIo> stream, const Endpoint& peer) {
      EXPECT_TRUE(peer.is_loopback());
      arrived.push_back(std::move(stream));
    });
    ASSERT_TRUE(opened) << opened.error().message();
    listener = std::move(*opened);
    EXPECT_NE(listener->local().port(), 0);
  }
  Result<std::shared_ptr<StreamIo>> connect(const std::shared_ptr<DataStack>& from) {
    return run(io, from->connect({listener->local()}));
  }
  void expect_both_ways(const std::shared_ptr<DataStack>& stack, std::size_t connections = 1) {
    open(stack);
    std::vector<std::shared_ptr<StreamIo>> made;
    const Bytes there = random_bytes(300'000);
    const Bytes back = random_bytes(200'000);
    for (std::size_t i = 0; i < connections; ++i) {
      auto near = connect(stack);
      ASSERT_TRUE(near) << near.error().message();
      made.push_back(*near);
      const auto written = begin(io, made[i]->write(there));
      ASSERT_TRUE(run_until(io, [&] { return arrived.size() == i + 1; }));
      Bytes got(there.size());
      EXPECT_EQ(run(io, arrived[i]->read(got)).value(), got.size());
      EXPECT_TRUE(got == there && await(io, written));
      const auto answered = begin(io, arrived[i]->write(back));
      got.resize(back.size());
      EXPECT_EQ(run(io, made[i]->read(got)).value(), got.size());
      EXPECT_TRUE(got == back && await(io, answered));
    }
  }
  std::shared_ptr<DataStack> sessions(Protection protection, std::optional<Key> key) {
    DataOptions options;
    options.session.application = "driver";
    options.session.protection = protection;
    if (key) options.credentials = std::make_shared<const Credentials>(std::move(*key));
    return make_session_stack(io, options);
  }

  boost::asio::io_context io;
  std::vector<std::shared_ptr<StreamIo>> arrived;
  std::unique_ptr<DataListener> listener;
};

TEST_F(DataStacks, OverTcpCarryBytesBothWays) { expect_both_ways(make_tcp_stack(io), 3); }
TEST_F(DataStacks, OverUdtCarryBytesBothWays) { expect_both_ways(make_udt_stack(io, {}), 3); }
TEST_F(DataStacks, OverSessionsCarryBytesBothWays) {
  const Key key = Key::generate().value();
  for (const Protection protection : {Protection::auth, Protection::safe, Protection::private_}) {
    arrived.clear();
    expect_both_ways(sessions(protection, key.duplicate()), 3);
  }
}
TEST_F(DataStacks, OverSessionsInTheClearNeedNoKey) { expect_both_ways(sessions(Protection::clear, std::nullopt)); }

TEST_F(DataStacks, RememberForEachNamedHostWhichOneAnswersInItsPlace) {
  for (const auto& stack : {make_tcp_stack(io), make_udt_stack(io, {})}) {
    open(stack);
    const Endpoint named = test::address_of("127.0.0.9", listener->local().port());
    const auto connect_either = [&](const Endpoint& first) {
      return run(io, stack->connect({first, listener->local()}));
    };
    ASSERT_TRUE(connect_either(named)) << "the named one refuses";
    std::size_t arrived_at_named = 0;
    const auto count = [&](const auto&, const Endpoint&) { ++arrived_at_named; };
    const auto there = stack->listen(named, count);
    const Endpoint other = test::address_of("127.0.0.10", named.port());
    const auto third = stack->listen(other, count);
    ASSERT_TRUE(there && third);
    arrived.clear();
    ASSERT_TRUE(connect_either(named));
    EXPECT_TRUE(run_until(io, [&] { return arrived.size() == 1; }));
    EXPECT_EQ(arrived_at_named, 0U);
    ASSERT_TRUE(connect_either(other));
    EXPECT_TRUE(run_until(io, [&] { return arrived_at_named == 1; })) << "of another that is named nothing is known";
    ASSERT_TRUE(connect_either(named));
    EXPECT_TRUE(run_until(io, [&] { return arrived.size() == 2; })) << "what is known of the one outlives the other";
    arrived.clear();
    listener.reset();
  }
}

TEST_F(DataStacks, CountInTheirStatistics) {
  const Key key = Key::generate().value();
  for (const DataKind kind : {DataKind::udt, DataKind::session}) {
    DataOptions options;
    options.session.application = "driver";
    options.kind = kind;
    options.credentials = std::make_shared<const Credentials>(key.duplicate());
    arrived.clear();
    open(make_stack(io, options));
    const auto data_stats = options.stats = std::make_shared<DataStats>();
    auto stack = make_stack(io, options);
    auto made = connect(stack);
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(run(io, (*made)->write(random_bytes(100'000))));
    ASSERT_TRUE(run_until(io, [&] {
      const ConnectionStats stats = data_stats->stats();
      return stats.ends.here.bytes_sent >= 100'000 && stats.packets_sent > 0;
    }));
    *made = nullptr;
    stack = nullptr;
    EXPECT_GE(data_stats->stats().ends.here.bytes_sent, 100'000U) << "what was measured stays";
  }
}

TEST_F(DataStacks, GiveNoEvidenceOfSeveral) {
  const auto data_stats = std::make_shared<DataStats>();
  open(make_udt_stack(io, {}));
  const auto stack = make_udt_stack(io, {}, kConnectTimeout, data_stats);
  auto one = connect(stack);
  {
    const auto other = connect(stack);
    ASSERT_TRUE(one && other);
    EXPECT_EQ(data_stats->stats().ends.here.elapsed.count(), 0);
    *one = nullptr;
    EXPECT_EQ(data_stats->stats().ends.here.elapsed.count(), 0) << "that of the one left began beside the other";
  }
  EXPECT_EQ(data_stats->stats().ends.here.elapsed.count(), 0) << "the last to go speaks for itself only";
  one = connect(stack);
  EXPECT_TRUE(run_until(io, [&] { return data_stats->stats().ends.here.elapsed.count() > 0; }));
}

TEST_F(DataStacks, OfSessionsRefuseStrangers) {
  open(sessions(Protection::private_, Key::generate().value()));
  const auto refused = connect(sessions(Protection::private_, Key::generate().value()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::authentication_failed) << refused.error().message();
  EXPECT_TRUE(arrived.empty());
}

/// A server, and two clients that it knows.
class DataStacksOfKeyPairs : public DataStacks {
 protected:
  std::shared_ptr<DataStack> of(const Holder& own, const Holder& peer, const std::optional<PublicKey>& only_peer = {}) {
    DataOptions options;
    options.session.application = "driver";
    options.credentials = std::make_shared<const Credentials>(pair_of(own, peer));
    options.only_peer = only_peer;
    return make_session_stack(io, options);
  }
  const Holder server = make_holder();
  const Holder alice = make_holder();
  const Holder mallory = make_holder();
};

TEST_F(DataStacksOfKeyPairs, SayWhoseTheyAre) {
  open(of(server, alice));
  const auto made = connect(of(alice, server));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ((*made)->peer_key(), server->public_key());
  EXPECT_TRUE(run(io, (*made)->write(random_bytes(1))));
  ASSERT_TRUE(run_until(io, [&] { return arrived.size() == 1; }));
  EXPECT_EQ(arrived[0]->peer_key(), alice->public_key());
}

TEST_F(DataStacksOfKeyPairs, TakeNoDataOfAnotherKey) {
  open(of(server, alice, alice->public_key()));
  const auto stranger = connect(of(mallory, server));
  ASSERT_TRUE(stranger) << stranger.error().message();
  Bytes none(1);
  EXPECT_FALSE(run(io, (*stranger)->read(none))) << "the session is closed";
  EXPECT_TRUE(arrived.empty());
}

TEST_F(DataStacksOfKeyPairs, TakeDataOfTheirKeyAfterAStranger) {
  open(of(server, alice, alice->public_key()));
  std::ignore = connect(of(mallory, server));
  const auto made = connect(of(alice, server));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_TRUE(run(io, (*made)->write(random_bytes(1))));
  EXPECT_TRUE(run_until(io, [&] { return arrived.size() == 1; }));
}

TEST_F(DataStacksOfKeyPairs, BringNoDataToAnotherKey) {
  open(of(mallory, server));
  const auto refused = connect(of(server, mallory, alice->public_key()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::authentication_failed) << refused.error().message();
  EXPECT_TRUE(arrived.empty());
}

TEST_F(DataStacks, TellThatAPortRefuses) {
  const bridge::RefusingPort refusing(io);
  EXPECT_EQ(run(io, make_tcp_stack(io)->connect({refusing.endpoint()})).error().code, Errc::cannot_reach);
}

TEST_F(DataStacks, TellThatAPortIsTaken) {
  for (const auto& stack : {make_tcp_stack(io), make_udt_stack(io, {})}) {
    open(stack);
    EXPECT_FALSE(stack->listen(listener->local(), [](const std::shared_ptr<StreamIo>&, const Endpoint&) {}));
  }
}

TEST_F(DataStacks, AcceptNothingOnceTheListenerIsGone) {
  const auto stack = make_tcp_stack(io);
  open(stack);
  const Endpoint at = listener->local();
  listener.reset();
  EXPECT_FALSE(run(io, stack->connect({at})));
}

}  // namespace
}  // namespace udtcat::gridftp
