// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/mux_stream.hpp"

#include <string>

#include <gtest/gtest.h>

#include "lib/connection/fake_host.hpp"
#include "lib/core/program_exit.hpp"
#include "support/bytes.hpp"
#include "support/run_until.hpp"
#include "support/scripted_stream.hpp"

namespace udtcat::connection {
namespace {

constexpr std::uint64_t kWindow = 1000;

class MuxStreamTest : public ::testing::Test {
 protected:
  void attach() {
    stream.attach(std::make_unique<test::ScriptedStream>(io, script));
    settle();
  }
  void settle() { test::run_ready(io); }
  std::size_t fill(std::size_t room_bytes) {
    room.assign(room_bytes, std::byte{});
    return stream.fill(room);
  }
  Status data(std::string_view text) {
    const std::vector<std::byte> all = test::bytes_of(text);
    const auto unseen = stream.unseen(all);
    if (unseen.empty()) return {};
    std::vector<std::byte> copy(unseen.begin(), unseen.end());
    const std::span<const std::byte> rest(copy);
    auto taken = stream.on_data({core::Buffer(), std::move(copy), rest});
    settle();
    return taken;
  }
  Status early(std::uint64_t offset, std::string_view text) {
    auto taken = stream.on_early({offset, test::bytes_of(text)});
    settle();
    return taken;
  }
  [[nodiscard]] Errc error() const { return host.outcome->error->code; }

