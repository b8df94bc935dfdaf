#include "gridftp/dialogue/local_address.hpp"

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

Endpoint towards(const std::string& host) {
  boost::asio::io_context io;
  return local_address_towards(io, resolve({.host = host, .port = 9}, AddressFamily::any).value().front());
}

TEST(LocalAddress, IsTheOneThatThePeerSees) {
  EXPECT_EQ(towards("127.0.0.1").to_string(), "127.0.0.1:0");
  EXPECT_EQ(towards("127.0.0.2").to_string(), "127.0.0.1:0") << "of another address of this host, too";
}

TEST(LocalAddress, IsTheWildcardWhereThereIsNoWay) {
  EXPECT_TRUE(towards("255.255.255.255").is_wildcard()) << "broadcast is not for who has not asked for it";
}

}  // namespace
}  // namespace udtcat::gridftp
