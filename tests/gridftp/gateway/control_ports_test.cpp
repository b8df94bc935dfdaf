// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/control_ports.hpp"

#include <gmock/gmock.h>

#include "gridftp/dialogue/data_port.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::gridftp {
namespace {

using bridge::tcp;
using testing::HasSubstr;

Endpoint port(const char* text) { return parse_data_port(text).value(); }

void ignore_shortage(const Endpoint&, std::error_code) {}

struct ControlPortsTest : ::testing::Test {
  tcp::socket connect_to(const Endpoint& endpoint) {
    tcp::socket socket(io);
    boost::system::error_code error;
    socket.connect(bridge::to_asio(endpoint), error);
    connected = !error;
    return socket;
  }
  boost::asio::io_context io;
  bool connected = false;
  std::vector<Endpoint> brought;
  ControlPorts ports{io, bridge::loopback_v4(), port("127,0,0,1,200,0"),
                     [this](const Endpoint& announced, const tcp::socket&) { brought.push_back(announced); },
                     ignore_shortage};
};

TEST_F(ControlPortsTest, KnowsWhatIsAnnouncedUntilTheNextFirst) {
  EXPECT_FALSE(ports.has_announced(port("10,0,0,1,195,80")));
  EXPECT_TRUE(ports.announce(port("10,0,0,1,195,80"), true));
  EXPECT_TRUE(ports.announce(port("10,0,0,2,195,81"), false));
  EXPECT_TRUE(ports.has_announced(port("10,0,0,1,195,80")));
  EXPECT_TRUE(ports.has_announced(port("10,0,0,2,195,81")));
  EXPECT_FALSE(ports.has_announced(port("10,0,0,1,195,81")));
  EXPECT_TRUE(ports.announce(port("10,0,0,3,195,81"), true));
  EXPECT_FALSE(ports.has_announced(port("10,0,0,1,195,80")));
}

/// Proves: threat-model.gateway-addresses
TEST_F(ControlPortsTest, RefusesPrivilegedPortsAndNonUnicastAddresses) {
  for (const char* wrong : {"10,0,0,1,0,22", "10,0,0,1,3,255", "0,0,0,0,195,80", "224,0,0,1,195,80", "10,0,0,1,0,0"}) {
    EXPECT_FALSE(ports.announce(port(wrong), true)) << wrong;
    EXPECT_FALSE(ports.has_announced(port(wrong))) << wrong;
  }
  EXPECT_TRUE(ports.announce(port("10,0,0,1,4,0"), true));
}

/// Proves: threat-model.gateway-addresses
TEST_F(ControlPortsTest, BelievesLoopbackOfItsOwnHostOnly) {
  EXPECT_TRUE(ports.announce(port("127,0,0,1,195,80"), true));
  ControlPorts remote(
      io, bridge::loopback_v4(), port("10,0,0,1,200,0"), [](const Endpoint&, const tcp::socket&) {}, ignore_shortage);
  const auto refused = remote.announce(port("127,0,0,1,195,80"), true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("this host itself, not 10.0.0.1"));
}

TEST_F(ControlPortsTest, ListenForEachAnnouncedAndCloseWithTheNextFirst) {
  const Endpoint one = ports.stand_in(port("10,0,0,1,195,80"), true).value();
  const Endpoint two = ports.stand_in(port("10,0,0,2,195,80"), false).value();
  EXPECT_EQ(one.host_to_string(), "127.0.0.1");
  const auto first = connect_to(two);
  const auto second = connect_to(one);
  EXPECT_TRUE(bridge::run_until(io, [&] { return brought.size() == 2; }));
  EXPECT_THAT(brought, testing::UnorderedElementsAre(port("10,0,0,2,195,80"), port("10,0,0,1,195,80")));
  const Endpoint three = ports.stand_in(port("10,0,0,3,195,80"), true).value();
  const auto refused = connect_to(one);
  EXPECT_FALSE(connected);
  const auto taken = connect_to(three);
  EXPECT_TRUE(connected);
}

/// Proves: gridftp.announced-addresses
TEST_F(ControlPortsTest, AreBounded) {
  for (std::size_t i = 0; i < 256; ++i) {
    ASSERT_TRUE(ports.announce(port("10,0,0,1,195,80"), i == 0));
    ASSERT_TRUE(ports.stand_in(port("10,0,0,1,195,80"), i == 0));
  }
  EXPECT_FALSE(ports.announce(port("10,0,0,1,195,80"), false));
  EXPECT_FALSE(ports.stand_in(port("10,0,0,1,195,80"), false));
}

TEST_F(ControlPortsTest, SayWhereTheyCannotListen) {
  ControlPorts elsewhere(
      io, port("192,0,2,1,0,0"), port("192,0,2,2,200,0"), [](const Endpoint&, const tcp::socket&) {}, ignore_shortage);
  const auto refused = elsewhere.stand_in(port("10,0,0,1,195,80"), true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::cannot_bind);
  EXPECT_THAT(refused.error().message(), HasSubstr("192.0.2.1"));
}

}  // namespace
}  // namespace udtcat::gridftp
