// SPDX-License-Identifier: Apache-2.0
#include "gridftp/xio/link.hpp"

#include <cstring>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "gridftp/xio/waiting.hpp"
#include "support/run_until.hpp"

namespace udtcat::gridftp::xio {
namespace {

constexpr auto kNow = std::chrono::milliseconds(0);

/// The stream's side is the test's own: no thread, no session.
class LinkTest : public testing::Test {
 protected:
  void turn() { test::run_ready(*io_); }
  /// The bytes that the stream takes at once.
  [[nodiscard]] std::string take(std::size_t room) {
    std::string into(room, '\0');
    const auto read = link_->source_read(std::as_writable_bytes(std::span(into)));
    into.resize(read.state == LocalStream::ReadState::data ? read.bytes : 0);
    state_ = read.state;
    return into;
  }
  void offer(const std::string& text) {
    offered_ = text;
    link_->sink_write(view_of(offered_), [this](std::error_code error, std::size_t bytes) {
      EXPECT_FALSE(error);
      taken_ = bytes;
    });
  }
  void finish() {
    link_->sink_finish([this](std::error_code error) { finished_ = error; });
    turn();
  }
  OperationState start_read(std::string& into, std::size_t at_least) {
    return link_->start_read({std::as_writable_bytes(std::span(into))}, at_least);
  }

