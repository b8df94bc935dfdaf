// SPDX-License-Identifier: Apache-2.0
#include "lib/session/session.hpp"

#include <sched.h>

#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/memory_channel.hpp"
#include "support/run_until.hpp"

namespace udtcat::session {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kKeptBlocks = 3;
constexpr std::size_t kLargestBlock = 2 * kMinBlockBytes;
constexpr std::size_t kInFlight = 4;  // without threads and with one flow

class SessionTest : public ::testing::TestWithParam<Protection> {
 protected:
  void SetUp() override {
    terms.protection = GetParam();
    terms.block_bytes = kLargestBlock;
    terms.lanes = 3;
    restart(SendQueueDepth::deep);
  }
  std::unique_ptr<Session> make(Role role, const NegotiatedParameters& agreed,
                                std::unique_ptr<transport::Channel> channel) {
    std::optional<KeySchedule> keys;
    if (GetParam() >= Protection::safe) {
      const crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
      keys = std::move(*KeySchedule::from_exporter(exporter));
    }
    return std::make_unique<Session>(io, role, agreed, std::move(keys), std::move(channel));
  }
  void start(SendQueueDepth ahead = SendQueueDepth::deep) {
    for (Session* session : {sender.get(), receiver.get()}) ASSERT_TRUE(session->start(0, kKeptBlocks, ahead));
  }
  /// Anew, over another path.
  void restart(SendQueueDepth ahead) {
    path = test::ChannelPair(io);
    sender = make(Role::connector, terms, std::move(path.connector));
    receiver = make(Role::listener, terms, std::move(path.listener));
    start(ahead);
  }
  void send(std::string_view text, Session::Content content = Session::Content::bulk) {
    std::optional<Block> block = sender->empty_block();
    ASSERT_TRUE(block);
    block->payload_bytes = text.size();
    std::memcpy(block->payload().data(), text.data(), text.size());
    sender->async_write(
        std::move(*block), [this](const Status& status) { written.push_back(status); }, content);
    settle();
  }
  void settle() { test::run_ready(io); }
  void ask() {
    read.reset();
    receiver->async_read([this](Result<Block> block) { read = std::move(block); });
    EXPECT_FALSE(read) << "never from inside";
    settle();
  }
  Result<Block> receive() {
    ask();
    return read ? std::move(*read) : fail(Errc::connection_broken, "nothing came");
  }
  void expect(const std::string& text) {
    const auto block = receive();
    ASSERT_TRUE(block) << block.error().message();
    EXPECT_EQ(test::text_of(block->payload().first(block->payload_bytes)), text);
  }
  [[nodiscard]] static Errc tampering() {
    return GetParam() >= Protection::safe ? Errc::tampered : Errc::protocol_violated;
  }

  boost::asio::io_context io;
  NegotiatedParameters terms;
  test::ChannelPair path{io};
  std::unique_ptr<Session> sender;
  std::unique_ptr<Session> receiver;
  std::vector<Status> written;
  std::optional<Result<Block>> read;
};

TEST_P(SessionTest, CarriesBlocksInOrder) {
  for (const char* text : {"one", "two", "three", "four"}) send(text);
  for (const char* text : {"one", "two", "three", "four"}) expect(text);
  EXPECT_EQ(written.size(), 4U);
  EXPECT_TRUE(sender->all_written());
  EXPECT_EQ(sender->stats().blocks_sent, 4U);
  EXPECT_EQ(receiver->stats().blocks_received, 4U);
}

TEST_P(SessionTest, GivesABlockToAReadThatWaits) {
  ask();
  EXPECT_FALSE(read);
  send("late");
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->payload_bytes, 4U);
}

TEST_P(SessionTest, GivesBlocksToAHandlerThatAsksForTheNext) {
  std::size_t blocks = 0;
  std::function<void()> ask_again = [&] {
    receiver->async_read([&](const Result<Block>& block) {
      ASSERT_TRUE(block);
      ++blocks;
      ask_again();
    });
  };
  ask_again();
  for (int i = 0; i < 100; ++i) send("again");
  EXPECT_EQ(blocks, 100U);
}

TEST_P(SessionTest, WantsBlocksUpToItsLimit) {
  path.from_connector->stuck = true;
  for (std::size_t i = 0; i < kInFlight; ++i) {
    EXPECT_TRUE(sender->wants_block());
    send("more");
  }
  EXPECT_FALSE(sender->wants_block());
  EXPECT_FALSE(sender->all_written());
}

