// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/reply.hpp"

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

Reply only_reply(std::string_view wire) {
  ReplyReader reader;
  reader.push(wire);
  auto reply = reader.next();
  EXPECT_TRUE(reply && *reply) << wire;
  EXPECT_FALSE(*reader.next()) << "nothing is left";
  return **reply;
}

TEST(ReplyStart, IsACodeWithABlankADashOrNothingBehind) {
  EXPECT_EQ(read_reply_start("226 done")->code, 226);
  EXPECT_FALSE(read_reply_start("226")->continues);
  EXPECT_TRUE(read_reply_start("229-Entering")->continues);
  for (const char* none : {"", "2", "22", "22a", "226_", "2260 ", "099 ", "600 ", " 226 "})
    EXPECT_FALSE(read_reply_start(none)) << none;
}

TEST(ReplyReader, ReadsOneLine) {
  const Reply reply = only_reply("226 Transfer complete.\r\n");
  EXPECT_EQ(reply.code, 226);
  EXPECT_EQ(reply.lines, std::vector<std::string>{"Transfer complete."});
  EXPECT_TRUE(reply.is_completion());
  EXPECT_EQ(only_reply("200\n").code, 200);
}

TEST(ReplyReader, ReadsManyLinesWhateverTheyBeginWith) {
  const Reply reply = only_reply("112-Perf Marker\r\n Timestamp: 1\r\n226 not yet\r\n112-nor now\r\n112 End\r\n");
  EXPECT_EQ(reply.code, 112);
  EXPECT_EQ(reply.lines.size(), 5U);
  EXPECT_EQ(reply.lines[2], "226 not yet");
  EXPECT_EQ(reply.text(), "Perf Marker  Timestamp: 1 226 not yet 112-nor now End");
}

TEST(ReplyReader, GivesTheSameHoweverTheBytesCome) {
  const std::string wire = "211-Extensions\r\n PASV\r\n211 End.\r\n220 next\r\n";
  for (std::size_t step = 1; step < wire.size(); ++step) {
    ReplyReader reader;
    std::vector<int> codes;
    for (std::size_t at = 0; at < wire.size(); at += step) {
      reader.push(std::string_view(wire).substr(at, step));
      for (;;) {
        const auto reply = reader.next();
        ASSERT_TRUE(reply);
        if (!*reply) break;
        codes.push_back((*reply)->code);
      }
    }
    EXPECT_EQ(codes, (std::vector<int>{211, 220})) << step;
  }
}

TEST(ReplyReader, RefusesWhatIsNoReplyForGood) {
  for (const char* wrong : {"hello\r\n", "22 no\r\n", "999 no\r\n", "2x0 no\r\n", "\r\n", "226_no\r\n"}) {
    ReplyReader reader;
    reader.push(wrong);
    EXPECT_FALSE(reader.next()) << wrong;
    reader.push("226 yes\r\n");
    EXPECT_FALSE(reader.next()) << wrong;
  }
}

TEST(ReplyReader, KeepsNoMoreThanItsBound) {
  ReplyReader endless;
  endless.push("111-Range Marker " + std::string(ReplyReader::kMaxBytes, '1'));
  EXPECT_FALSE(endless.next());
  ReplyReader many;
  many.push("111-Range Marker\r\n");
  Result<std::optional<Reply>> reply = std::nullopt;
  for (int i = 0; i < 2000 && reply; ++i) {
    many.push(std::string(1000, ' ') + "\r\n");
    reply = many.next();
  }
  EXPECT_FALSE(reply);
}

TEST(ReplyReader, TakesALongMarkerOfManyRanges) {
  EXPECT_EQ(only_reply("111 Range Marker " + std::string(50'000, '1') + "\r\n").lines.front().size(), 50'013U);
}

TEST(Reply, SurvivesItsEncoding) {
  for (const Reply& reply : {Reply{226, {"done"}}, Reply{211, {"Extensions", " PASV", "End"}}, Reply{200, {""}}}) {
    const Reply back = only_reply(to_wire(reply));
    EXPECT_EQ(back.code, reply.code);
    EXPECT_EQ(back.lines, reply.lines);
  }
}

}  // namespace
}  // namespace udtcat::gridftp
