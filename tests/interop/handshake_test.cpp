// SPDX-License-Identifier: Apache-2.0
/// How connections with libudt begin: what is agreed, and lost and doubled packets.
#include <array>

#include "interop/handshake_support.hpp"

namespace udtcat::test::interop {
namespace {

class Agreement : public ByRole {};
UDTCAT_FOR_BOTH_ROLES(Agreement);

TEST_P(Agreement, IsOnTheSmallerMssAndOneBeginning) {
  for (const int mss : {1500, 600, 9000}) {
    Link link = make_link(role(), {.raw = {.mss = mss}, .relayed = true});
    ASSERT_TRUE(link.up());
    carry(link, Flow::both, 100'000, 5s);
    const auto answers = link.relay->captured(Towards::connector, is_handshake);
    ASSERT_GE(answers.size(), 2U);
    const Handshake agreed = *handshake_of(answers.back().view());
    EXPECT_EQ(agreed.request, kConclusion);
    EXPECT_LE(agreed.mss, static_cast<std::uint32_t>(mss));
    if (mss != 9000) {
      EXPECT_EQ(agreed.mss, static_cast<std::uint32_t>(mss));
    }
    for (const Towards towards : {Towards::listener, Towards::connector}) {
      const auto data = link.relay->captured(towards, [](auto& packet) { return packet.is_data(); });
      ASSERT_FALSE(data.empty());
      EXPECT_EQ(data.front().view().sequence(), agreed.initial_sequence);
      for (const Captured& each : data) ASSERT_LE(each.datagram_bytes - kHeaderBytes, agreed.mss - kMssOverheadBytes);
    }
  }
}

enum class Mishap { drop, duplicate };
/// The packets of a handshake in their order.
struct Step {
  const char* name;
  Towards towards;
  std::uint32_t request;
};
constexpr std::array kSteps{
    Step{"Induction", Towards::listener, kInduction}, Step{"Cookie", Towards::connector, kInduction},
    Step{"Conclusion", Towards::listener, kConclusion}, Step{"Answer", Towards::connector, kConclusion}};

class HandshakeMishap : public testing::TestWithParam<std::tuple<Role, Mishap, Step>> {};

INSTANTIATE_TEST_SUITE_P(BothRoles, HandshakeMishap,
                         testing::Combine(testing::Values(Role::connects, Role::listens),
                                          testing::Values(Mishap::drop, Mishap::duplicate), testing::ValuesIn(kSteps)),
                         [](const auto& row) {
                           return name_of(std::get<0>(row.param)) +
                                  (std::get<1>(row.param) == Mishap::drop ? "WithALost" : "WithADoubled") +
                                  std::get<2>(row.param).name;
                         });

TEST_P(HandshakeMishap, DelaysButDoesNotPrevent) {
  const auto [role, mishap, step] = GetParam();
  bool happened = false;
  const auto begin = Clock::now();
  Link link = make_link(role, {.relayed = true, .prepare = [&, mishap = mishap, step = step](UdpRelay& relay) {
                                 relay.rule(step.towards, [&, mishap, step](const PacketView& packet) {
                                   const auto handshake = handshake_of(packet);
                                   if (happened || !handshake || handshake->request != step.request) return Fate{};
                                   happened = true;
                                   return mishap == Mishap::drop ? Fate{.drop = true} : Fate{.copies = 3};
                                 });
                               }});
  ASSERT_TRUE(link.up());
  EXPECT_LT(Clock::now() - begin, 2500ms) << link.tell();
  carry(link, Flow::both, 50'000, 5s);
  EXPECT_TRUE(happened);
}

// libudt's cookie is of the minute since its listener began, and one of the minute before never verifies.
TEST(OurConnectorAtLibudts, ConnectsOverTheListenersMinuteSoak) {
  RawListener listener;
  let_pass(59'500ms);
  UdpRelay relay(listener.port());
  relay.capture();
  relay.rule(Towards::listener, [held = false](const PacketView& packet) mutable {
    const auto handshake = handshake_of(packet);
    if (held || !handshake || handshake->request != kConclusion) return Fate{};
    held = true;
    return Fate{.delay = 1s};
  });
  relay.impair(Towards::listener, {.delay_of_all = 400ms});
  OurEnd end;
  const auto connected = end.connect(loopback(AddressFamily::ipv4, relay.port()), 10s);
  EXPECT_TRUE(connected) << connected.error().message() << relay.last_words();
}

}  // namespace
}  // namespace udtcat::test::interop
