// SPDX-License-Identifier: Apache-2.0
/// src/lib/connection: what a multiplexer writes and takes, frame by frame.
#include <algorithm>
#include <span>
#include <vector>

#include "lib/connection/frame.hpp"
#include "lib/connection/multiplexer_fixture.hpp"

namespace udtcat::connection {
namespace {

struct WrittenBlock {
  std::size_t payload_bytes = 0;
  std::vector<StreamId> streams;  // of its frames of data
};

/// Of records in the clear.
std::vector<WrittenBlock> blocks_in(std::span<const std::byte> records) {
  std::vector<WrittenBlock> blocks;
  while (records.size() >= session::kRecordHeaderBytes) {
    const auto header = session::decode_record_header(records.first<session::kRecordHeaderBytes>());
    if (!header) break;
    blocks.push_back({header->payload_bytes, {}});
    FrameReader frames(records.subspan(session::kRecordHeaderBytes, header->payload_bytes));
    auto frame = frames.next();
    for (; frame && *frame; frame = frames.next())
      if (std::holds_alternative<Data>((*frame)->body)) blocks.back().streams.push_back((*frame)->stream);
    EXPECT_TRUE(frame) << "a frame goes on in the next block";
    records = records.subspan(session::kRecordHeaderBytes + header->payload_bytes);
  }
  EXPECT_TRUE(records.empty());
  return blocks;
}

/// Proves: stream.frames-within-blocks
TEST_F(MultiplexerTest, WritesWholeFramesIntoEachBlock) {
  connect(Protection::clear);
  for (int i = 0; i < 10; ++i) {
    connector.script = std::make_shared<test::Script>();
    connector.script->to_send = std::string(30'000, 'x');
    open();
  }
  ASSERT_TRUE(run_until([this] { return from_connector->capture.size() > 300'000; }));
  EXPECT_GT(blocks_in(from_connector->capture).size(), 10U);
}

/// A peer whose frames the test writes.
class RawPeerTest : public MultiplexerTest {
 protected:
  RawPeerTest() {
    session::NegotiatedParameters agreed;
    agreed.protection = Protection::private_;
    agreed.lanes = 1;
    agreed.block_bytes = block_bytes;
    agreed.window_to_peer_bytes = agreed.window_from_peer_bytes = session::kInitialWindowBytes;
    peer = session_after_handshake(io, session::Role::connector, agreed, std::move(path.connector));
    EXPECT_TRUE(peer->start(0, 16, session::SendQueueDepth::shallow));
    make(listener, session::Role::listener, agreed, std::move(path.listener));
    listener.connection->on_stream([this](StreamId id) {
      listener.accepted = id;
      accept();
    });
  }
  void say(const std::vector<Frame>& frames) {
    std::vector<std::byte> bytes;
    for (const Frame& frame : frames) append_frame(bytes, frame);
    auto block = peer->empty_block();
    ASSERT_TRUE(block);
    block->payload_bytes = bytes.size();
    std::ranges::copy(bytes, block->payload().begin());
    peer->async_write(
        std::move(*block), [](const Status&) {}, session::Session::Content::bulk);
    test::run_ready(io);
  }

  std::unique_ptr<session::Session> peer;
};

/// Proves: stream.unknown-stream
TEST_F(RawPeerTest, MaySpeakOfAStreamThatHasEndedAndOfNoneThatWasNeverOpened) {
  const auto word = test::bytes_of("word");
  say({{0, Open{}}, {0, Data{word}}});
  ASSERT_TRUE(run_until([this] { return listener.script->received == "word"; }));
  say({{0, Reset{ResetCause::interrupted, 0, "given up"}}, {0, Data{word}}, {0, Fin{8}}});
  ASSERT_TRUE(run_until([this] { return listener.outcome.has_value(); }));
  EXPECT_FALSE(listener.closed);
  say({{2, Data{word}}});
  ASSERT_TRUE(run_until([this] { return listener.closed.has_value(); }));
  EXPECT_EQ(listener.closed->error().code, Errc::protocol_violated);
}

/// Proves: stream.fin-total
TEST_F(RawPeerTest, EndsWhereAnEndCountsOtherBytesThanCame) {
  say({{0, Open{}}, {0, Data{test::bytes_of("word")}}, {0, Fin{5}}});
  ASSERT_TRUE(run_until([this] { return listener.closed.has_value(); }));
  EXPECT_EQ(listener.closed->error().code, Errc::protocol_violated);
  EXPECT_FALSE(listener.script->finished);
}

}  // namespace
}  // namespace udtcat::connection
