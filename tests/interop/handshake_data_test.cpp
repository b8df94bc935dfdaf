// SPDX-License-Identifier: Apache-2.0
/// Data in a conclusion, between two of our own ends, as a relay between them sees it.
#include <algorithm>

#include "interop/interop_fixture.hpp"
#include "lib/transport/transport_fixture.hpp"
#include "support/udp_relay.hpp"

namespace udtcat::test::interop {
namespace {

class HandshakeData : public transport::TransportTest, public testing::WithParamInterface<std::size_t> {
 protected:
  HandshakeData() : TransportTest(transport::options_for(TransportKind::native)) {}
};
INSTANTIATE_TEST_SUITE_P(Of, HandshakeData, testing::Values(468UL, 469UL, 5000UL),
                         [](const auto& each) { return std::to_string(each.param) + "Bytes"; });

/// Proves: udt4.handshake-data-limit, threat-model.hello-size
TEST_P(HandshakeData, FitInto576BytesOrComeBehindTheHandshake) {
  const auto bytes = random_bytes(GetParam(), 1);
  const auto acceptor = TransportTest::listen({loopback(AddressFamily::ipv4)});
  UdpRelay relay(acceptor->local_endpoints().front().port());
  relay.capture();
  std::unique_ptr<transport::Channel> here;
  std::unique_ptr<transport::Channel> there;
  acceptor->async_accept([&](auto channel) { there = std::move(*channel); });
  engine->async_connect(loopback(AddressFamily::ipv4, relay.port()), transport::copy_of(bytes), std::chrono::seconds(5),
                        [&](auto channel) { here = std::move(*channel); });
  ASSERT_TRUE(run_until([&] { return here && there; }));
  std::vector<std::byte> got(bytes.size());
  ASSERT_TRUE(read(*there, got));
  EXPECT_TRUE(got == bytes);
  std::size_t largest = 0;
  for (const Captured& packet :
       relay.captured(Towards::listener, [](const auto& each) { return each.is(Type::handshake); }))
    largest = std::max(largest, packet.datagram_bytes);
  EXPECT_LE(largest + 28, 576U);
  EXPECT_EQ(largest > 468, GetParam() == 468) << "others are left out of it";
}

}  // namespace
}  // namespace udtcat::test::interop
