#include "lib/session/lane.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace udtcat::session {
namespace {

using session::Block;
using session::BlockNumber;

constexpr std::size_t kLaneBlockBytes = 1024;

class LaneTest : public ::testing::TestWithParam<std::tuple<Protection, Cipher>> {
 protected:
  static Lane make(crypto::AeadDirection direction, std::byte secret = std::byte{7}) {
    const auto [protection, cipher] = GetParam();
    crypto::Secret32 bytes;
    std::ranges::fill(bytes.writable(), secret);
    return std::move(*Lane::create(protection, cipher, direction, session::LaneSecret(std::move(bytes))));
  }
  Block block(BlockNumber number, std::string_view text) {
    Block made{std::move(*pool.acquire()), number, text.size()};
    std::memcpy(made.payload().data(), text.data(), text.size());
    session::encode({std::get<0>(GetParam()), 0, static_cast<std::uint32_t>(text.size()), number}, made.header());
    return made;
  }
  static std::string text_of(const Block& block) {
    return {reinterpret_cast<const char*>(block.payload().data()), block.payload().size()};
  }

  core::BufferPool pool{session::buffer_bytes_for(kLaneBlockBytes), 8};
};

TEST_P(LaneTest, OpensWhatItsPairSealed) {
  Lane sealer = make(crypto::AeadDirection::seal);
  Lane opener = make(crypto::AeadDirection::open);
  for (const BlockNumber number : {0U, 1U, 5U, 6U}) {
    const Block sent = block(number, "attack at dawn");
    ASSERT_TRUE(sealer.seal(sent));
    EXPECT_EQ(text_of(sent) == "attack at dawn", std::get<0>(GetParam()) == Protection::safe)
        << "private hides, safe does not";
    ASSERT_TRUE(opener.open(sent));
    EXPECT_EQ(text_of(sent), "attack at dawn");
  }
}

TEST_P(LaneTest, GoesThroughEpochsWithoutBeingTold) {
  Lane sealer = make(crypto::AeadDirection::seal);
  Lane opener = make(crypto::AeadDirection::open);
  for (const BlockNumber number : {session::kBlocksPerEpoch - 1, session::kBlocksPerEpoch, 2 * session::kBlocksPerEpoch,
                                   5 * session::kBlocksPerEpoch + 3}) {
    const Block sent = block(number, "text");
    ASSERT_TRUE(sealer.seal(sent));
    ASSERT_TRUE(opener.open(sent)) << number;
    EXPECT_EQ(text_of(sent), "text");
  }
}

TEST_P(LaneTest, EpochsDoNotShareAKey) {
  Lane first = make(crypto::AeadDirection::seal);
  Lane second = make(crypto::AeadDirection::seal);
  const Block early = block(0, "the same text");
  const Block late = block(session::kBlocksPerEpoch, "the same text");
  ASSERT_TRUE(first.seal(early));
  ASSERT_TRUE(second.seal(late));
  EXPECT_FALSE(std::ranges::equal(early.tag(), late.tag()));
}

TEST_P(LaneTest, SeesEveryFlippedBit) {
  const Block sent = block(3, "short");
  Lane sealer = make(crypto::AeadDirection::seal);
  ASSERT_TRUE(sealer.seal(sent));
  const auto record = sent.record(Protection::private_);
  const std::vector<std::byte> original(record.begin(), record.end());
  for (std::size_t bit = 0; bit < 8 * original.size(); ++bit) {
    std::ranges::copy(original, record.begin());
    record[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    Lane opener = make(crypto::AeadDirection::open);
    const auto opened = opener.open(sent);
    ASSERT_FALSE(opened) << bit;
    EXPECT_EQ(opened.error().code, Errc::tampered);
  }
}

TEST_P(LaneTest, OpensNothingUnderAnotherSecretOrNumber) {
  const Block sent = block(3, "short");
  Lane sealer = make(crypto::AeadDirection::seal);
  ASSERT_TRUE(sealer.seal(sent));
  Lane stranger = make(crypto::AeadDirection::open, std::byte{8});
  EXPECT_FALSE(stranger.open(sent));

  Block renumbered = block(3, "short");
  Lane other = make(crypto::AeadDirection::seal);
  ASSERT_TRUE(other.seal(renumbered));
  renumbered.number = 4;
  Lane opener = make(crypto::AeadDirection::open);
  EXPECT_FALSE(opener.open(renumbered));
}

TEST_P(LaneTest, StopsAtTheLastBlockNumber) {
  Lane sealer = make(crypto::AeadDirection::seal);
  const auto sealed = sealer.seal(block(session::kMaxBlockNumber, "x"));
  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().code, Errc::key_exhausted);
}

using LaneDeathTest = LaneTest;

TEST_P(LaneDeathTest, RefusesToRepeatANonce) {
  Lane sealer = make(crypto::AeadDirection::seal);
  const Block sent = block(3, "x");
  ASSERT_TRUE(sealer.seal(sent));
  EXPECT_DEATH(std::ignore = sealer.seal(sent), "counts blocks up");
}

const auto kEach =
    ::testing::Combine(::testing::Values(Protection::private_, Protection::safe),
                       ::testing::Values(Cipher::aes_256_gcm, Cipher::aes_128_gcm, Cipher::chacha20_poly1305));
std::string name_of(const ::testing::TestParamInfo<LaneTest::ParamType>& parameter) {
  std::string name =
      std::string(to_string(std::get<0>(parameter.param))) + "_" + std::string(to_string(std::get<1>(parameter.param)));
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Each, LaneTest, kEach, name_of);
INSTANTIATE_TEST_SUITE_P(Each, LaneDeathTest, kEach, name_of);

}  // namespace
}  // namespace udtcat::session
