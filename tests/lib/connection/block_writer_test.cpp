// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/block_writer.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "lib/connection/fake_host.hpp"
#include "support/bytes.hpp"
#include "support/scripted_stream.hpp"

namespace udtcat::connection {
namespace {

constexpr std::uint64_t kBlockWindow = 1 << 24;
constexpr std::size_t kMostWordsBytes = 1000;

class BlockWriterTest : public ::testing::Test {
 protected:
  struct Speaker {
    std::shared_ptr<test::Script> script = std::make_shared<test::Script>();
    std::unique_ptr<MuxStream> stream;
  };

  Speaker& speaker(std::string text) {
    auto& made = *speakers.emplace_back(std::make_unique<Speaker>());
    made.script->to_send = std::move(text);
    const auto id = static_cast<StreamId>(2 * (speakers.size() - 1));
    made.stream = std::make_unique<MuxStream>(id, host, kBlockWindow, kBlockWindow, budget);
    made.stream->attach(std::make_unique<test::ScriptedStream>(io, made.script));
    writer.add_ready(*made.stream);
    return made;
  }
  /// One that has had nothing to say for a while.
  void say(Speaker& who, const std::string& text) {
    who.script->say(text);
    io.restart();
    io.poll();
    writer.add_ready(*who.stream);
  }
  /// The next block as (stream, bytes of data) and a note of each control frame.
  std::vector<std::string> compose(BlockWriter::Content content = BlockWriter::Content::all) {
    std::vector<std::byte> block(block_bytes_);
    const auto composed = writer.compose(block, content, kMostWordsBytes);
    copies.assign(composed.interactive.begin(), composed.interactive.end());
    std::vector<std::string> seen;
    FrameReader frames{std::span<const std::byte>(block).first(composed.payload_bytes)};
    for (auto frame = frames.next(); frame && *frame; frame = frames.next()) {
      const auto* data = std::get_if<Data>(&(*frame)->body);
      seen.push_back(std::to_string((*frame)->stream) + (data ? ":" + std::to_string(data->bytes.size()) : " control"));
    }
    return seen;
  }
  /// Each copy as stream@offset:text.
  std::vector<std::string> words() {
    std::vector<std::string> seen;
    FrameReader frames(copies);
    for (auto frame = frames.next(); frame && *frame; frame = frames.next()) {
      const auto& early = std::get<Early>((*frame)->body);
      seen.push_back(std::to_string((*frame)->stream) + "@" + std::to_string(early.offset) + ":" +
                     test::text_of(early.bytes));
    }
    return seen;
  }
  using Seen = std::vector<std::string>;
  const std::string whole_block = std::to_string(256 * 1024 - 24);