  const std::shared_ptr<boost::asio::io_context> io_ = std::make_shared<boost::asio::io_context>(1);
  const std::shared_ptr<XioLink> link_ = *XioLink::make(io_);
  LocalStream::ReadState state_{};
  std::string offered_;
  std::size_t taken_ = 0;
  std::optional<std::error_code> finished_;
};

TEST_F(LinkTest, OpensWhenTheStreamStands) {
  EXPECT_FALSE(link_->open_progress().done);
  link_->on_open({}, nullptr);
  EXPECT_TRUE(raised(link_->read_event(), kNow));
  EXPECT_TRUE(link_->open_progress().done);
}

TEST_F(LinkTest, DoesNotOpenWithoutAStream) {
  EXPECT_FALSE(link_->open_progress().done);
  link_->on_over(Error{Errc::cannot_reach, "reach", "nobody"});
  EXPECT_TRUE(raised(link_->read_event(), kNow));
  const OperationState progress = link_->open_progress();
  EXPECT_TRUE(progress.done);
  EXPECT_EQ(progress.error->code, Errc::cannot_reach);
}

TEST_F(LinkTest, FinishesAWriteAtOnceWhereThereIsRoom) {
  const OperationState written = link_->start_write({view_of("head"), view_of("er"), {}, view_of("body")});
  EXPECT_TRUE(written.done);
  EXPECT_EQ(written.bytes, 10U);
  EXPECT_EQ(take(6), "header");
  EXPECT_EQ(take(100), "body");
  EXPECT_EQ(take(100), "");
  EXPECT_EQ(state_, LocalStream::ReadState::would_block);
}

TEST_F(LinkTest, GoesOnWithALargeWriteWhenHalfOfTheRingIsFree) {
  const std::string large(2 * kRingBytes + 5, 'x');
  EXPECT_FALSE(link_->start_write({view_of(large)}).done);
  std::size_t got = take(kRingBytes / 2 - 1).size();
  EXPECT_FALSE(raised(link_->write_event(), kNow));
  got += take(1).size();
  EXPECT_TRUE(raised(link_->write_event(), kNow));
  EXPECT_FALSE(link_->write_progress().done);
  while (got < large.size()) {
    got += take(kRingBytes).size();
    if (raised(link_->write_event(), kNow)) std::ignore = link_->write_progress();
  }
  EXPECT_EQ(got, large.size());
  EXPECT_TRUE(link_->start_write({view_of("more")}).done);
}

TEST_F(LinkTest, TellsTheSourceOfBytesThatComeLater) {
  bool told = false;
  link_->source_wait([&] { told = true; });
  turn();
  EXPECT_FALSE(told);
  EXPECT_TRUE(link_->start_write({view_of("x")}).done);
  EXPECT_FALSE(told) << "never on the writer's thread";
  turn();
  EXPECT_TRUE(told);
}

TEST_F(LinkTest, ReadsAtOnceWhatIsThere) {
  offer("seventeen bytes..");
  std::string into(100, '\0');
  const OperationState progress = start_read(into, 17);
  EXPECT_TRUE(progress.done);
  EXPECT_EQ(into.substr(0, progress.bytes), "seventeen bytes..");
  EXPECT_EQ(taken_, 0U);
  turn();
  EXPECT_EQ(taken_, 17U);
}

TEST_F(LinkTest, KeepsABlockUntilAllOfItIsRead) {
  offer("abcdef");
  std::string into(4, '\0');
  EXPECT_TRUE(start_read(into, 4).done);
  turn();
  EXPECT_EQ(taken_, 0U);
  EXPECT_EQ(start_read(into, 1).bytes, 2U);
  turn();
  EXPECT_EQ(taken_, 6U);
  EXPECT_EQ(into.substr(0, 2), "ef");
}

TEST_F(LinkTest, WakesAReadOnceItHasWhatItWaitsFor) {
  std::string into(10, '\0');
  EXPECT_FALSE(start_read(into, 8).done);
  offer("12345");
  turn();
  EXPECT_EQ(taken_, 5U);
  EXPECT_FALSE(raised(link_->read_event(), kNow));
  offer("678");
  EXPECT_TRUE(raised(link_->read_event(), kNow));
  EXPECT_EQ(link_->read_progress().bytes, 8U);
  EXPECT_EQ(into.substr(0, 8), "12345678");
}

TEST_F(LinkTest, ReadsWithoutWaitingWhereNothingIsWaitedFor) {
  std::string into(10, '\0');
  const OperationState nothing = start_read(into, 0);
  EXPECT_TRUE(nothing.done);
  EXPECT_EQ(nothing.bytes, 0U);
  std::string no_room;
  EXPECT_FALSE(start_read(no_room, 0).done) << "without room it asks whether there is something";
  offer("x");
  EXPECT_TRUE(raised(link_->read_event(), kNow));
  EXPECT_TRUE(link_->read_progress().done);
}

TEST_F(LinkTest, EndsAfterTheLastByte) {
  std::string into(10, '\0');
  EXPECT_FALSE(start_read(into, 8).done);
  offer("123");
  turn();
  finish();
  EXPECT_TRUE(raised(link_->read_event(), kNow));
  const OperationState progress = link_->read_progress();
  EXPECT_TRUE(progress.ended);
  EXPECT_EQ(progress.bytes, 3U);
  EXPECT_EQ(finished_, std::error_code());
  EXPECT_TRUE(start_read(into, 8).ended);
}

TEST_F(LinkTest, ReportsAnErrorNotAnEnd) {
  std::string into(10, '\0');
  EXPECT_FALSE(start_read(into, 8).done);
  link_->on_over(Error{Errc::peer_lost, "peer", "gone"});
  EXPECT_TRUE(raised(link_->read_event(), kNow));
  const OperationState progress = link_->read_progress();
  EXPECT_FALSE(progress.ended);
  EXPECT_EQ(progress.error->code, Errc::peer_lost);
  EXPECT_EQ(link_->start_write({view_of("x")}).error->code, Errc::peer_lost);
}

TEST_F(LinkTest, ForgetsAReadThatIsStopped) {
  auto into = std::make_unique<std::string>(10, '\0');
  EXPECT_FALSE(start_read(*into, 8).done);
  offer("123");
  EXPECT_EQ(link_->stop_read(), 3U);
  into.reset();
  turn();
  offer("456");
  EXPECT_FALSE(raised(link_->read_event(), kNow));
  std::string again(3, '\0');
  EXPECT_TRUE(start_read(again, 3).done);
  EXPECT_EQ(again, "456");
}

TEST_F(LinkTest, ForgetsAWriteThatIsStopped) {
  auto large = std::make_unique<std::string>(3 * kRingBytes, 'x');
  EXPECT_FALSE(link_->start_write({view_of(*large)}).done);
  EXPECT_EQ(link_->stop_write(), kRingBytes);
  large.reset();
  EXPECT_EQ(take(kRingBytes).size(), kRingBytes);
  EXPECT_EQ(take(1).size(), 0U);
}

TEST_F(LinkTest, ClosesWhenThePeerHasEverything) {
  EXPECT_TRUE(link_->start_write({view_of("last")}).done);
  EXPECT_FALSE(link_->start_close().done);
  EXPECT_EQ(take(100), "last");
  EXPECT_EQ(take(100), "");
  EXPECT_EQ(state_, LocalStream::ReadState::end);
  EXPECT_FALSE(raised(link_->write_event(), kNow));
  link_->source_receipted();
  EXPECT_TRUE(raised(link_->write_event(), kNow));
  const OperationState progress = link_->close_progress();
  EXPECT_TRUE(progress.done);
  EXPECT_FALSE(progress.error);
}

TEST_F(LinkTest, SaysAtTheCloseThatWhatWasWrittenDidNotArrive) {
  EXPECT_TRUE(link_->start_write({view_of("last")}).done);
  EXPECT_FALSE(link_->start_close().done);
  link_->on_over(Error{Errc::peer_lost, "peer", "gone"});
  EXPECT_TRUE(raised(link_->write_event(), kNow));
  EXPECT_EQ(link_->close_progress().error->code, Errc::peer_lost);
}

TEST_F(LinkTest, ClosesAtOnceWhereNothingWasWritten) { EXPECT_TRUE(link_->start_close().done); }

TEST_F(LinkTest, TellsThePeerThatNobodyReadsAfterTheClose) {
  offer("unread");
  EXPECT_TRUE(link_->start_close().done);
  turn();
  EXPECT_EQ(taken_, 6U);
  finish();
  EXPECT_EQ(finished_, std::make_error_code(std::errc::connection_reset));
}

TEST_F(LinkTest, AbortsTheStreamWhenItsUserIsGone) {
  std::optional<Error> why;
  link_->on_open({}, [&](const Error& error) { why = error; });
  EXPECT_TRUE(link_->start_write({view_of("half")}).done);
  link_->abandon();
  EXPECT_EQ(take(100), "half");
  EXPECT_EQ(take(100), "");
  EXPECT_NE(state_, LocalStream::ReadState::end) << "who gave up has not ended";
  turn();
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, Errc::interrupted);
}

TEST_F(LinkTest, DoesOneOperationOfAKindAtATime) {
  std::string into(10, '\0');
  EXPECT_FALSE(start_read(into, 8).done);
  EXPECT_TRUE(start_read(into, 8).error);
  const std::string large(3 * kRingBytes, 'x');
  EXPECT_FALSE(link_->start_write({view_of(large)}).done);
  EXPECT_TRUE(link_->start_write({view_of(large)}).error);
}

}  // namespace
}  // namespace udtcat::gridftp::xio
