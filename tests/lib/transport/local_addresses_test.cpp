// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/local_addresses.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "lib/core/user_text.hpp"
#include "lib/net/bind.hpp"
#include "lib/transport/engine.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport {
namespace {

using testing::HasSubstr;

Endpoint numeric(const std::string& host) { return resolve({host, 0}, AddressFamily::any)->front(); }

class LocalAddressesTest : public ::testing::Test {
 protected:
  /// The address that is bound; empty: none.
  std::string leaves(std::size_t turn, const std::string& peer = "203.0.113.9") {
    std::string bound;
    const auto got = locals.bind(numeric(peer), turn, [&](const Endpoint& local) -> Status {
      if (std::ranges::find(absent, local.host_to_string()) != absent.end())
        return fail(Errc::cannot_bind, "bind", core::errno_text(EADDRNOTAVAIL));
      bound = local.host_to_string();
      return {};
    });
    if (!got) said = got.error();
    taken = got.value_or(99);
    return bound;
  }

  LocalAddresses locals{{numeric("192.0.2.1"), numeric("2001:db8::1"), numeric("192.0.2.2"), numeric("192.0.2.3")}};
  std::vector<std::string> absent;
  Error said;
  std::size_t taken = 0;
};

TEST_F(LocalAddressesTest, AreTakenInTurnByFamily) {
  EXPECT_EQ(leaves(0), "192.0.2.1");
  EXPECT_EQ(leaves(1), "192.0.2.2");
  EXPECT_EQ(leaves(5), "192.0.2.3");
  EXPECT_EQ(leaves(7, "2001:db8::9"), "2001:db8::1");
}

TEST_F(LocalAddressesTest, CountTheDialsOfEachPeer) {
  const Endpoint one = numeric("203.0.113.9");
  const Endpoint other = numeric("203.0.113.10");
  EXPECT_EQ(locals.next_turn(one), 0U);
  EXPECT_EQ(locals.next_turn(one), 1U);
  EXPECT_EQ(locals.next_turn(other), 0U);
  EXPECT_EQ(locals.next_turn(one), 2U);
}

TEST_F(LocalAddressesTest, ArePassedOverWhereThisHostDoesNotHaveThem) {
  absent = {"192.0.2.2"};
  EXPECT_EQ(leaves(1), "192.0.2.3");
  EXPECT_EQ(taken, 2U) << "the turn of the one that is bound";
  absent = {"192.0.2.3"};
  EXPECT_EQ(leaves(2), "192.0.2.1");
  EXPECT_EQ(taken, 3U);
}

TEST_F(LocalAddressesTest, SayWhichOneThisHostDoesNotHave) {
  absent = {"192.0.2.1", "192.0.2.2", "192.0.2.3"};
  EXPECT_EQ(leaves(1), "");
  EXPECT_EQ(said.code, Errc::cannot_bind);
  EXPECT_THAT(said.message(), HasSubstr("leave from 192.0.2.2: no interface of this host has this address"));
}

TEST_F(LocalAddressesTest, SayWhereTheyHaveNoneOfTheFamily) {
  LocalAddresses six{{numeric("2001:db8::1")}};
  const auto got = six.bind(numeric("203.0.113.9"), 0, [](const Endpoint&) -> Status { return {}; });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Errc::cannot_bind);
  EXPECT_THAT(got.error().message(), HasSubstr("--bind has no IPv4 address"));
}

/// A dialer that may leave from two addresses, as a listener sees it.
class LeavingByTransport : public testing::TestWithParam<TransportKind> {
 protected:
  void SetUp() override {
    TransportOptions options;
    options.kind = GetParam();
    listening = std::move(*make_engine(io, options));
    acceptor = std::move(*listening->listen({net::loopback(AddressFamily::ipv4)}));
    options.local_addresses = {numeric("127.0.0.2"), numeric("127.0.0.3")};
    dialling = std::move(*make_engine(io, options));
  }
  ChannelHandler keep() {
    return [this](Result<std::unique_ptr<Channel>> channel) { kept.push_back(std::move(*channel)); };
  }
  /// The address that the next channel comes from.
  std::string came(std::size_t count) {
    std::string from;
    acceptor->async_accept([&](Result<std::unique_ptr<Channel>> channel) {
      from = (*channel)->peer().host_to_string();
      kept.push_back(std::move(*channel));
    });
    EXPECT_TRUE(test::run_until(io, [&] { return kept.size() == count && !from.empty(); }));
    return from;
  }
  std::string dialled() {
    dialling->async_connect(acceptor->local_endpoints().front(), {}, kPatience, keep());
    return came(kept.size() + 2);
  }
  std::string dialled_as_flow(std::size_t turn) {
    const Engine::FlowSettings settings{.memory_bytes = kMinMemoryBytes, .turn = turn};
    dialling->async_connect_flow(acceptor->local_endpoints().front(), {}, kPatience, settings, keep());
    return came(kept.size() + 2);
  }

  static constexpr std::chrono::seconds kPatience{10};
  boost::asio::io_context io;
  std::unique_ptr<Engine> listening;
  std::unique_ptr<Engine> dialling;
  std::unique_ptr<Acceptor> acceptor;
  std::vector<std::unique_ptr<Channel>> kept;
};

TEST_P(LeavingByTransport, TakesTheNextAddressForEachDialAndEachFlow) {
  EXPECT_EQ(dialled(), "127.0.0.2");
  EXPECT_EQ(dialled_as_flow(1), "127.0.0.3");
  EXPECT_EQ(dialled_as_flow(2), "127.0.0.2");
  EXPECT_EQ(dialled(), "127.0.0.3");
  EXPECT_EQ(dialled_as_flow(1), "127.0.0.2") << "beside the channel that has come about";
}

INSTANTIATE_TEST_SUITE_P(Of, LeavingByTransport, testing::Values(TransportKind::native, TransportKind::tcp),
                         [](const auto& its) { return std::string(to_string(its.param)); });

TEST(LocalAddresses, AreNotForLibudt) {
  if (!has_transport(TransportKind::libudt)) GTEST_SKIP() << "built without it";
  boost::asio::io_context io;
  TransportOptions options;
  options.kind = TransportKind::libudt;
  options.local_addresses = {numeric("127.0.0.2")};
  EXPECT_EQ(make_engine(io, options).error().code, Errc::bad_argument);
}

}  // namespace
}  // namespace udtcat::transport