  std::size_t block_bytes_ = 256 * 1024;
  boost::asio::io_context io;
  FakeHost host;
  WindowBudget budget{kWindowBudgetBytes};
  BlockWriter writer;
  std::vector<std::byte> copies;  // of the last block
  std::vector<std::unique_ptr<Speaker>> speakers;
};

TEST_F(BlockWriterTest, HasNothingToSayWhenNobodySpeaks) {
  EXPECT_FALSE(writer.has_control());
  EXPECT_FALSE(writer.has_data());
  EXPECT_EQ(compose(), Seen{});
}

TEST_F(BlockWriterTest, GathersManySmallSpeakersInOneBlock) {
  for (int i = 0; i < 5; ++i) speaker("hello");
  EXPECT_EQ(compose(), (Seen{"0:5", "2:5", "4:5", "6:5", "8:5"}));
  EXPECT_FALSE(writer.has_data());
}

TEST_F(BlockWriterTest, FillsABlockForOneBigSpeaker) {
  speaker(std::string(1 << 20, 'x'));
  EXPECT_EQ(compose(), Seen{"0:" + whole_block});
  EXPECT_TRUE(writer.has_data());
}

TEST_F(BlockWriterTest, LetsBigSpeakersTakeTurnsOfABlockEach) {
  for (int i = 0; i < 2; ++i) speaker(std::string(1 << 20, 'x'));
  for (const char* stream : {"0:", "2:", "0:", "2:"}) EXPECT_EQ(compose(), Seen{stream + whole_block});
}

TEST_F(BlockWriterTest, SharesEvenlyAmongBigSpeakersHoweverSmallBlocksAre) {
  for (const std::size_t block_bytes : {1500UL, 4096UL, 20'000UL, 65'536UL}) {
    SCOPED_TRACE(block_bytes);
    block_bytes_ = block_bytes;
    const std::size_t first = speakers.size();
    for (int i = 0; i < 10; ++i) speaker(std::string(1 << 20, 'x'));
    for (int i = 0; i < 100; ++i) compose();
    for (std::size_t i = first; i < speakers.size(); ++i)
      EXPECT_NEAR(static_cast<double>(speakers[i]->stream->sent_bytes()), 10.0 * static_cast<double>(block_bytes),
                  static_cast<double>(block_bytes));
    for (std::size_t i = first; i < speakers.size(); ++i) writer.forget(*speakers[i]->stream);
  }
}

TEST_F(BlockWriterTest, LetsWhoHadNothingToSayGoFirst) {
  for (int i = 0; i < 2; ++i) speaker(std::string(1 << 20, 'x'));
  for (int i = 0; i < 4; ++i) compose();
  speaker("short");
  EXPECT_EQ(compose().front(), "4:5");
}

TEST_F(BlockWriterTest, LetsEachWordGoFirstBesideBulkHoweverSmallBlocksAre) {
  block_bytes_ = 1500;
  for (int i = 0; i < 3; ++i) speaker(std::string(1 << 20, 'x'));
  for (int i = 0; i < 9; ++i) compose();
  Speaker& asker = speaker("word0");
  for (int i = 1; i < 20; ++i) {
    EXPECT_EQ(compose().front(), "6:5");
    compose();
    say(asker, "word" + std::to_string(i % 10));
  }
}

TEST_F(BlockWriterTest, LetsAStreamOfWordsGoFirstAsLongAsItHasNoMoreThanItsShare) {
  block_bytes_ = 1500;
  for (int i = 0; i < 8; ++i) speaker(std::string(1 << 20, 'x'));
  Speaker& asker = speaker("");
  for (int i = 0; i < 8; ++i) compose();
  for (int i = 0; i < 100; ++i) {
    say(asker, std::string(300, 'x'));
    EXPECT_EQ(compose().front(), "16:300") << "word " << i;
    compose();
  }
}

TEST_F(BlockWriterTest, LetsNoHaltingSpeakerHaveMoreThanItsShare) {
  speaker(std::string(8 << 20, 'x'));
  Speaker& halting = speaker("");
  for (int i = 0; i < 40; ++i) {
    // Most of a block each time, and nothing more to say for the moment.
    say(halting, std::string(200 * 1024, 'x'));
    compose();
  }
  EXPECT_LE(halting.stream->sent_bytes(), speakers[0]->stream->sent_bytes() + 2 * block_bytes_);
}

TEST_F(BlockWriterTest, GivesNoCreditForTheTimeOfSilence) {
  for (int i = 0; i < 2; ++i) speaker(std::string(4 << 20, 'x'));
  for (int i = 0; i < 8; ++i) compose();
  speaker(std::string(4 << 20, 'x'));
  for (int i = 0; i < 12; ++i) compose();
  for (const auto& each : speakers) EXPECT_LE(each->stream->sent_bytes(), 9 * block_bytes_);
  EXPECT_LE(speakers[2]->stream->sent_bytes(), 5 * block_bytes_);
}

TEST_F(BlockWriterTest, CopiesWhatShortSpeakersSaidAndWhereInTheirStreamsItIs) {
  speaker(std::string(1 << 21, 'x'));
  Speaker& asker = speaker("a question");
  compose();
  EXPECT_EQ(words(), Seen{}) << "the turn of a stream that says much";
  compose();
  EXPECT_EQ(words(), Seen{"2@0:a question"});
  say(asker, "another");
  compose();
  EXPECT_EQ(words(), Seen{"2@10:another"});
  compose();
  EXPECT_EQ(words(), Seen{}) << "of what was said before";
}

TEST_F(BlockWriterTest, CopiesTheOpeningsOfStreamsAndNoOtherControlFrame) {
  speaker("first word");
  writer.queue({0, CreditGrant{1}});
  writer.queue({0, Open{}});
  compose();
  FrameReader early(copies);
  EXPECT_TRUE(std::holds_alternative<Open>((*early.next())->body));
  EXPECT_TRUE(std::holds_alternative<Early>((*early.next())->body));
  EXPECT_FALSE(*early.next());
}

/// Proves: stream.copies-where-waiting
TEST_F(BlockWriterTest, CopiesNoMoreWordsThanFit) {
  for (int i = 0; i < 3; ++i) speaker(std::string(400, 'x'));
  compose();
  EXPECT_EQ(words().size(), 2U);
}

TEST_F(BlockWriterTest, CopiesNoWordsWhereTheyAreNotWanted) {
  speaker("a question");
  std::vector<std::byte> block(1000);
  const auto composed = writer.compose(block, BlockWriter::Content::all, 0);
  EXPECT_GT(composed.payload_bytes, 0U);
  EXPECT_TRUE(composed.interactive.empty());
}

TEST_F(BlockWriterTest, PutsControlFramesFirst) {
  speaker("data");
  writer.queue({6, CreditGrant{1}});
  EXPECT_EQ(compose(), (Seen{"6 control", "0:4"}));
}

TEST_F(BlockWriterTest, HoldsDataBackWhileAnOpeningMayNotHaveGone) {
  speaker("data");
  block_bytes_ = kMinBlockBytes;
  for (int i = 0; i < 20; ++i) writer.queue({2, Reset{ResetCause::refused, 0, std::string(300, 'x')}});
  writer.queue({0, Open{}});
  std::vector<std::string> seen;
  while (writer.has_control()) {
    const auto block = compose();
    seen.insert(seen.end(), block.begin(), block.end());
  }
  EXPECT_EQ(std::ranges::find(seen, "0:4") - std::ranges::find(seen, "0 control"), 1);
}

TEST_F(BlockWriterTest, KnowsWhetherSomebodyMayHaveLittleToSay) {
  block_bytes_ = kMinBlockBytes;
  speaker(std::string(1 << 20, 'x'));
  EXPECT_TRUE(writer.has_interactive()) << "it has said nothing yet";
  compose();
  EXPECT_FALSE(writer.has_interactive());
  writer.queue({2, CreditGrant{1}});
  EXPECT_FALSE(writer.has_interactive());
  writer.queue({2, Open{}});
  EXPECT_TRUE(writer.has_interactive());
  compose();
  EXPECT_FALSE(writer.has_interactive());
  speaker("a word");
  EXPECT_TRUE(writer.has_interactive());
}

TEST_F(BlockWriterTest, PutsNoBulkBehindWordsWhereOnlyTheyAreAskedFor) {
  speaker(std::string(1 << 20, 'x'));
  compose();
  speaker("a word");
  speaker("another");
  EXPECT_EQ(compose(BlockWriter::Content::interactive), (Seen{"2:6", "4:7"}));
  EXPECT_EQ(compose(BlockWriter::Content::interactive), Seen{});
  EXPECT_EQ(compose(), Seen{"0:" + whole_block});
}

TEST_F(BlockWriterTest, HoldsDataBackWhenAsked) {
  speaker("data");
  writer.queue({6, CreditGrant{1}});
  EXPECT_EQ(compose(BlockWriter::Content::control), Seen{"6 control"});
  EXPECT_EQ(compose(), Seen{"0:4"});
}

TEST_F(BlockWriterTest, NeverSplitsAControlFrame) {
  for (int i = 0; i < 2000; ++i) writer.queue({0, Reset{ResetCause::refused, 0, std::string(200, 'x')}});
  std::size_t frames = 0;
  while (writer.has_control()) frames += compose().size();
  EXPECT_EQ(frames, 2000U);
}

TEST_F(BlockWriterTest, ForgetsAStreamThatIsOver) {
  Speaker& gone = speaker("data");
  writer.forget(*gone.stream);
  EXPECT_EQ(compose(), Seen{});
}

}  // namespace
}  // namespace udtcat::connection
