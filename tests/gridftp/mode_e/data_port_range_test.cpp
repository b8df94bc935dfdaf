// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/data_port_range.hpp"

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

TEST(DataPortRange, AreReadAsGlobusWritesThemToo) {
  for (const char* text : {"50000:50002", "50000-50002", "50000,50002", "50000 50002"}) {
    const auto ports = DataPortRange::parse(text);
    ASSERT_TRUE(ports) << text;
    EXPECT_EQ(ports->first(), 50'000);
    EXPECT_EQ(ports->last(), 50'002);
  }
  for (const char* wrong : {"", "50000", "50001:50000", "0:5", "1:65536", "a:b", ":", "1:2:3", "-1:5"})
    EXPECT_FALSE(DataPortRange::parse(wrong)) << wrong;
}

TEST(DataPortRange, AreTakenInTurn) {
  DataPortRange ports(7, 9);
  for (const int expected : {7, 8, 9, 7}) EXPECT_EQ(ports.next(), expected);
}

TEST(DataPortRange, AreWhereAStackListensUntilNoneIsFree) {
  boost::asio::io_context io;
  // A port that is the test's: the system has just given it.
  const auto probe = make_tcp_stack(io)->listen(bridge::loopback_v4(), [](const auto&, const Endpoint&) {}).value();
  const std::uint16_t taken = probe->local().port();
  DataOptions options;
  options.session.application = "driver";
  options.ports = std::make_shared<DataPortRange>(taken, taken);
  const auto refused = make_stack(io, options)->listen(bridge::loopback_v4(), [](const auto&, const Endpoint&) {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::cannot_bind);
  EXPECT_NE(refused.error().message().find(std::to_string(taken)), std::string::npos);
  const Endpoint chosen = bridge::loopback_v4().with_port(taken);
  EXPECT_FALSE(make_stack(io, options)->listen(chosen, [](const auto&, const Endpoint&) {})) << "by name";
}

}  // namespace
}  // namespace udtcat::gridftp
