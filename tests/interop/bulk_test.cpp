// SPDX-License-Identifier: Apache-2.0
/// Much data over a clean path.
#include <set>

#include "interop/interop_fixture.hpp"

namespace udtcat::test::interop {
namespace {

constexpr int kOrdinaryBufferBytes = 212'992;  // Linux before 6.18: net.core.rmem_max

class Bulk : public testing::TestWithParam<std::tuple<Role, Flow>> {
 protected:
  static void carry_all(std::uint64_t bytes, std::chrono::milliseconds limit, const LinkOptions& options = {}) {
    const auto [role, flow] = GetParam();
    Link link = make_link(role, options);
    ASSERT_TRUE(link.up());
    const Carried carried = carry(link, flow, bytes, limit);
    for (const auto& [way, transfer] : {std::pair("from us", carried.from_us), std::pair("to us", carried.to_us)})
      if (transfer) std::printf("%s: %s\n", way, transfer->text().c_str());
  }
};

INSTANTIATE_TEST_SUITE_P(BothRoles, Bulk,
                         testing::Combine(testing::Values(Role::connects, Role::listens),
                                          testing::Values(Flow::from_us, Flow::to_us, Flow::both)),
                         [](const auto& row) {
                           return name_of(std::get<0>(row.param)) + name_of(std::get<1>(row.param));
                         });

TEST_P(Bulk, Of64MebibytesArrivesUnchanged) { carry_all(64 << 20, 60s); }

TEST_P(Bulk, OfAGibibyteArrivesUnchangedSoak) { carry_all(std::uint64_t{1} << 30, 300s); }

TEST_P(Bulk, InLargePacketsArrivesUnchanged) { carry_all(64 << 20, 30s, {.raw = {.mss = 9000}}); }

TEST_P(Bulk, InSmallPacketsArrivesUnchanged) { carry_all(4 << 20, 30s, {.raw = {.mss = 300}}); }

// It overflows, and libudt asks once for what it loses.
TEST_P(Bulk, IntoASocketBufferOfAnOrdinaryHostArrivesUnchanged) {
  carry_all(64 << 20, 60s, {.raw = {.udp_buffer_bytes = kOrdinaryBufferBytes}});
}

TEST_P(Bulk, OverIpv6ArrivesUnchanged) { carry_all(16 << 20, 30s, {.family = AddressFamily::ipv6}); }

class Acknowledgements : public ByRole {};
UDTCAT_FOR_BOTH_ROLES(Acknowledgements);

// Short packets draw 16-byte ones, full packets light and 24-byte ones.
TEST_P(Acknowledgements, OfAllThreeFormsAreUnderstood) {
  Link link = make_link(role(), {.relayed = true});
  ASSERT_TRUE(link.up());
  link.relay->rule(towards_them(), {});
  carry(link, Flow::from_us, 8 << 20, 30s, 20'000);
  carry(link, Flow::from_us, 8 << 20, 30s, 1456 * 700);
  std::multiset<std::size_t> forms;
  for (const auto& ack : link.relay->captured(towards_us(), [](auto& packet) { return packet.is(Type::ack); }))
    forms.insert(ack.datagram_bytes - kHeaderBytes);
  for (const std::size_t form : {4U, 16U, 24U})
    EXPECT_GT(forms.count(form), 0U) << form << " bytes: a relay that saw none proves nothing";
  EXPECT_EQ(forms.count(4) + forms.count(16) + forms.count(24), forms.size());
}

TEST_P(Acknowledgements, OfOursLetLibudtSendFast) {
  Link link = make_link(role(), {.relayed = true});
  ASSERT_TRUE(link.up());
  const Carried carried = carry(link, Flow::to_us, 64 << 20, 30s);
  ASSERT_TRUE(carried.to_us);
  EXPECT_LT(carried.to_us->duration, 15s) << "libudt itself needs about a second" << link.tell();
  std::uint32_t last = 0;
  bool first = true;
  for (const auto& ack : link.relay->captured(towards_them(), [](auto& packet) { return packet.is(Type::ack); })) {
    const PacketView packet = ack.view();
    const std::size_t bytes = ack.datagram_bytes - kHeaderBytes;
    ASSERT_TRUE(bytes == 4 || bytes == 16 || bytes == 24) << packet.text();
    ASSERT_EQ(packet.word(0) & kControlBit, 0U) << packet.text();
    ASSERT_TRUE(first || distance(last, packet.word(0)) >= 0) << "they never go back: " << packet.text();
    last = packet.word(0);
    first = false;
    if (bytes == 4) {
      ASSERT_EQ(packet.info(), 0U) << "a light one has no number: " << packet.text();
      continue;
    }
    ASSERT_NE(packet.info(), 0U) << packet.text();
    ASSERT_GT(packet.word(1), 0U) << "RTT in microseconds: " << packet.text();
    ASSERT_LT(packet.word(1), 10'000'000U) << "RTT in microseconds: " << packet.text();
    ASSERT_GE(packet.word(3), 2U) << "free packets: " << packet.text();
    ASSERT_LT(packet.word(3), 1U << 30) << "free packets: " << packet.text();
  }
  EXPECT_FALSE(first) << "no ACK at all";
}

}  // namespace
}  // namespace udtcat::test::interop
