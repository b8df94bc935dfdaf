// SPDX-License-Identifier: Apache-2.0
/// Listeners of all transports.
#include <filesystem>

#include "lib/transport/transport_fixture.hpp"

namespace udtcat::transport {
namespace {

class Accepting : public EachTransport {
 protected:
  static std::size_t entries_of(const char* directory) {
    const std::filesystem::directory_iterator all(directory);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  void expect_echo(Pair& pair) {
    const auto bytes = random_bytes(100'000, 1);
    std::vector<std::byte> got(bytes.size());
    pair.here->async_write(core::SharedBytes::adopt(bytes), [](const Status&) {});
    ASSERT_TRUE(read(*pair.there, got, 5s));
    EXPECT_TRUE(got == bytes);
    pair.there->async_write(core::SharedBytes::adopt(bytes), [](const Status&) {});
    ASSERT_TRUE(read(*pair.here, got, 5s));
    EXPECT_TRUE(got == bytes);
  }
};

INSTANTIATE_TEST_SUITE_P(With, Accepting, testing::ValuesIn(transports()),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(Accepting, ServesBothFamiliesOnOnePort) {
  auto acceptor = listen({loopback(AddressFamily::ipv4), loopback(AddressFamily::ipv6)});
  const auto locals = acceptor->local_endpoints();
  ASSERT_EQ(locals.size(), 2U);
  EXPECT_NE(locals[0].port(), 0);
  EXPECT_EQ(locals[0].port(), locals[1].port());
  for (int turn = 0; turn < 2; ++turn)
    for (const Endpoint& local : locals) {
      auto pair = connect_pair(*acceptor, local);
      EXPECT_EQ(pair.there->peer().family(), local.family());
      expect_echo(pair);
    }
}

TEST_P(Accepting, ServesBothWildcards) {
  const auto wildcards = resolve({"", 0}, AddressFamily::any).value();
  auto acceptor = listen(wildcards);
  for (const Endpoint& local : acceptor->local_endpoints()) {
    auto pair = connect_pair(*acceptor, loopback(local.family(), local.port()));
    expect_echo(pair);
  }
}

TEST_P(Accepting, SaysWhichPortIsTaken) {
  auto first = listen({loopback(AddressFamily::ipv4)});
  const Endpoint taken = first->local_endpoints().front();
  const auto second = engine->listen({taken});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::cannot_bind);
  EXPECT_NE(
      second.error().message().find((GetParam() == TransportKind::tcp ? "bind tcp " : "bind udp ") + taken.to_string()),
      std::string::npos);
  EXPECT_EQ(engine->listen({}).error().code, Errc::bad_argument);
}

TEST_P(Accepting, LetsPeersWaitUntilTheyAreAskedFor) {
  auto acceptor = listen({loopback(AddressFamily::ipv4)});
  const Endpoint local = acceptor->local_endpoints().front();
  std::vector<std::unique_ptr<Channel>> waiting;
  for (int i = 0; i < 8; ++i) waiting.push_back(connect(local).value());
  std::size_t accepted = 0;
  std::function<void()> accept_next = [&] {
    acceptor->async_accept([&](const auto& channel) {
      EXPECT_TRUE(channel);
      ++accepted;
      accept_next();
    });
  };
  accept_next();
  EXPECT_TRUE(run_until([&] { return accepted == waiting.size(); }));
}

TEST_P(Accepting, TurnsAwayStrangersBeyondTheBacklog) {
  auto acceptor = listen({loopback(AddressFamily::ipv4)});
  const Endpoint local = acceptor->local_endpoints().front();
  std::vector<std::unique_ptr<Channel>> waiting;
  for (int i = 0; i < 16; ++i) waiting.push_back(connect(local).value());
  EXPECT_FALSE(connect(local, 400ms)) << "the seventeenth is not let in";
}

TEST_P(Accepting, CallsNoHandlerAfterDestruction) {
  auto acceptor = listen({loopback(AddressFamily::ipv4)});
  bool called = false;
  acceptor->async_accept([&](const auto&) { called = true; });
  run_for(20ms);
  const auto before = Clock::now();
  acceptor.reset();
  EXPECT_LT(Clock::now() - before, 500ms);
  EXPECT_FALSE(run_until([&] { return called; }, 50ms));
}

TEST_P(Accepting, LeavesItsChannelsAlone) {
  auto acceptor = listen({loopback(AddressFamily::ipv4), loopback(AddressFamily::ipv6)});
  std::vector<Pair> pairs;
  for (const Endpoint& local : acceptor->local_endpoints()) pairs.push_back(connect_pair(*acceptor, local));
  acceptor.reset();
  const auto past_the_collectors_turn = Clock::now() + 1500ms;
  run_until([&] { return Clock::now() >= past_the_collectors_turn; });
  for (Pair& pair : pairs) expect_echo(pair);
}

TEST_P(Accepting, LeavesNoThreadAndNoDescriptorBehind) {
  auto acceptor = listen({loopback(AddressFamily::ipv4)});
  const Endpoint local = acceptor->local_endpoints().front();
  std::ignore = connect_pair(*acceptor, local);  // an engine keeps the socket that it reaches a peer by
  const auto counts = [&] { return std::pair(entries_of("/proc/self/task"), entries_of("/proc/self/fd")); };
  const auto before = counts();
  for (int i = 0; i < 100; ++i) {
    auto pair = connect_pair(*acceptor, local);
    if (i % 3 == 0) expect_echo(pair);
    if (i % 3 == 1) pair.here->close(1s);
  }
  // Fewer are well: what the first pair had may not all have gone when they were counted.
  const auto none_more = [&] { return counts().first <= before.first && counts().second <= before.second; };
  EXPECT_TRUE(run_until(none_more, 15s)) << counts().first << " threads, " << counts().second << " descriptors; before "
                                         << before.first << ", " << before.second;
}

}  // namespace
}  // namespace udtcat::transport
