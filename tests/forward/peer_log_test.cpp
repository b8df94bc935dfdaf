// SPDX-License-Identifier: Apache-2.0
#include "forward/peer_log.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::forward {
namespace {

using bridge::FakeConnection;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct PeerLogTest : testing::Test {
  PeerLogTest() {
    for (FakeConnection* each : {&first, &second}) each->identity = alice;
    tool::set_event_sink([this](const tool::LogEvent& event) { said.push_back(event.message); });
    first.current_stats.bytes_sent = 1'000'000;
    second.current_stats.bytes_sent = 500'000;
  }

  ~PeerLogTest() override { tool::set_event_sink({}); }

  const PeerIdentity alice{"alice", KeyPair::generate()->public_key()};
  FakeConnection first{bridge::loopback_v4()};
  FakeConnection second{bridge::loopback_v4()};
  std::vector<std::string> said;
  boost::asio::io_context io;
  PeerLog log{io};
};

TEST_F(PeerLogTest, TellsTheFirstSessionOfAPeerAndTheEndOfItsLast) {
  log.on_come(first);
  log.on_come(second);
  log.on_gone(first, {});
  EXPECT_THAT(said, ElementsAre("alice (127.0.0.1:0): connected"));
  log.on_gone(second, {});
  EXPECT_THAT(said, ElementsAre(HasSubstr("connected"), "alice (127.0.0.1:0): disconnected after 0:00, 1.50 MB sent"));
}

TEST_F(PeerLogTest, NamesAPeerWithoutAKeyPairByItsAddress) {
  first.identity.reset();
  log.on_come(first);
  log.on_come(second);
  EXPECT_THAT(said, ElementsAre("127.0.0.1:0: connected", "alice (127.0.0.1:0): connected"));
}

TEST_F(PeerLogTest, LogsAPeerThatRestarts) {
  for (int i = 0; i < 2; ++i) {
    log.on_come(first);
    EXPECT_EQ(said.back(), "alice (127.0.0.1:0): connected");
    log.on_gone(first, {});
  }
  EXPECT_THAT(said, SizeIs(4));
}

TEST_F(PeerLogTest, CountsAPeerThatReconnectsAllTheTime) {
  for (int i = 0; i < 100; ++i) {
    log.on_come(first);
    log.on_gone(first, {});
  }
  EXPECT_THAT(said, SizeIs(8)) << "the rest is counted";
}

}  // namespace
}  // namespace udtcat::forward
