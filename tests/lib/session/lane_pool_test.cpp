#include "lib/session/lane_pool.hpp"

#include <chrono>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace udtcat::session {
namespace {

using namespace std::chrono_literals;
using session::Block;

constexpr std::size_t kBlockBytes = 64 * 1024;

/// Two pools as two ends: what one seals the other opens.
class LanePoolTest : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  void SetUp() override {
    const auto [lanes, threads] = GetParam();
    crypto::SecretBytes<session::KeySchedule::kExporterBytes> exporter;
    keys.emplace(std::move(*session::KeySchedule::from_exporter(exporter)));
    LaneSetup setup{Protection::private_, Cipher::aes_256_gcm, lanes, threads, session::Role::connector};
    sender = std::move(*LanePool::create(
        io, setup, &*keys, [this](Result<Block> block) { take_sealed(std::move(block)); },
        [](const Result<Block>&) { FAIL(); }));
    setup.role = session::Role::listener;
    receiver = std::move(*LanePool::create(
        io, setup, &*keys, [](const Result<Block>&) { FAIL(); },
        [this](Result<Block> block) { opened.push_back(std::move(block)); }));
  }
  void take_sealed(Result<Block> block) {
    ASSERT_TRUE(block);
    if (corrupt == block->number) block->payload()[0] ^= std::byte{1};
    receiver->open(std::move(*block));
  }
  Block block(session::BlockNumber number) {
    const std::size_t bytes = number % 3 == 0 ? 100 : kBlockBytes;  // some worked inline, some by the threads
    Block made{std::move(*pool.acquire()), number, bytes};
    std::memset(made.payload().data(), static_cast<int>(number), bytes);
    const auto lane = static_cast<std::uint16_t>(number % std::get<0>(GetParam()));
    session::encode({Protection::private_, lane, static_cast<std::uint32_t>(bytes), number}, made.header());
    return made;
  }
  void run_until_opened(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (opened.size() < count && std::chrono::steady_clock::now() < deadline) io.run_one_for(100ms);
    ASSERT_EQ(opened.size(), count);
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay{io.get_executor()};
  core::BufferPool pool{session::buffer_bytes_for(kBlockBytes), 500};
  std::optional<session::KeySchedule> keys;
  std::optional<session::BlockNumber> corrupt;
  std::vector<Result<Block>> opened;
  std::unique_ptr<LanePool> sender;
  std::unique_ptr<LanePool> receiver;
};

TEST_P(LanePoolTest, GivesBlocksBackInOrderWhateverLaneAndThreadHadThem) {
  for (session::BlockNumber number = 0; number < 300; ++number) sender->seal(block(number));
  run_until_opened(300);
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(opened[i]);
    EXPECT_EQ(opened[i]->number, i);
    EXPECT_EQ(opened[i]->payload().front(), static_cast<std::byte>(i));
    EXPECT_EQ(opened[i]->payload().back(), static_cast<std::byte>(i));
  }
}

TEST_P(LanePoolTest, ReportsATamperedBlockInItsPlace) {
  corrupt = 7;
  for (session::BlockNumber number = 0; number < 20; ++number) sender->seal(block(number));
  run_until_opened(20);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(opened[i].has_value(), i != 7);
  EXPECT_EQ(opened[7].error().code, Errc::tampered);
}

TEST_P(LanePoolTest, IsDestroyedWithBlocksOnTheirWay) {
  for (session::BlockNumber number = 0; number < 50; ++number) sender->seal(block(number));
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
  core::BufferPool pool(session::buffer_bytes_for(100), 10);
  std::vector<session::BlockNumber> seen;
  auto lanes = LanePool::create(
      io, {Protection::clear, Cipher::aes_256_gcm, 1, 0, session::Role::connector}, nullptr,
      [&](Result<Block> block) { seen.push_back(block->number); }, [](const Result<Block>&) {});
  ASSERT_TRUE(lanes);
  for (session::BlockNumber number = 0; number < 5; ++number)
    (*lanes)->seal(Block{std::move(*pool.acquire()), number, 1});
  io.run();
  EXPECT_EQ(seen, (std::vector<session::BlockNumber>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace udtcat::session
