// SPDX-License-Identifier: Apache-2.0
#include "ssh/candidates.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace udtcat::ssh {
namespace {

using boost::asio::ip::tcp;

class DialledAddresses : public testing::TestWithParam<const char*> {};

TEST_P(DialledAddresses, AreThoseOfTheOpenConnections) {
  boost::asio::io_context io;
  tcp::acceptor acceptor(io, tcp::endpoint(boost::asio::ip::make_address(GetParam()), 0));
  tcp::socket socket(io);
  socket.connect(acceptor.local_endpoint());
  const auto wanted = resolve({GetParam(), acceptor.local_endpoint().port()}, AddressFamily::any).value().front();
  const auto dialled = dialled_addresses(::getpid());
  EXPECT_NE(std::find(dialled.begin(), dialled.end(), wanted), dialled.end());
  socket.close();
  const auto after = dialled_addresses(::getpid());
  EXPECT_EQ(std::find(after.begin(), after.end(), wanted), after.end());
}

INSTANTIATE_TEST_SUITE_P(OfEitherFamily, DialledAddresses, testing::Values("127.0.0.1", "::1"),
                         [](const auto& chosen) { return chosen.param[0] == ':' ? "Ipv6" : "Ipv4"; });

TEST(DialledAddressesOfNobody, AreNone) { EXPECT_TRUE(dialled_addresses(-1).empty()); }

TEST(Candidates, SurviveTheirText) {
  const auto found = parse_candidates("192.0.2.1,2001:db8::1", 9000);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].to_string(), "[2001:db8::1]:9000");
  EXPECT_EQ(to_text(found), "192.0.2.1,2001:db8::1");
  EXPECT_EQ(to_text(std::vector<Endpoint>{}), "-");
}

TEST(Candidates, AreNumericAndOfNoLink) {
  for (const char* text : {"-", "", ",", ",,", "localhost", "fe80::1", "fe80::1%eth0", "192.0.2", "192.0.2.1 "})
    EXPECT_TRUE(parse_candidates(text, 9000).empty()) << text;
  EXPECT_EQ(to_text(parse_candidates("localhost,,192.0.2.1,fe80::1,192.0.2.2", 9000)), "192.0.2.1,192.0.2.2");
}

/// Proves: threat-model.checked-addresses
TEST(Candidates, AreFewHoweverManyAreNamed) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "192.0.2." + std::to_string(i) + ",";
  EXPECT_EQ(parse_candidates(text, 9000).size(), 8U);
}

TEST(Candidates, OfThisHostHaveThePort) {
  for (const Endpoint& each : host_candidates(9000)) {
    EXPECT_EQ(each.port(), 9000);
    EXPECT_FALSE(each.is_loopback());
  }
}

}  // namespace
}  // namespace udtcat::ssh
