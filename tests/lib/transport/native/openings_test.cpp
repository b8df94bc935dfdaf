// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/openings.hpp"

#include <cerrno>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "lib/core/user_text.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/udp_port.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

/// A port without a socket: its peer answers as it is told.
class OpeningsTest : public testing::Test {
 protected:
  void open(std::chrono::milliseconds patience = 10s) {
    const OpenRequest request{peer, 5, 1000, 1500, 360, 0, std::nullopt, nullptr};
    openings.add(request, patience, [this](Result<UdtLink*> told) { result = std::move(told); });
  }
  void answer(Request how) {
    HandshakePacket reply = decode_handshake(std::span(sent).subspan(kHeaderBytes)).value();
    reply.request = how;
    reply.cookie = 77;
    if (how == Request::conclusion) reply.socket_id = 9;
    EXPECT_TRUE(openings.handle_packet(clock_now(), 5, encode(reply, 5, 0, std::nullopt), peer));
  }
  std::string cause() const { return result && !*result ? result->error().cause : "no error"; }

  boost::asio::io_context io;
  Endpoint peer = endpoint("192.0.2.1", 9000);
  std::vector<std::byte> sent;
  net::SendResult sending{.state = net::SendState::sent};
  core::ChunkPool chunks{65'536};
  std::unique_ptr<UdtLink> link;
  std::optional<Result<UdtLink*>> result;
  Openings openings{io,
                    {.send =
                         [this](auto packet, const Endpoint&) {
                           sent = std::move(packet);
                           return sending;
                         },
                     .connect = [this](TimePoint, const ConnectionSettings& agreed) -> UdtLink& {
                       link = std::make_unique<UdtLink>(io, agreed, false, chunks);
                       return *link;
                     }}};
};

TEST_F(OpeningsTest, GiveALinkOnceThePeerHasAgreed) {
  open();
  io.poll();
  answer(Request::induction);
  answer(Request::conclusion);
  EXPECT_FALSE(result) << "not from inside a call";
  EXPECT_TRUE(openings.empty());
  io.poll();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->value(), link.get());
  EXPECT_EQ(link->connection.peer_address(), peer);
}

TEST_F(OpeningsTest, AreGivenUpWithTheLikelyCause) {
  open(0ms);
  openings.handle_path_error({.peer = peer, .errno_value = EHOSTUNREACH});
  io.run_for(1s);
  EXPECT_EQ(cause(), core::errno_text(EHOSTUNREACH));
  open(0ms);
  io.restart();
  io.run_for(1s);
  EXPECT_EQ(cause(), "nobody answered");
}

TEST_F(OpeningsTest, EndWhereThePortIsClosedOrTurnsThemAway) {
  open();
  openings.handle_path_error({.peer = peer.with_port(9001), .port_unreachable = true});
  EXPECT_TRUE(openings.contains(5)) << "another peer's port";
  openings.handle_path_error({.peer = peer, .port_unreachable = true});
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

TEST_F(OpeningsTest, EndWhereNothingCanBeSent) {
  sending = {.state = net::SendState::failed, .errno_value = ENETUNREACH};
  open();
  io.poll();
  EXPECT_EQ(cause(), core::errno_text(ENETUNREACH));
}

TEST_F(OpeningsTest, HearOnlyTheirPeer) {
  open();
  io.poll();
  EXPECT_FALSE(openings.handle_packet(clock_now(), 6, sent, peer)) << "another socket";
  EXPECT_TRUE(openings.handle_packet(clock_now(), 5, sent, peer.with_port(1)));
  EXPECT_TRUE(openings.contains(5));
}

TEST_F(OpeningsTest, EndWithoutACallWhenTheyAreCleared) {
  open();
  openings.clear();
  io.poll();
  EXPECT_FALSE(result);
}

}  // namespace
}  // namespace udtcat::transport::native
