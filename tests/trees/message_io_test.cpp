// SPDX-License-Identifier: Apache-2.0
#include "trees/message_io.hpp"

#include <future>

#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

class MessageStreams : public testing::Test {
 protected:
  void expect_failure(std::string_view hex, const char* cause) {
    ASSERT_TRUE(streams.here.write(test::from_hex(hex)));
    streams.here.cut_unless_ended(test::kWatchdog);
    streams.here.finish();
    const auto message = reader.next();
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().code, Errc::protocol_violated);
    EXPECT_NE(message.error().message().find(cause), std::string::npos) << message.error().message();
  }
  JoinedStreams streams;
  MessageWriter writer{streams.here};
  MessageReader reader{streams.there};
};

TEST_F(MessageStreams, CarryMessagesUnchanged) {
  for (EntryId id = 0; id < 10'000; ++id) ASSERT_TRUE(writer.put(Want{id}));
  ASSERT_TRUE(writer.flush());
  streams.here.cut_unless_ended(test::kWatchdog);
  streams.here.finish();
  for (EntryId id = 0; id < 10'000; ++id) {
    const auto message = reader.next();
    ASSERT_TRUE(message && *message);
    EXPECT_EQ(std::get<Want>(**message).entry, id);
    EXPECT_EQ(reader.body_bytes(), sizeof id);
  }
  EXPECT_FALSE(reader.next().value()) << "the end, behind a whole one";
}

TEST_F(MessageStreams, CarryChunksWithAndWithoutACopy) {
  const Bytes content = test::random_bytes(40 * kChunkBytes);
  auto writing = std::async(std::launch::async, [&] {
    Bytes memory;
    bool is_whole = true;
    for (std::uint64_t chunk = 0; chunk < 40; ++chunk) {
      const auto bytes = std::span(content).subspan(chunk * kChunkBytes, chunk % 3 == 0 ? 999 : kChunkBytes);
      memory.assign(bytes.begin(), bytes.end());
      std::vector<Extent> extents{{0, memory}};
      if (chunk % 3 == 1) extents = {{0, std::span(memory).first(5)}, {70'000, std::span(memory).subspan(70'000)}};
      is_whole = is_whole && writer.put_data({7, chunk, hash_of_leaf(bytes), extents}, memory).has_value();
    }
    return is_whole && writer.flush().has_value();
  });
  for (std::uint64_t chunk = 0; chunk < 40; ++chunk) {
    const auto message = reader.next();
    ASSERT_TRUE(message && *message);
    const auto& data = std::get<Data>(**message);
    EXPECT_EQ(data.chunk, chunk);
    for (const Extent& extent : data.extents) {
      const auto there = std::span(content).subspan(chunk * kChunkBytes + extent.offset, extent.bytes.size());
      EXPECT_TRUE(std::ranges::equal(extent.bytes, there)) << chunk;
    }
  }
  EXPECT_TRUE(writing.get());
}

TEST_F(MessageStreams, ReportTheLengthOfAnEntry) {
  const auto bytes = writer.put_entry(file_at("a/b", 5)).value();
  ASSERT_TRUE(writer.flush());
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.body_bytes(), bytes);
}

TEST_F(MessageStreams, EndOnlyBehindAWholeMessage) { expect_failure("21 0000", "the stream ends within one"); }

TEST_F(MessageStreams, RefuseAnEndBeforeABody) { expect_failure("21 000008", "the stream ends within one"); }

TEST_F(MessageStreams, RefuseAnEndWithinABody) {
  expect_failure("21 000008 00000000 000000", "the stream ends within one");
}

TEST_F(MessageStreams, RefuseALengthBeforeTheyWaitForIt) { expect_failure("11 ffffff", ""); }

TEST_F(MessageStreams, TellThePeerOfErrorsOfThisEnd) {
  const std::vector<std::pair<Errc, Errc>> told{{Errc::local_read_failed, Errc::local_read_failed},
                                                {Errc::local_write_failed, Errc::local_write_failed},
                                                {Errc::interrupted, Errc::interrupted},
                                                {Errc::stream_refused, Errc::stream_refused},
                                                {Errc::protocol_violated, Errc::stream_refused},
                                                {Errc::out_of_resources, Errc::stream_refused}};
  for (const auto& [code, cause] : told) {
    tell_failure({code, "do it", "no"}, writer);
    const auto message = reader.next();
    ASSERT_TRUE(message && *message);
    EXPECT_EQ(std::get<Failed>(**message).cause, cause);
    EXPECT_EQ(std::get<Failed>(**message).reason, "do it: no");
  }
  for (const Errc code : {Errc::connection_broken, Errc::remote_write_failed, Errc::peer_interrupted})
    tell_failure({code, "", ""}, writer);
  streams.here.cut_unless_ended(test::kWatchdog);
  streams.here.finish();
  EXPECT_FALSE(reader.next().value());
}

}  // namespace
}  // namespace udtcat::trees
