#include "lib/session/session.hpp"

#include <array>
#include <cstring>
#include <optional>

#include <gtest/gtest.h>

#include "fault/memory_channel.hpp"

namespace udtcat::session {
namespace {

using namespace std::chrono_literals;

class SessionTest : public ::testing::TestWithParam<Protection> {
 protected:
  void SetUp() override {
    Agreed agreed;
    agreed.protection = GetParam();
    agreed.block_bytes = kMinBlockBytes;
    agreed.lanes = 3;
    sender = make(Role::connector, agreed, std::move(path.connector));
    receiver = make(Role::listener, agreed, std::move(path.listener));
  }
  std::unique_ptr<Session> make(Role role, const Agreed& agreed, std::unique_ptr<transport::Channel> channel) {
    std::optional<KeySchedule> keys;
    if (GetParam() >= Protection::safe) {
      const crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
      keys = std::move(*KeySchedule::from_exporter(exporter));
    }
    return std::move(*Session::create(io, role, agreed, std::move(keys), std::move(channel)));
  }
  void send(std::string_view text) {
    Block block = sender->next_block(std::move(*buffers.acquire()));
    block.payload_bytes = text.size();
    std::memcpy(block.payload().data(), text.data(), text.size());
    sender->finish_header(block);
    sender->async_write(std::move(block), [](const Status&) {});
  }
  Result<Block> receive() {
    std::optional<Result<Block>> read;
    receiver->async_read(std::move(*buffers.acquire()), [&](Result<Block> block) { read = std::move(block); });
    const auto deadline = std::chrono::steady_clock::now() + 5s;
    while (!read && std::chrono::steady_clock::now() < deadline) {
      io.restart();
      io.run_one_for(50ms);
    }
    return read ? std::move(*read) : fail(Errc::connection_broken, "nothing came");
  }

  boost::asio::io_context io;
  fault::ChannelPair path{io};
  core::BufferPool buffers{buffer_bytes_for(kMinBlockBytes), 20};
  std::unique_ptr<Session> sender;
  std::unique_ptr<Session> receiver;
};

TEST_P(SessionTest, CarriesRecordsInOrder) {
  for (const char* text : {"one", "two", "three", "four"}) send(text);
  for (const std::string text : {"one", "two", "three", "four"}) {
    const auto block = receive();
    ASSERT_TRUE(block) << block.error().message();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(block->payload().data()), block->payload_bytes), text);
  }
}

TEST_P(SessionTest, RefusesARecordThatIsNotTheNextOne) {
  path.from_connector->tamper = [drop = true, this](std::span<std::byte>) mutable {
    if (std::exchange(drop, false)) path.from_connector->black_hole = true;
  };
  send("lost");
  path.from_connector->black_hole = false;
  send("second");
  const auto block = receive();
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().code, GetParam() >= Protection::safe ? Errc::tampered : Errc::protocol_violated);
}

TEST_P(SessionTest, HidesTheHeaderWhereTheBlockIsSealed) {
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
    Agreed agreed = sender->agreed();
    agreed.flows = 1 + more.size();
    sender = make(Role::connector, agreed, std::move(first.connector));
    receiver = make(Role::listener, agreed, std::move(first.listener));
    for (Session* session : {sender.get(), receiver.get()}) session->await_flows(JoinKey({}, {}));
    for (fault::ChannelPair& pair : more) {
      EXPECT_NE(sender->join_key(), nullptr);
      sender->add_flow(std::move(pair.connector));
      receiver->add_flow(std::move(pair.listener));
    }
    EXPECT_EQ(sender->join_key(), nullptr);
  }

  fault::ChannelPair first{io};
  std::array<fault::ChannelPair, 2> more{fault::ChannelPair(io), fault::ChannelPair(io)};
};

TEST_P(SessionOfFlowsTest, CarriesRecordsInOrder) {
  for (int i = 0; i < 20; ++i) send(std::to_string(i));
  for (int i = 0; i < 20; ++i) {
    const auto block = receive();
    ASSERT_TRUE(block) << block.error().message();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(block->payload().data()), block->payload_bytes),
              std::to_string(i));
  }
  for (const auto& pair : more) EXPECT_FALSE(pair.from_connector->capture.empty());
}

TEST_P(SessionOfFlowsTest, SendsByTheFlowsThatTakeSomething) {
  more[0].from_connector->stuck = true;
  for (int i = 0; i < 20; ++i) {
    send(std::string(100, 'x'));
    io.restart();
    io.poll();
  }
  EXPECT_EQ(more[0].from_connector->capture.size(), kRecordHeaderBytes + 100 + tag_bytes(GetParam()));
}

TEST_P(SessionOfFlowsTest, RefusesARecordThatAFlowLost) {
  more[0].from_connector->black_hole = true;
  send("first");
  send("lost");
  more[0].from_connector->black_hole = false;
  for (int i = 0; i < 4; ++i) send("later");
  ASSERT_TRUE(receive());
  const auto block = receive();
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().code, GetParam() >= Protection::safe ? Errc::tampered : Errc::protocol_violated);
}

INSTANTIATE_TEST_SUITE_P(EachProtection, SessionOfFlowsTest,
                         ::testing::Values(Protection::private_, Protection::safe, Protection::auth, Protection::clear),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

INSTANTIATE_TEST_SUITE_P(EachProtection, SessionTest,
                         ::testing::Values(Protection::private_, Protection::safe, Protection::auth, Protection::clear),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

}  // namespace
}  // namespace udtcat::session
