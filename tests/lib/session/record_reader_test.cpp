// SPDX-License-Identifier: Apache-2.0
#include "lib/session/record_reader.hpp"

#include <array>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/memory_channel.hpp"
#include "support/run_until.hpp"

namespace udtcat::session {
namespace {

using namespace std::chrono_literals;

/// Records at clear, put on three flows by hand.
class RecordReaderTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kFlows = 3;
  static constexpr std::size_t kLanes = 3;

  RecordReaderTest() {
    agreed.protection = Protection::clear;
    agreed.block_bytes = kMinBlockBytes;
    agreed.lanes = kLanes;
    for (std::size_t i = 0; i < kFlows; ++i) add_flow();
    reader.emplace(io, *flows, agreed, std::nullopt);
  }
  ~RecordReaderTest() override { flows.reset(); }  // the channels end before the bytes that they fill
  void add_flow() {
    test::ChannelPair pair(io);
    pipes.push_back(pair.from_connector);
    senders.push_back(std::move(pair.connector));
    flows->add(std::move(pair.listener));
  }
  static std::vector<std::byte> record(BlockNumber number, std::size_t payload_bytes = 5) {
    std::vector<std::byte> bytes(kRecordHeaderBytes + payload_bytes, static_cast<std::byte>(number));
    encode(RecordHeader{Protection::clear, static_cast<std::uint16_t>(number % kLanes),
                        static_cast<std::uint32_t>(payload_bytes), number},
           std::span(bytes).first<kRecordHeaderBytes>());
    return bytes;
  }
  void put(std::size_t flow, const std::vector<std::byte>& bytes) {
    senders[flow]->async_write(core::SharedBytes::adopt(bytes), [](const Status&) {});
  }
  void put(std::size_t flow, BlockNumber number) { put(flow, record(number)); }
  void begin() {
    outcome.reset();
    reader->async_read(std::move(*buffers.acquire()), [this](Result<Block> block) { outcome = std::move(block); });
    EXPECT_FALSE(outcome) << "never from inside";
  }
  /// The result of a read in the time that it takes to do all there is to do.
  std::optional<Result<Block>> read() {
    begin();
    settle();
    return std::move(outcome);
  }
  void settle(std::chrono::milliseconds most = 0ms) {
    test::run_ready(io);
    std::ignore = test::run_until(
        io, [this] { return outcome.has_value(); }, most);
  }
  void expect_block(BlockNumber number) {
    const auto block = read();
    ASSERT_TRUE(block) << number;
    ASSERT_TRUE(*block) << block->error().message();
    EXPECT_EQ((*block)->number, number);
    EXPECT_EQ((*block)->payload().front(), static_cast<std::byte>(number));
  }
  void expect_error(Errc code) {
    auto block = read();
    for (int more = 0; more < 10 && block && *block; ++more) block = read();
    ASSERT_TRUE(block);
    ASSERT_FALSE(*block);
    EXPECT_EQ(block->error().code, code);
    block = read();
    ASSERT_TRUE(block) << "errors are sticky";
    EXPECT_EQ(block->error().code, code);
  }

