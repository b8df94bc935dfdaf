#include "lib/transport/native/tombstones.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

class Graves : public testing::Test {
 protected:
  bool answers(TimePoint now, std::uint32_t id) { return stones.answer(now, id, peer, data) != nullptr; }
  void bury(std::uint32_t id) { stones.add(kStart, id, peer, std::vector<std::byte>(20, std::byte(id))); }
  const std::vector<std::byte> data = std::vector<std::byte>(100);
  Endpoint peer = endpoint("192.0.2.1", 1000);
  Tombstones stones;
};

TEST_F(Graves, AnswerForAMinute) {
  bury(5);
  const auto* const goodbye = stones.answer(kStart, 5, peer, data);
  ASSERT_NE(goodbye, nullptr);
  EXPECT_EQ(*goodbye, std::vector<std::byte>(20, std::byte{5}));
  EXPECT_TRUE(answers(kStart + 59s, 5));
  EXPECT_FALSE(answers(kStart + 61s, 5));
}

TEST_F(Graves, AnswerThePeerOnly) {
  bury(5);
  EXPECT_EQ(stones.answer(kStart, 5, peer.with_port(1001), data), nullptr);
  EXPECT_FALSE(answers(kStart, 6));
}

TEST_F(Graves, AnswerAFlightOnce) {
  bury(5);
  int answered = 0;
  for (TimePoint now = kStart; now < kStart + 100ms; now += 100us) answered += answers(now, 5) ? 1 : 0;
  EXPECT_EQ(answered, 5);
}

TEST_F(Graves, DoNotAnswerEachOther) {
  bury(5);
  const auto goodbye = encode(ControlHeader{ControlType::shutdown, 0, 0, 0, 5}, std::vector<std::uint32_t>{0});
  EXPECT_EQ(stones.answer(kStart, 5, peer, goodbye), nullptr);
}

TEST_F(Graves, GiveWayToNewOnes) {
  for (std::uint32_t id = 1; id <= 1025; ++id) bury(id);
  EXPECT_FALSE(answers(kStart, 1));
  EXPECT_TRUE(answers(kStart, 2));
  EXPECT_TRUE(answers(kStart, 1025));
}

}  // namespace
}  // namespace udtcat::transport::native