TEST_P(SessionTest, KeepsAShallowQueueAsShortAsTheTransportAsks) {
  restart(SendQueueDepth::shallow);
  path.from_connector->stuck = true;
  path.from_connector->ahead_bytes = 20'000;
  EXPECT_EQ(sender->next_block_bytes(), 5000U);
  for (int i = 0; i < 3; ++i) send(std::string(4000, 'x'));
  EXPECT_TRUE(sender->wants_block());
  path.from_connector->ahead_bytes = 12'000;
  EXPECT_FALSE(sender->wants_block());
}

TEST_P(SessionTest, HasTwoBlocksAheadHoweverSlowThePathIs) {
  restart(SendQueueDepth::shallow);
  path.from_connector->stuck = true;
  path.from_connector->ahead_bytes = 1;
  EXPECT_EQ(sender->next_block_bytes(), kMinBlockBytes);
  send("one");
  EXPECT_TRUE(sender->wants_block());
  send("two");
  EXPECT_FALSE(sender->wants_block());
}

/// Proves: stream.interactive-blocks
TEST_P(SessionTest, HasRoomForInteractiveDataBesideAllBlocksOfBulk) {
  restart(SendQueueDepth::shallow);
  path.from_connector->stuck = true;
  for (std::size_t i = 0; i < kInFlight; ++i) send("more");
  EXPECT_FALSE(sender->wants_block());
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(sender->has_room_for_interactive());
    send("a word", Session::Content::interactive);
  }
  EXPECT_FALSE(sender->has_room_for_interactive());
}

TEST_P(SessionTest, WantsBulkHoweverMuchInteractiveDataIsQueued) {
  restart(SendQueueDepth::shallow);
  path.from_connector->stuck = true;
  for (std::size_t i = 0; i < kInteractiveBlocks; ++i) send("a word", Session::Content::interactive);
  for (std::size_t i = 0; i < kBlocksAhead; ++i, send("more")) EXPECT_TRUE(sender->wants_block());
}

TEST_P(SessionTest, HasNoRoomForInteractiveDataWhereItsQueueIsDeep) {
  EXPECT_FALSE(sender->has_room_for_interactive());
}

TEST_P(SessionTest, KeepsLanesBusyWhereItsQueueIsDeepHoweverLittleTheTransportAsksFor) {
  path.from_connector->stuck = true;
  path.from_connector->ahead_bytes = 10;
  EXPECT_EQ(sender->next_block_bytes(), kLargestBlock);
  for (std::size_t i = 0; i < kInFlight; ++i, send("more")) EXPECT_TRUE(sender->wants_block());
}

/// Proves: stream.copies-where-waiting
TEST_P(SessionTest, SendsPriorityDatagramsWhereThereAreKeysAndTheTransportHasRoom) {
  restart(SendQueueDepth::shallow);
  EXPECT_EQ(sender->priority_room_bytes(), 0U);
  path.from_connector->datagram_room_bytes = 1216;
  const bool keys = GetParam() >= Protection::safe;
  ASSERT_EQ(sender->priority_room_bytes(), keys ? 1024U : 0U);
  if (!keys) return;
  std::string heard;
  receiver->on_priority_datagram([&](std::span<const std::byte> payload) { heard = test::text_of(payload); });
  sender->send_priority_datagram(test::bytes_of("word"));
  settle();
  EXPECT_EQ(heard, "word");
}

TEST_P(SessionTest, ReadsAheadNoMoreThanItsBound) {
  ask();
  EXPECT_FALSE(read);
  for (int i = 0; i < 20; ++i) send("ahead");
  EXPECT_GE(path.from_connector->bytes.size(), 14 * (kRecordHeaderBytes + 5 + tag_bytes(GetParam())));
  for (int i = 0; i < 19; ++i) ASSERT_TRUE(receive()) << "and then goes on";
}

TEST_P(SessionTest, WaitsForTheBlocksThatItsCallerKeeps) {
  for (int i = 0; i < 20; ++i) send("kept");
  std::vector<Block> kept;
  for (ask(); read; ask()) {
    kept.push_back(std::move(**read));
    if (kept.size() == 20) FAIL() << "nothing bounds it";
    read.reset();
    settle();
  }
  EXPECT_GE(kept.size(), kKeptBlocks);
  kept.clear();
  receiver->on_block_released();
  settle();
  EXPECT_TRUE(read);
}

