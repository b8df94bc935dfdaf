// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/embryonic_connections.hpp"

#include <cerrno>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "lib/core/user_text.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/test_port.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

/// Connections that a port is opening to a peer that answers as the test says.
class EmbryonicConnectionsTest : public testing::Test {
 protected:
  void open(std::chrono::milliseconds patience = 10s) {
    const OpenRequest request{peer, 5, 1000, 1500, 360, 0, std::nullopt, nullptr};
    embryonic.add(request, patience, [this](Result<UdtLink*> told) { result = std::move(told); });
  }
  void answer(Request how) {
    HandshakePacket reply = decode_handshake(std::span(sent).subspan(kHeaderBytes)).value();
    reply.request = how;
    reply.cookie = 77;
    if (how == Request::conclusion) reply.socket_id = 9;
    EXPECT_TRUE(embryonic.handle_packet(clock_now(), 5, encode(reply, 5, 0, std::nullopt), peer));
  }
  std::string cause() const { return result && !*result ? result->error().cause : "no error"; }

  boost::asio::io_context io;
  Endpoint peer = endpoint("192.0.2.1", 9000);
  std::vector<std::byte> sent;
  net::SendResult sending{.state = net::SendState::sent};
  core::ChunkPool chunks{65'536};
  std::unique_ptr<UdpPort> port = test_port(io);
  std::unique_ptr<UdtLink> link;
  std::optional<Result<UdtLink*>> result;
  EmbryonicConnections embryonic{io,
                                 {.send =
                                      [this](auto packet, const Endpoint&) {
                                        sent = std::move(packet);
                                        return sending;
                                      },
                                  .connect = [this](TimePoint, const ConnectionSettings& agreed) -> UdtLink& {
                                    link = std::make_unique<UdtLink>(*port, io, agreed, false, chunks);
                                    return *link;
                                  }}};
};

TEST_F(EmbryonicConnectionsTest, BecomeALinkOnceThePeerHasAgreed) {
  open();
  io.poll();
  answer(Request::induction);
  answer(Request::conclusion);
  EXPECT_FALSE(result) << "not from inside a call";
  EXPECT_TRUE(embryonic.empty());
  io.poll();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->value(), link.get());
  EXPECT_EQ(link->connection.peer_address(), peer);
}

TEST_F(EmbryonicConnectionsTest, AreGivenUpWithTheLikelyCause) {
  open(0ms);
  embryonic.handle_path_error({.peer = peer, .errno_value = EHOSTUNREACH});
  io.run_for(1s);
  EXPECT_EQ(cause(), core::errno_text(EHOSTUNREACH));
  open(0ms);
  io.restart();
  io.run_for(1s);
  EXPECT_EQ(cause(), "nobody answered");
}

TEST_F(EmbryonicConnectionsTest, EndWhereThePortIsClosedOrRefusesThem) {
  open();
  embryonic.handle_path_error({.peer = peer.with_port(9001), .port_unreachable = true});
  EXPECT_TRUE(embryonic.contains(5)) << "another peer's port";
  embryonic.handle_path_error({.peer = peer, .port_unreachable = true});
  io.poll();
  EXPECT_EQ(cause(), kPortClosed);
  open();
  io.restart();
  io.poll();
  answer(Request::refused);
  io.restart();
  io.poll();
  EXPECT_EQ(cause(), kTurnedAway);
}

TEST_F(EmbryonicConnectionsTest, EndWhereNothingCanBeSent) {
  sending = {.state = net::SendState::failed, .errno_value = ENETUNREACH};
  open();
  io.poll();
  EXPECT_EQ(cause(), core::errno_text(ENETUNREACH));
}

TEST_F(EmbryonicConnectionsTest, IgnorePacketsOfOtherPeers) {
  open();
  io.poll();
  EXPECT_FALSE(embryonic.handle_packet(clock_now(), 6, sent, peer)) << "another socket";
  EXPECT_TRUE(embryonic.handle_packet(clock_now(), 5, sent, peer.with_port(1)));
  EXPECT_TRUE(embryonic.contains(5));
}

TEST_F(EmbryonicConnectionsTest, AreClearedWithoutACall) {
  open();
  embryonic.clear();
  io.poll();
  EXPECT_FALSE(result);
}

}  // namespace
}  // namespace udtcat::transport::native
