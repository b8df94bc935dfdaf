// SPDX-License-Identifier: Apache-2.0
#include "lib/net/accept_errors.hpp"

#include <cerrno>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace udtcat::net {
namespace {

using boost::asio::ip::tcp;

bool is_of_one_client(int errno_value) {
  return net::is_of_one_client(boost::system::error_code(errno_value, boost::system::system_category()));
}

TEST(AcceptErrors, AreOfOneClientThatGaveUp) {
  EXPECT_TRUE(is_of_one_client(ECONNABORTED));
  EXPECT_TRUE(is_of_one_client(ECONNRESET));
  EXPECT_TRUE(is_of_one_client(EPROTO));
}

TEST(AcceptErrors, AreOfAllWhereTheHostRanOutOfSomething) {
  EXPECT_FALSE(is_of_one_client(EMFILE));
  EXPECT_FALSE(is_of_one_client(ENETDOWN));
}

TEST(AcceptErrors, AreReportedByAsio) {
  boost::asio::io_context io;
  tcp::acceptor acceptor(io, tcp::v4());
  report_aborted_clients(acceptor);
  boost::asio::socket_base::enable_connection_aborted reports;
  acceptor.get_option(reports);
  EXPECT_TRUE(reports.value());
}

}  // namespace
}  // namespace udtcat::net