TEST_P(SessionTest, GivesWhatCameBeforeATamperedBlockAndNothingAfterIt) {
  if (GetParam() < Protection::safe)
    GTEST_SKIP() << "auth and clear do not authenticate blocks: a changed one is not noticed";
  send("good");
  path.from_connector->tamper = [](std::span<std::byte> record) { record.back() ^= std::byte{1}; };
  send("evil");
  path.from_connector->tamper = nullptr;
  send("late");
  expect("good");
  EXPECT_EQ(receive().error().code, Errc::tampered);
  EXPECT_EQ(receive().error().code, Errc::tampered) << "sticky";
}

TEST_P(SessionTest, GivesWhatCameBeforeThePathBroke) {
  send("last words");
  path.from_connector->cut = true;
  expect("last words");
  EXPECT_EQ(receive().error().code, Errc::connection_broken);
  EXPECT_EQ(receive().error().code, Errc::connection_broken) << "sticky";
}

TEST_P(SessionTest, CallsNoReaderOnceItIsClosed) {
  ask();
  send("too late");
  read.reset();
  receiver->async_read([this](Result<Block> block) { read = std::move(block); });
  receiver->close({});
  path.from_connector->cut = true;
  settle();
  EXPECT_FALSE(read);
  EXPECT_EQ(receiver->stats().blocks_received, 1U) << "as it was";
}

TEST_P(SessionTest, TellsItsProtection) {
  const ConnectionStats stats = sender->stats();
  EXPECT_EQ(stats.protection, GetParam());
  EXPECT_EQ(stats.cipher.has_value(), GetParam() >= Protection::safe);
  EXPECT_EQ(stats.lanes, GetParam() >= Protection::safe ? 3U : 0U);
  EXPECT_EQ(stats.threads, 0U);
  EXPECT_EQ(stats.flows, 1U);
}

TEST_P(SessionTest, OffloadsNothingWithOneCore) {
  test::ChannelPair other(io);
  const auto session = make(Role::connector, sender->agreed(), std::move(other.connector));
  // A thread of its own: the mask is the thread's and ends with it.
  std::thread([&session] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    ASSERT_TRUE(session->start(std::nullopt, kKeptBlocks));
  }).join();
  EXPECT_EQ(session->stats().threads, 0U);
}

/// Proves: record.next-number-only
TEST_P(SessionTest, RefusesARecordThatIsNotTheNextOne) {
  path.from_connector->black_hole = true;
  send("lost");
  path.from_connector->black_hole = false;
  send("second");
  const auto block = receive();
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().code, tampering());
}

TEST_P(SessionTest, EnciphersTheHeaderWhereTheBlockIsSealed) {
  send("abc");
  const auto& wire = path.from_connector->capture;
  const bool clear_header = wire[0] == std::byte{kRecordVersion} && wire[7] == std::byte{3};
  EXPECT_EQ(clear_header, GetParam() <= Protection::auth);
}

/// The same over three flows.
class SessionOfFlowsTest : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    NegotiatedParameters agreed = sender->agreed();
    agreed.flows = 1 + more.size();
    sender = make(Role::connector, agreed, std::move(first.connector));
    receiver = make(Role::listener, agreed, std::move(first.listener));
    for (Session* session : {sender.get(), receiver.get()}) session->allow_flows(JoinKey({}, {}));
    start();
    for (std::uint8_t flow = 1; flow <= more.size(); ++flow) join(more[flow - 1], {flow, 1});
  }
  void join(test::ChannelPair& pair, const FlowName& name) {
    ASSERT_TRUE(sender->check_flow(name));
    ASSERT_TRUE(receiver->check_flow(name));
    sender->add_flow(std::move(pair.connector), name, 0);
    receiver->add_flow(std::move(pair.listener), name, 0);
  }

  test::ChannelPair first{io};
  std::array<test::ChannelPair, 2> more{test::ChannelPair(io), test::ChannelPair(io)};
};

