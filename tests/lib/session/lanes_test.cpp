// SPDX-License-Identifier: Apache-2.0
#include "lib/session/lanes.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/executor_work_guard.hpp>

#include "support/run_until.hpp"

namespace udtcat::session {
namespace {

constexpr std::size_t kLaneBlockBytes = 1024;

class LaneTest : public ::testing::TestWithParam<std::tuple<Protection, Cipher>> {
 protected:
  static Lane make(crypto::AeadDirection direction, std::byte secret = std::byte{7}) {
    const auto [protection, cipher] = GetParam();
    crypto::Secret32 bytes;
    std::ranges::fill(bytes.writable(), secret);
    return std::move(*Lane::create(protection, cipher, direction, LaneSecret(std::move(bytes))));
  }
  Block block(BlockNumber number, std::string_view text) {
    Block made{std::move(*pool.acquire()), number, text.size()};
    std::memcpy(made.payload().data(), text.data(), text.size());
    encode({std::get<0>(GetParam()), 0, static_cast<std::uint32_t>(text.size()), number}, made.header());
    return made;
  }
  static std::string text_of(const Block& block) {
    return {reinterpret_cast<const char*>(block.payload().data()), block.payload().size()};
  }

  core::BufferPool pool{buffer_bytes_for(kLaneBlockBytes), 8};
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

TEST_P(LaneTest, FollowsEpochsByBlockNumber) {
  Lane sealer = make(crypto::AeadDirection::seal);
  Lane opener = make(crypto::AeadDirection::open);
  for (const BlockNumber number :
       {kBlocksPerEpoch - 1, kBlocksPerEpoch, 2 * kBlocksPerEpoch, 5 * kBlocksPerEpoch + 3}) {
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
  const Block late = block(kBlocksPerEpoch, "the same text");
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

/// Proves: record.nonce-once
TEST_P(LaneTest, StopsAtTheLastBlockNumber) {
  Lane sealer = make(crypto::AeadDirection::seal);
  const auto sealed = sealer.seal(block(kMaxBlockNumber, "x"));
  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().code, Errc::key_exhausted);
}

using LaneDeathTest = LaneTest;

/// Proves: record.nonce-once
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

// ---- LanePool ----

using namespace std::chrono_literals;

constexpr std::size_t kBlockBytes = 64 * 1024;

/// Two pools as two ends: what one seals the other opens.
class LanePoolTest : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  void SetUp() override {
    const auto [lanes, threads] = GetParam();
    crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
    keys.emplace(std::move(*KeySchedule::from_exporter(exporter)));
    LaneSetup setup{Protection::private_, Cipher::aes_256_gcm, lanes, nullptr, Role::connector};
    if (threads > 0) setup.threads = CipherThreads::start(threads).value();
    sender = std::move(*LanePool::create(
        io, setup, &*keys, [this](Result<Block> block) { take_sealed(std::move(block)); },
        [](const Result<Block>&) { FAIL(); }));
    setup.role = Role::listener;
    receiver = std::move(*LanePool::create(
        io, setup, &*keys, [](const Result<Block>&) { FAIL(); },
        [this](Result<Block> block) { opened.push_back(std::move(block)); }));
  }
  void take_sealed(Result<Block> block) {
    ASSERT_TRUE(block);
    if (corrupt == block->number) block->payload()[0] ^= std::byte{1};
    receiver->open(std::move(*block));
  }
  Block block(BlockNumber number) {
    const std::size_t bytes = number % 3 == 0 ? 100 : kBlockBytes;  // some worked inline, some by the threads
    Block made{std::move(*pool.acquire()), number, bytes};
    std::memset(made.payload().data(), static_cast<int>(number), bytes);
    const auto lane = static_cast<std::uint16_t>(number % std::get<0>(GetParam()));
    encode({Protection::private_, lane, static_cast<std::uint32_t>(bytes), number}, made.header());
    return made;
  }
  /// For the next tenth of a second.
  void set_scarce(bool scarce) {
    const auto now = std::chrono::steady_clock::now();
    OffloadPolicy& policy = OffloadPolicy::of(io);
    policy.sample(now, std::nullopt);
    if (!scarce) return;
    policy.sample(now, SchedulerTimes{0ms, 0ms});
    policy.sample(now, SchedulerTimes{10ms, 10ms});
  }
  void run_until_opened(std::size_t count) {
    ASSERT_TRUE(test::run_until(io, [&] { return opened.size() >= count; }));
    ASSERT_EQ(opened.size(), count);
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay{io.get_executor()};
  core::BufferPool pool{buffer_bytes_for(kBlockBytes), 500};
  std::optional<KeySchedule> keys;
  std::optional<BlockNumber> corrupt;
  std::vector<Result<Block>> opened;
  std::unique_ptr<LanePool> sender;
  std::unique_ptr<LanePool> receiver;
};

TEST_P(LanePoolTest, GivesBlocksBackInOrderOfAllLanesAndThreads) {
  for (BlockNumber number = 0; number < 300; ++number) sender->seal(block(number));
  run_until_opened(300);
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(opened[i]);
    EXPECT_EQ(opened[i]->number, i);
    EXPECT_EQ(opened[i]->payload().front(), static_cast<std::byte>(i));
    EXPECT_EQ(opened[i]->payload().back(), static_cast<std::byte>(i));
  }
}

TEST_P(LanePoolTest, GivesBlocksBackInOrderWhileCoresBecomeScarceAndFreeAgain) {
  for (BlockNumber number = 0; number < 300; ++number) {
    if (number % 20 == 0) set_scarce(number % 40 == 0);
    sender->seal(block(number));
    io.poll();
  }
  run_until_opened(300);
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(opened[i]);
    EXPECT_EQ(opened[i]->number, i);
    EXPECT_EQ(opened[i]->payload().back(), static_cast<std::byte>(i));
  }
}

TEST_P(LanePoolTest, ReportsATamperedBlockInItsPlace) {
  corrupt = 7;
  for (BlockNumber number = 0; number < 20; ++number) sender->seal(block(number));
  run_until_opened(20);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(opened[i].has_value(), i != 7);
  EXPECT_EQ(opened[7].error().code, Errc::tampered);
}

TEST_P(LanePoolTest, IsDestroyedWithBlocksOnTheirWay) {
  for (BlockNumber number = 0; number < 50; ++number) sender->seal(block(number));
  sender.reset();
  receiver.reset();
  io.poll();
  EXPECT_TRUE(opened.empty());
}

INSTANTIATE_TEST_SUITE_P(LanesByThreads, LanePoolTest,
                         ::testing::Combine(::testing::Values(1, 2, 16), ::testing::Values(0, 1, 2, 5)),
                         [](const auto& parameter) {
                           return std::to_string(std::get<0>(parameter.param)) + "lanes" +
                                  std::to_string(std::get<1>(parameter.param)) + "threads";
                         });

TEST(LanePool, PassesBlocksThroughInOrderWhereNothingIsSealed) {
  boost::asio::io_context io;
  core::BufferPool pool(buffer_bytes_for(100), 10);
  std::vector<BlockNumber> seen;
  auto lanes = LanePool::create(
      io, {Protection::clear, Cipher::aes_256_gcm, 1, nullptr, Role::connector}, nullptr,
      [&](Result<Block> block) { seen.push_back(block->number); }, [](const Result<Block>&) {});
  ASSERT_TRUE(lanes);
  for (BlockNumber number = 0; number < 5; ++number) (*lanes)->seal(Block{std::move(*pool.acquire()), number, 1});
  io.run();
  EXPECT_EQ(seen, (std::vector<BlockNumber>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace udtcat::session