  boost::asio::io_context io;
  FakeHost host;
  WindowBudget budget{kWindowBudgetBytes};
  std::shared_ptr<test::Script> script = std::make_shared<test::Script>();
  MuxStream stream{0, host, kWindow, kWindow, budget};
  std::vector<std::byte> room;
};

TEST_F(MuxStreamTest, PutsDataAndEndIntoOneBlock) {
  script->to_send = "hello\n";
  script->source_ended = true;
  attach();
  EXPECT_EQ(fill(100), kFrameHeaderBytes + 6 + kFrameHeaderBytes + 8);
  EXPECT_FALSE(stream.can_fill());
}

TEST_F(MuxStreamTest, GathersSeveralReadsIntoOneFrame) {
  script->to_send = std::string(500, 'x');
  attach();
  fill(600);
  FrameReader frames(room);
  EXPECT_EQ(std::get<Data>((*frames.next())->body).bytes.size(), 500U);
}

TEST_F(MuxStreamTest, SendsNoFurtherThanItsCredit) {
  script->to_send = std::string(5000, 'x');
  attach();
  EXPECT_EQ(fill(4000), kFrameHeaderBytes + kWindow);
  EXPECT_FALSE(stream.can_fill());
  host.ready.clear();
  ASSERT_TRUE(stream.on_credit(kWindow + 10));
  EXPECT_EQ(host.ready.size(), 1U);
  EXPECT_EQ(fill(4000), kFrameHeaderBytes + 10);
}

TEST_F(MuxStreamTest, IsStarvedWhileItsSourceMayHaveMoreThanItsCredit) {
  script->to_send = std::string(kWindow + 10, 'x');
  attach();
  EXPECT_EQ(host.starved_streams, 0);
  fill(4000);
  EXPECT_EQ(host.starved_streams, 1);
  ASSERT_TRUE(stream.on_credit(kWindow + 20));
  EXPECT_EQ(host.starved_streams, 0);
  fill(4000);
  EXPECT_EQ(host.starved_streams, 0) << "the source has no more";
}

TEST_F(MuxStreamTest, IsNeitherStarvedNorConsumingOnceItIsOver) {
  script->to_send = std::string(kWindow + 10, 'x');
  script->consumer_stalled = true;
  attach();
  fill(4000);
  ASSERT_TRUE(data("for the consumer"));
  EXPECT_EQ(host.starved_streams, 1);
  EXPECT_EQ(host.consumers, 1);
  stream.fail({Errc::connection_broken, "test", "the end"});
  EXPECT_EQ(host.starved_streams, 0);
  EXPECT_EQ(host.consumers, 0);
}

TEST_F(MuxStreamTest, AwaitsTheReceiptOnceAllIsSaidAndConsumesUntilAllIsTaken) {
  script->to_send = "all";
  script->source_ended = true;
  attach();
  EXPECT_FALSE(stream.awaits_receipt());
  fill(100);
  EXPECT_TRUE(stream.awaits_receipt());
  ASSERT_TRUE(stream.on_receipt(3));
  EXPECT_FALSE(stream.awaits_receipt());
  script->consumer_stalled = true;
  ASSERT_TRUE(data("theirs"));
  EXPECT_EQ(host.consumers, 1);
  ASSERT_TRUE(stream.on_fin(6));
  script->stall(false);
  settle();
  EXPECT_EQ(host.consumers, 0);
}

TEST_F(MuxStreamTest, AsksAgainOnlyWhenTheSourceHasSomething) {
  attach();
  EXPECT_EQ(fill(100), 0U);
  EXPECT_FALSE(stream.can_fill());
  host.ready.clear();
  script->say("now");
  settle();
  EXPECT_EQ(host.ready.size(), 1U);
  EXPECT_TRUE(stream.can_fill());
}

TEST_F(MuxStreamTest, GathersWhatAPeerCutsIntoCrumbs) {
  script->consumer_stalled = true;
  attach();
  std::string all;
  for (int i = 0; i < 500; ++i) {
    const std::string crumb(1, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(data(crumb));
    all += crumb;
  }
  std::size_t writes = 0;
  for (; script->received.size() < all.size() && writes < 100; ++writes) {
    script->stall(false);
    script->consumer_stalled = true;
    settle();
  }
  EXPECT_EQ(script->received, all);
  EXPECT_LT(writes, 5U) << "two or three pieces, not five hundred";
}

TEST_F(MuxStreamTest, GivesAnEarlyCopyOfTheNextBytesToTheConsumerAndTheSameBytesNotAgain) {
  attach();
  ASSERT_TRUE(data("one "));
  ASSERT_TRUE(early(4, "two "));
  EXPECT_EQ(script->received, "one two ");
  ASSERT_TRUE(data("two three"));
  EXPECT_EQ(script->received, "one two three");
  EXPECT_TRUE(stream.on_fin(13));
}

TEST_F(MuxStreamTest, PassesOverAnEarlyCopyOfBytesThatAreNotTheNext) {
  attach();
  ASSERT_TRUE(early(4, "two "));
  ASSERT_TRUE(data("one two "));
  ASSERT_TRUE(early(4, "two "));
  EXPECT_EQ(script->received, "one two ");
}

TEST_F(MuxStreamTest, TakesDataThatBringsAnEarlyCopyInPieces) {
  attach();
  ASSERT_TRUE(early(0, "abcdef"));
  for (const char* piece : {"ab", "cde", "fgh"}) ASSERT_TRUE(data(piece));
  EXPECT_EQ(script->received, "abcdefgh");
}

TEST_F(MuxStreamTest, RefusesAnEarlyCopyBeyondItsCredit) {
  script->consumer_stalled = true;
  attach();
  EXPECT_FALSE(early(0, std::string(kWindow + 1, 'x')));
}

TEST_F(MuxStreamTest, RefusesAnEndBeforeTheDataThatAnEarlyCopyPromised) {
  attach();
  ASSERT_TRUE(early(0, "four"));
  EXPECT_FALSE(stream.on_fin(4));
}

TEST_F(MuxStreamTest, RefusesDataBeyondItsCredit) {
  script->consumer_stalled = true;
  attach();
  ASSERT_TRUE(data(std::string(kWindow, 'x')));
  EXPECT_FALSE(data("y"));
}

TEST_F(MuxStreamTest, RefusesDataAndEndAfterTheEnd) {
  attach();
  ASSERT_TRUE(stream.on_fin(0));
  EXPECT_FALSE(data("late"));
  EXPECT_FALSE(stream.on_fin(0));
}

/// Proves: stream.fin-total
TEST_F(MuxStreamTest, RefusesAnEndThatCountsOtherBytes) {
  attach();
  ASSERT_TRUE(data("four"));
  EXPECT_FALSE(stream.on_fin(5));
}

/// Proves: stream.receipt-total
TEST_F(MuxStreamTest, RefusesAReceiptItDidNotWaitFor) {
  attach();
  EXPECT_FALSE(stream.on_receipt(0));
  script->end_source();
  settle();
  fill(100);
  EXPECT_FALSE(stream.on_receipt(1)) << "over another number of bytes";
  EXPECT_TRUE(stream.on_receipt(0));
  EXPECT_FALSE(stream.on_receipt(0)) << "a second one";
}

TEST_F(MuxStreamTest, GivesItsReceiptOnceTheConsumerHasAll) {
  script->consumer_stalled = true;
  attach();
  ASSERT_TRUE(data("last words"));
  ASSERT_TRUE(stream.on_fin(10));
  settle();
  EXPECT_EQ(host.last_sent<Receipt>(), nullptr);
  script->stall(false);
  settle();
  ASSERT_NE(host.last_sent<Receipt>(), nullptr);
  EXPECT_EQ(host.last_sent<Receipt>()->total_bytes, 10U);
}

TEST_F(MuxStreamTest, TellsItsSourceOfTheReceipt) {
  script->source_ended = true;
  attach();
  fill(100);
  EXPECT_FALSE(script->receipted);
  ASSERT_TRUE(stream.on_receipt(0));
  EXPECT_TRUE(script->receipted);
}

TEST_F(MuxStreamTest, IsOverWhenBothDirectionsAreReceipted) {
  script->source_ended = true;
  attach();
  fill(100);
  ASSERT_TRUE(stream.on_fin(0));
  settle();
  EXPECT_FALSE(host.outcome);
  ASSERT_TRUE(stream.on_receipt(0));
  ASSERT_TRUE(host.outcome);
  EXPECT_FALSE(host.outcome->error);
}

TEST_F(MuxStreamTest, ResetsBothWaysWhenTheConsumerFails) {
  script->write_error = std::make_error_code(std::errc::broken_pipe);
  attach();
  ASSERT_TRUE(data("unwanted"));
  EXPECT_EQ(error(), Errc::local_write_failed);
  ASSERT_NE(host.last_sent<Reset>(), nullptr);
  EXPECT_EQ(host.last_sent<Reset>()->cause, ResetCause::write_failed);
  EXPECT_EQ(host.last_sent<Reset>()->errno_value, static_cast<std::uint32_t>(EPIPE));
  EXPECT_TRUE(script->aborted);
}

TEST_F(MuxStreamTest, SendsWhatItsCommandWroteBeforeItFailed) {
  script->to_send = "part";
  script->read_error = core::program_exit(1, 0);
  attach();
  EXPECT_EQ(fill(100), kFrameHeaderBytes + 4);
  EXPECT_FALSE(host.outcome);
  ASSERT_TRUE(stream.can_fill());
  EXPECT_EQ(fill(100), 0U);
  ASSERT_NE(host.last_sent<Reset>(), nullptr);
  EXPECT_EQ(error(), Errc::local_read_failed);
}

TEST_F(MuxStreamTest, SendsNothingThatItsSocketGaveInOneReadWithItsFailure) {
  script->to_send = "part";
  script->read_error = std::make_error_code(std::errc::connection_reset);
  attach();
  EXPECT_EQ(fill(100), 0U);
  EXPECT_EQ(error(), Errc::local_read_failed);
}

TEST_F(MuxStreamTest, GivesTheConsumerWhatACommandWroteBeforeItFailed) {
  script->consumer_stalled = true;
  attach();
  ASSERT_TRUE(data("before "));
  ASSERT_TRUE(data("it failed"));
  stream.on_reset({ResetCause::read_failed, 0, "command: ended with status 1"});
  settle();
  EXPECT_FALSE(host.outcome) << "the consumer has not taken it";
  EXPECT_FALSE(stream.can_fill());
  script->stall(false);
  settle();
  EXPECT_EQ(script->received, "before it failed");
  ASSERT_TRUE(host.outcome);
  EXPECT_EQ(error(), Errc::remote_read_failed);
  EXPECT_EQ(host.last_sent<Receipt>(), nullptr);
}

TEST_F(MuxStreamTest, DropsWhatCameBeforeASocketThereFailed) {
  script->consumer_stalled = true;
  attach();
  ASSERT_TRUE(data("before"));
  stream.on_reset({ResetCause::read_failed, ECONNRESET, "db:5432: Connection reset by peer"});
  EXPECT_TRUE(host.outcome);
}

TEST_F(MuxStreamTest, GivesAConsumerThatComesLaterWhatACommandWroteBeforeItFailed) {
  ASSERT_TRUE(data("hello"));
  stream.on_reset({ResetCause::read_failed, 0, "command: ended with status 1"});
  EXPECT_FALSE(host.outcome);
  attach();
  EXPECT_EQ(script->received, "hello");
  ASSERT_TRUE(host.outcome);
  EXPECT_EQ(error(), Errc::remote_read_failed);
}

TEST_F(MuxStreamTest, NamesWhatHappenedAtTheOtherEnd) {
  attach();
  stream.on_reset({ResetCause::connect_failed, 111, "connect tcp db:5432: Connection refused"});
  EXPECT_EQ(error(), Errc::remote_connect_failed);
  EXPECT_EQ(host.outcome->error->message(), "remote connect failed: connect tcp db:5432: Connection refused");
  EXPECT_TRUE(host.sent.empty()) << "a reset is not answered";
}

TEST_F(MuxStreamTest, SaysOfACommandThereThatItIsThere) {
  attach();
  stream.on_reset({ResetCause::write_failed, 0, "command: ended with status 1"});
  EXPECT_EQ(error(), Errc::remote_write_failed);
  EXPECT_EQ(host.outcome->error->message(), "the command there ended with status 1");
}

TEST_F(MuxStreamTest, EndsOnce) {
  attach();
  stream.fail({Errc::peer_lost, "peer", "lost"});
  host.outcome.reset();
  stream.on_reset({ResetCause::refused, 0, ""});
  stream.reset(ResetCause::interrupted, {Errc::interrupted, "x", "y"});
  EXPECT_FALSE(host.outcome);
}

}  // namespace
}  // namespace udtcat::connection