TEST_P(SessionOfFlowsTest, CarriesBlocksInOrder) {
  for (int i = 0; i < 20; ++i) send(std::to_string(i));
  for (int i = 0; i < 20; ++i) expect(std::to_string(i));
  for (const auto& pair : more) EXPECT_FALSE(pair.from_connector->capture.empty());
}

/// Proves: record.headers-differ
TEST_P(SessionOfFlowsTest, HasAnotherHeaderForEachBlockOfTheSameBytes) {
  for (int i = 0; i < 30; ++i) send("the same");
  const auto record_bytes = static_cast<std::ptrdiff_t>(kRecordHeaderBytes + 8 + tag_bytes(GetParam()));
  std::set<std::vector<std::byte>> headers;
  for (const auto& pipe : {first.from_connector, more[0].from_connector, more[1].from_connector})
    for (auto at = pipe->capture.begin(); at < pipe->capture.end(); at += record_bytes)
      headers.emplace(at, at + kRecordHeaderBytes);
  EXPECT_EQ(headers.size(), 30U);
}

TEST_P(SessionOfFlowsTest, SendsByTheFlowsThatTakeSomething) {
  more[0].from_connector->stuck = true;
  for (int i = 0; i < 20; ++i) {
    send(std::string(100, 'x'));
  }
  EXPECT_EQ(more[0].from_connector->capture.size(), kRecordHeaderBytes + 100 + tag_bytes(GetParam()));
}

/// Proves: record.nonce-once
TEST_P(SessionOfFlowsTest, SendsAgainWhatALostFlowHadNotDelivered) {
  more[0].from_connector->acknowledged = more[0].from_listener->acknowledged = 0;
  more[0].from_connector->black_hole = true;
  for (int i = 0; i < 12; ++i) send(std::to_string(i));
  test::ChannelPair instead(io);
  const auto carried = instead.from_connector;
  join(instead, {1, 2});
  for (int i = 0; i < 12; ++i) expect(std::to_string(i));
  EXPECT_EQ(carried->capture, more[0].from_connector->capture) << "as they were sealed";
}

TEST_P(SessionOfFlowsTest, SendsNothingAgainThatWasAcknowledged) {
  more[0].from_connector->acknowledged = more[0].from_listener->acknowledged = 0;
  for (int i = 0; i < 6; ++i) send(std::to_string(i));
  for (int i = 0; i < 6; ++i) expect(std::to_string(i));
  more[0].from_connector->acknowledged = more[0].from_connector->capture.size();
  test::ChannelPair instead(io);
  const auto carried = instead.from_connector;
  join(instead, {1, 2});
  EXPECT_TRUE(carried->capture.empty());
  for (int i = 6; i < 12; ++i) send(std::to_string(i));
  for (int i = 6; i < 12; ++i) expect(std::to_string(i));
}

/// Proves: record.opened-once
TEST_P(SessionOfFlowsTest, GivesARecordOnceThatArrivedUnacknowledged) {
  more[0].from_connector->acknowledged = more[0].from_listener->acknowledged = 0;
  for (int i = 0; i < 12; ++i) send(std::to_string(i));
  for (int i = 0; i < 12; ++i) expect(std::to_string(i));
  test::ChannelPair instead(io);
  join(instead, {1, 2});
  send("after");
  expect("after");
  EXPECT_EQ(receiver->stats().blocks_received, 13U);
}

TEST_P(SessionOfFlowsTest, TakesAnAttemptOfAFlowOnce) {
  more[0].from_connector->acknowledged = more[0].from_listener->acknowledged = 0;
  EXPECT_FALSE(receiver->check_flow({1, 1})) << "it is there";
  EXPECT_FALSE(receiver->check_flow({3, 1})) << "so many were not agreed on";
  EXPECT_TRUE(receiver->check_flow({1, 2}));
  EXPECT_FALSE(receiver->check_flow({2, 2})) << "its transport does not say what has arrived";
  receiver->close({});
  EXPECT_FALSE(receiver->check_flow({1, 2}));
}

INSTANTIATE_TEST_SUITE_P(EachProtection, SessionOfFlowsTest,
                         ::testing::Values(Protection::private_, Protection::safe, Protection::auth, Protection::clear),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

INSTANTIATE_TEST_SUITE_P(EachProtection, SessionTest,
                         ::testing::Values(Protection::private_, Protection::safe, Protection::auth, Protection::clear),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

}  // namespace
}  // namespace udtcat::session
