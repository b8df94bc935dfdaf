// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/check_sender.hpp"

#include <gmock/gmock.h>

#include "support/run_until.hpp"

namespace udtcat::meeting {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

Endpoint address(const std::string& host) { return resolve({host, 9000}, AddressFamily::any)->front(); }

/// Proves: threat-model.repeated-offer
TEST(CheckQuota, IsTenAMinuteForEachAddress) {
  CheckQuota quota;
  const auto start = CheckQuota::TimePoint() + 1h;
  for (int sent = 0; sent < 10; ++sent) EXPECT_TRUE(quota.take(address("192.0.2.1"), start + 1s * sent));
  EXPECT_FALSE(quota.take(address("192.0.2.1"), start + 59s));
  EXPECT_TRUE(quota.take(address("192.0.2.2"), start + 59s));
  EXPECT_TRUE(quota.take(address("192.0.2.1"), start + 60s));
}

TEST(CheckQuota, IsThirtyAMinuteForAHostWhateverItsPorts) {
  CheckQuota quota;
  const auto start = CheckQuota::TimePoint() + 1h;
  std::size_t sent = 0;
  for (std::uint16_t port = 1; port <= 500; ++port)
    if (quota.take(address("192.0.2.1").with_port(port), start)) ++sent;
  EXPECT_EQ(sent, CheckQuota::kChecksAMinuteOfHost);
  EXPECT_FALSE(quota.take(address("192.0.2.1"), start + 59s));
  EXPECT_TRUE(quota.take(address("192.0.2.2"), start + 59s));
  EXPECT_TRUE(quota.take(address("192.0.2.1"), start + 60s));
}

TEST(CheckQuota, HasAnEndForManyAddresses) {
  CheckQuota quota;
  const auto start = CheckQuota::TimePoint() + 1h;
  const auto nth = [](std::size_t n) {
    return address("10.0." + std::to_string(n / 250) + "." + std::to_string(n % 250 + 1));
  };
  for (std::size_t n = 0; n < CheckQuota::kMaxAddresses; ++n) EXPECT_TRUE(quota.take(nth(n), start));
  EXPECT_FALSE(quota.take(address("192.0.2.1"), start + 59s));
  EXPECT_TRUE(quota.take(address("192.0.2.1"), start + 60s));
}

TEST(CheckSender, SendsToTranslatorsWhenTheConnectorSendsToo) {
  boost::asio::io_context io;
  CheckQuota quota;
  std::vector<std::string> sent;
  CheckSender checks(
      io, quota,
      {{Candidate::Kind::host, address("10.0.0.1")}, {Candidate::Kind::server_reflexive, address("192.0.2.1")}}, 50ms,
      [&](const Endpoint& to) { sent.push_back(to.host_to_string()); });
  EXPECT_THAT(sent, ElementsAre("10.0.0.1"));
  ASSERT_TRUE(test::run_until(io, [&] { return sent.size() == 2; }));
  EXPECT_EQ(sent.back(), "192.0.2.1");
  sent.clear();
  ASSERT_TRUE(test::run_until(io, [&] { return sent.size() == 2; }));
  EXPECT_THAT(sent, UnorderedElementsAre("10.0.0.1", "192.0.2.1"));
}

TEST(CheckSender, HasChecksLeftForEachTimeThatTheConnectorAsksInAMinute) {
  boost::asio::io_context io;
  CheckQuota quota;
  std::size_t sent = 0;
  CheckSender checks(io, quota, {{Candidate::Kind::server_reflexive, address("192.0.2.1")}}, 0ms,
                     [&](const Endpoint& /*to*/) { ++sent; });
  checks.send_again();
  EXPECT_EQ(sent, 0U) << "they are under way";
  ASSERT_TRUE(test::run_until(io, [&] { return sent == 5; }));
  for (std::size_t times = 1; times <= 5; ++times) {  // after 1, 2, 4, 8 and 16 s
    checks.send_again();
    EXPECT_EQ(sent, 5 + times);
  }
}

}  // namespace
}  // namespace udtcat::meeting
