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

}  // namespace
}  // namespace udtcat::ssh
