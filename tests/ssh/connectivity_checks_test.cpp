// SPDX-License-Identifier: Apache-2.0
#include "ssh/connectivity_checks.hpp"

#include <set>

#include <gmock/gmock.h>

#include "support/run_until.hpp"

namespace udtcat::ssh {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

/// Keeps to whom a check went.
class CheckedListener final : public Listener {
 public:
  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override { return {}; }
  void send_stun(const Endpoint& peer, std::vector<std::byte> message) override {
    if (message.size() == 20) checked.push_back(peer.to_string());
  }
  void on_stun(StunHandler /*handler*/) override {}
  void stop() override {}

  std::vector<std::string> checked;
};

Endpoint address(const std::string& host) { return resolve({host, 0}, AddressFamily::any).value().front(); }

TEST(NearEnd, SurvivesItsText) {
  const auto near = parse_near_end("40123 192.0.2.1,2001:db8::1");
  ASSERT_TRUE(near);
  EXPECT_EQ(near->port, 40'123);
  EXPECT_EQ(to_text(*near), "40123 192.0.2.1,2001:db8::1");
  EXPECT_EQ(to_text(NearEnd{40'123, {}}), "40123 -");
}

TEST(NearEnd, IsNoOtherText) {
  for (const char* text : {"", " ", "40123", "0 192.0.2.1", "65536 192.0.2.1", "-1 192.0.2.1", "x 192.0.2.1"})
    EXPECT_FALSE(parse_near_end(text)) << text;
}

class ConnectivityChecking : public testing::Test {
 protected:
  void check(const std::string& near, const std::string& seen) {
    checks.emplace(io, listener, parse_near_end(near).value(), address(seen));
  }

  boost::asio::io_context io;
  CheckedListener listener;
  std::optional<ConnectivityChecks> checks;
};

TEST_F(ConnectivityChecking, BeginsAtOnceWithTheAddressesOfTheNearHost) {
  check("40123 192.0.2.1,2001:db8::1", "192.0.2.1");
  EXPECT_THAT(listener.checked, ElementsAre("192.0.2.1:40123", "[2001:db8::1]:40123"));
}

TEST_F(ConnectivityChecking, LeavesThatOfATranslatorUntilTheNearEndHasDialled) {
  check("40123 10.0.0.2", "192.0.2.1");
  EXPECT_THAT(listener.checked, ElementsAre("10.0.0.2:40123"));
  ASSERT_TRUE(test::run_until(io, [this] { return listener.checked.size() >= 3; }));
  listener.checked.erase(listener.checked.begin());
  EXPECT_THAT(listener.checked, UnorderedElementsAre("10.0.0.2:40123", "192.0.2.1:40123"));
}

TEST_F(ConnectivityChecking, IsOverWhenItIsStopped) {
  check("40123 10.0.0.2", "192.0.2.1");
  checks->stop();
  io.run();
  EXPECT_EQ(listener.checked.size(), 1U);
}

/// Proves: threat-model.checked-addresses
TEST_F(ConnectivityChecking, SendsToNineAddressesAtMostHoweverManyAreNamed) {
  std::string named = "10.0.0.0";
  for (int i = 1; i < 20; ++i) named += ",10.0.0." + std::to_string(i);
  check("40123 " + named, "192.0.2.1");
  io.run();
  const std::set<std::string> addresses(listener.checked.begin(), listener.checked.end());
  EXPECT_LE(addresses.size(), 9U);
  EXPECT_LE(listener.checked.size(), 9U * 5);
}

/// Proves: threat-model.checked-addresses
TEST_F(ConnectivityChecking, SendsAHandfulToEach) {
  check("40123 192.0.2.1", "192.0.2.1");
  io.run();
  EXPECT_EQ(listener.checked.size(), 5U);
}

}  // namespace
}  // namespace udtcat::ssh
