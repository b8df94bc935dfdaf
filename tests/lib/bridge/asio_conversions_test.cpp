// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/asio_conversions.hpp"

#include <gtest/gtest.h>
#include <boost/asio/error.hpp>

#include "lib/core/user_text.hpp"

namespace udtcat::bridge {
namespace {

using boost::asio::ip::tcp;

TEST(FromAsio, KeepsAnErrno) {
  EXPECT_EQ(from_asio(boost::asio::error::connection_refused), std::errc::connection_refused);
  EXPECT_FALSE(from_asio(boost::system::error_code()));
}

TEST(CauseOf, IsTheErrnosTextAsElsewhere) {
  EXPECT_EQ(cause_of(std::make_error_code(std::errc::connection_refused)), core::errno_text(ECONNREFUSED));
  EXPECT_FALSE(cause_of(from_asio(boost::asio::error::eof)).empty());
}

TEST(ToAsio, IsUndoneByFromAsio) {
  for (const char* address : {"192.0.2.1", "2001:db8::1"}) {
    const tcp::endpoint endpoint(boost::asio::ip::make_address(address), 9000);
    EXPECT_EQ(to_asio(from_asio(endpoint)), endpoint);
  }
}

}  // namespace
}  // namespace udtcat::bridge