  boost::asio::io_context io;
  core::BufferPool buffers{buffer_bytes_for(kMinBlockBytes), 2};
  NegotiatedParameters agreed;
  std::vector<std::shared_ptr<test::MemoryPipe>> pipes;
  std::vector<std::unique_ptr<transport::Channel>> senders;
  std::optional<Flows> flows{std::in_place};
  std::optional<RecordReader> reader;
  std::optional<Result<Block>> outcome;
};

TEST_F(RecordReaderTest, GivesRecordsInOrderWhateverComesFirst) {
  put(2, 2);
  put(1, 1);
  EXPECT_FALSE(read());
  put(0, 0);
  settle();
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ((*outcome)->number, 0U);
  expect_block(1);
  expect_block(2);
}

TEST_F(RecordReaderTest, CountsNoBytesOfFlowsThatAreAhead) {
  put(1, 1);
  EXPECT_FALSE(read());
  const std::uint64_t heard = reader->received_bytes();
  for (BlockNumber number = 2; number < 9; ++number) put(1, number);
  put(2, 9);
  settle();
  const std::uint64_t ahead = reader->received_bytes();
  put(2, 10);
  settle();
  EXPECT_EQ(reader->received_bytes(), ahead) << "both wait for the flow that brings nothing";
  const auto missing = record(0);
  put(0, {missing.begin(), missing.end() - 1});
  settle();
  EXPECT_GT(reader->received_bytes(), heard) << "slow is not dead";
  const std::uint64_t amid = reader->received_bytes();
  put(1, 11);
  settle();
  EXPECT_EQ(reader->received_bytes(), amid);
}

TEST_F(RecordReaderTest, GivesRecordsInOrderInEveryInterleaving) {
  constexpr BlockNumber kBlocks = 300;
  std::mt19937 random(20261121);
  std::vector<std::vector<std::byte>> waiting(kFlows);
  for (BlockNumber number = 0; number < kBlocks; ++number) {
    const auto bytes = record(number, 1 + random() % 200);
    auto& flow = waiting[number < kFlows ? number : random() % kFlows];
    flow.insert(flow.end(), bytes.begin(), bytes.end());
  }
  // The bytes of each flow trickle in, cut anywhere, each at a speed of its own.
  BlockNumber next = 0;
  begin();
  for (int turn = 0; turn < 100'000 && next < kBlocks; ++turn) {
    const std::size_t flow = random() % kFlows;
    const std::size_t some = std::min<std::size_t>(waiting[flow].size(), random() % (20 + 100 * flow));
    const auto cut = waiting[flow].begin() + static_cast<std::ptrdiff_t>(some);
    if (some > 0) put(flow, {waiting[flow].begin(), cut});
    waiting[flow].erase(waiting[flow].begin(), cut);
    for (settle(); outcome; settle()) {
      ASSERT_TRUE(*outcome) << outcome->error().message();
      ASSERT_EQ((*outcome)->number, next++);
      begin();
    }
  }
  EXPECT_EQ(next, kBlocks);
}

/// Proves: record.no-memory-ahead
TEST_F(RecordReaderTest, HoldsOneBufferHoweverFarTheOthersAreAhead) {
  for (BlockNumber number = 1; number < 900; ++number) put(1 + number % 2, number);
  EXPECT_FALSE(read());
  EXPECT_EQ(buffers.in_use(), 1U);
  put(0, 0);
  settle();
  ASSERT_TRUE(outcome && *outcome);
  outcome.reset();
  for (BlockNumber number = 1; number < 900; ++number) expect_block(number);
}

/// Proves: record.opened-once
TEST_F(RecordReaderTest, PassesOverARecordThatWasRead) {
  put(0, 0);
  expect_block(0);
  put(1, 0);
  put(1, 1);
  expect_block(1);
}

TEST_F(RecordReaderTest, TakesARecordThatTwoFlowsShowOnce) {
  put(0, 1);
  put(1, 1);
  put(2, 0);
  expect_block(0);
  expect_block(1);
  EXPECT_FALSE(read()) << "neither again";
  put(0, 2);
  settle();
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ((*outcome)->number, 2U);
}

/// Proves: record.next-number-only
TEST_F(RecordReaderTest, RefusesANumberThatGoesBackOnItsFlow) {
  put(0, 0);
  put(0, 3);
  put(0, 2);
  put(1, 1);
  put(1, 2);
  expect_error(Errc::protocol_violated);
}

/// Proves: record.next-number-only
TEST_F(RecordReaderTest, RefusesANumberTooFarAhead) {
  put(0, kMaxAhead - 1);
  EXPECT_FALSE(read());
  put(1, kMaxAhead);
  settle();
  ASSERT_TRUE(outcome && !*outcome);
  EXPECT_EQ(outcome->error().code, Errc::protocol_violated);
}

TEST_F(RecordReaderTest, RefusesGarbageOnAnyFlow) {
  put(0, 0);
  put(2, std::vector<std::byte>(100, std::byte{0x5a}));
  expect_error(Errc::protocol_violated);
}

TEST_F(RecordReaderTest, GivesARecordThatCameTogetherWithGarbage) {
  auto bytes = record(0);
  bytes.resize(bytes.size() + 100, std::byte{0x5a});
  put(0, bytes);
  expect_block(0);
  expect_error(Errc::protocol_violated);
}

TEST_F(RecordReaderTest, ReadsTheRestWhenOneFlowHasEnded) {
  put(0, 0);
  pipes[1]->cut = true;
  expect_block(0);
  EXPECT_FALSE(read());
  put(2, 1);
  settle();
  ASSERT_TRUE(outcome && *outcome) << "a goodbye, for instance";
  EXPECT_EQ((*outcome)->number, 1U);
}

TEST_F(RecordReaderTest, IsBrokenWhenNoFlowCanBringTheNext) {
  put(0, 1);
  put(2, 2);
  pipes[1]->cut = true;
  expect_error(Errc::connection_broken);
}

TEST_F(RecordReaderTest, IsBrokenWhenAllFlowsHaveEnded) {
  for (const auto& pipe : pipes) pipe->cut = true;
  expect_error(Errc::connection_broken);
}

TEST_F(RecordReaderTest, IsBrokenInTheMiddleOfABody) {
  auto cut = record(0);
  cut.pop_back();
  put(0, cut);
  pipes[0]->cut = true;
  expect_error(Errc::connection_broken);
}

TEST_F(RecordReaderTest, GivesUpWhenOneFlowHasEndedAndTheOthersBringNothingSlow) {
  pipes[1]->cut = true;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(read());
  settle(2 * kFlowGrace);
  ASSERT_TRUE(outcome && !*outcome);
  EXPECT_EQ(outcome->error().code, Errc::connection_broken);
  EXPECT_GE(std::chrono::steady_clock::now() - start, kFlowGrace);
}

/// Flow 1 is replaced by another; what its channel still has, and what comes again.
class ReplacedFlowTest : public RecordReaderTest {
 protected:
  void replace() {
    Flow& old = *std::next(flows->begin());
    old.replaced = true;
    test::ChannelPair pair(io);
    pipes.push_back(pair.from_connector);
    senders.push_back(std::move(pair.connector));
    reader->on_joined(flows->add(std::move(pair.listener), {1, 1}), &old);
  }
  ReplacedFlowTest() {
    // Of the three flows the fixture has made all are called flow 0.
    flows.reset();
    reader.reset();
    flows.emplace();
    pipes.clear();
    senders.clear();
    for (const std::uint8_t number : std::array<std::uint8_t, 2>{0, 1}) {
      test::ChannelPair pair(io);
      pipes.push_back(pair.from_connector);
      senders.push_back(std::move(pair.connector));
      flows->add(std::move(pair.listener), {number, 0});
    }
    reader.emplace(io, *flows, agreed, std::nullopt);
    reader->on_flow_ended([this] { ++ended; });
  }
  static constexpr std::size_t kNew = 2;
  int ended = 0;
};

TEST_F(ReplacedFlowTest, IsReadToTheEndOfWhatHadArrived) {
  put(0, 2);
  put(1, 0);
  put(1, 1);
  EXPECT_TRUE(read());
  replace();
  put(kNew, 3);
  expect_block(1);
  expect_block(2);
  expect_block(3);
  EXPECT_FALSE(read());
  EXPECT_EQ(flows->size(), 2U) << "then it is gone";
}

/// A record may come directly behind the answer to a join.
TEST_F(ReplacedFlowTest, IsReadToTheEndAlsoWhereItHadItsOnlyRecordBeforeItWasAFlow) {
  test::ChannelPair pair(io);
  pipes.push_back(pair.from_connector);
  pair.from_listener->acknowledged = 0;
  senders.push_back(std::move(pair.connector));
  put(kNew, 1);
  test::run_ready(io);
  EXPECT_FALSE(read());
  Flow& early = flows->add(std::move(pair.listener), {2, 1}, 0);
  reader->on_joined(early, nullptr);
  settle();
  early.replaced = true;
  test::ChannelPair next(io);
  pipes.push_back(next.from_connector);
  senders.push_back(std::move(next.connector));
  reader->on_joined(flows->add(std::move(next.listener), {2, 2}), &early);
  put(0, 0);
  settle();
  ASSERT_TRUE(outcome && *outcome);
  expect_block(1);
}

TEST_F(ReplacedFlowTest, IsGivenUpInTheMiddleOfARecordThatComesAgain) {
  auto cut = record(0);
  cut.pop_back();
  put(1, cut);
  EXPECT_FALSE(read());
  replace();
  put(kNew, 0);
  put(kNew, 1);
  settle();
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ((*outcome)->number, 0U);
  expect_block(1);
  EXPECT_EQ(flows->size(), 2U);
}

TEST_F(ReplacedFlowTest, MayHaveBroughtMoreThanItsSenderKnows) {
  for (BlockNumber number = 0; number < 4; ++number) put(1, number);
  expect_block(0);
  expect_block(1);
  expect_block(2);
  replace();
  for (BlockNumber number = 1; number < 6; ++number) put(kNew, number);
  expect_block(3);
  expect_block(4);
  expect_block(5);
  EXPECT_FALSE(read());
}

/// The handler of the old one's end may be queued behind the first record of the new one, which takes the old one out.
TEST_F(ReplacedFlowTest, IsTakenOutOnceThoughItEndsAtTheSameMoment) {
  put(1, 0);
  expect_block(0);
  EXPECT_FALSE(read());
  replace();
  settle();
  put(kNew, 1);
  pipes[1]->cut = true;
  pipes[kNew]->wake_reader();
  pipes[1]->wake_reader();
  settle();
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ(flows->size(), 2U);
  put(kNew, 2);
  expect_block(2);
}

TEST_F(ReplacedFlowTest, MayEndWithoutHarm) {
  put(1, 0);
  expect_block(0);
  put(0, 3);
  EXPECT_FALSE(read());
  pipes[1]->cut = true;
  pipes[1]->wake_reader();
  settle();
  EXPECT_EQ(ended, 1);
  replace();
  put(kNew, 1);
  settle();
  ASSERT_TRUE(outcome && *outcome);
  put(kNew, 2);
  expect_block(2);
  expect_block(3);
}

TEST_F(RecordReaderTest, CancelsItsTimerWhenItStops) {
  EXPECT_FALSE(read());
  put(1, 1);
  settle();
  reader->stop();
  flows->close({});
  for (const auto& pipe : pipes) pipe->cut = true;
  for (const auto& pipe : pipes) pipe->wake_reader();
  const auto start = std::chrono::steady_clock::now();
  io.restart();
  io.run();
  EXPECT_LT(std::chrono::steady_clock::now() - start, kFlowGrace);
  EXPECT_FALSE(outcome);
  const auto after = read();
  ASSERT_TRUE(after && !*after);
  EXPECT_EQ(after->error().code, Errc::connection_broken);
}

TEST_F(RecordReaderTest, KeepsTheGraceWhileNothingIsReadSlow) {
  put(0, 0);
  pipes[1]->cut = true;
  expect_block(0);
  test::run_for(io, kFlowGrace + 500ms);
  put(0, 1);
  expect_block(1);
}

}  // namespace
}  // namespace udtcat::session
