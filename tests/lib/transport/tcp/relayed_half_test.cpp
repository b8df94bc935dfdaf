// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/relayed_half.hpp"

#include <array>

#include <gtest/gtest.h>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "lib/transport/channel.hpp"
#include "lib/transport/tcp/preface.hpp"
#include "support/addresses.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport::tcp {
namespace {

class RelayedHalfTest : public testing::Test {
 protected:
  void begin() {
    half_ = std::make_unique<RelayedHalf>(io_, test::loopback(AddressFamily::ipv4, place_.local_endpoint().port()),
                                          token_, TransportOptions{}, [this](Result<Socket> other_end) {
                                            const auto done = std::move(half_);
                                            made_.emplace(std::move(other_end));
                                          });
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor place_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  const RelayToken token_{std::byte{1}, std::byte{2}};
  std::unique_ptr<RelayedHalf> half_;
  std::optional<Result<Socket>> made_;
};

TEST_F(RelayedHalfTest, SaysItsTokenAndWaitsForTheFirstByteOfTheOtherEnd) {
  begin();
  Socket at_place(io_);
  bool accepted = false;
  place_.async_accept(at_place, [&](const boost::system::error_code&) { accepted = true; });
  ASSERT_TRUE(test::run_until(io_, [&] { return accepted && at_place.available() == kPrefaceBytes; }));
  std::array<std::byte, kPrefaceBytes> said{};
  boost::asio::read(at_place, boost::asio::buffer(said));
  EXPECT_EQ(said, encode({.type = PrefaceType::relay, .value = token_}));
  test::run_ready(io_);
  EXPECT_FALSE(made_);
  boost::asio::write(at_place, boost::asio::buffer("x", 1));
  ASSERT_TRUE(test::run_until(io_, [&] { return made_.has_value(); }));
  ASSERT_TRUE(*made_);
  std::array<std::byte, 10> hello{};
  EXPECT_EQ(receive(**made_, hello).bytes, 1U) << "it is not read";
}

TEST_F(RelayedHalfTest, FailsWhereThePlaceIsNotThere) {
  const auto port = place_.local_endpoint().port();
  place_.close();
  half_ = std::make_unique<RelayedHalf>(io_, test::loopback(AddressFamily::ipv4, port), token_, TransportOptions{},
                                        [this](Result<Socket> other_end) { made_.emplace(std::move(other_end)); });
  ASSERT_TRUE(test::run_until(io_, [&] { return made_.has_value(); }));
  EXPECT_EQ(made_->error().cause, kTcpPortClosed);
}

}  // namespace
}  // namespace udtcat::transport::tcp
