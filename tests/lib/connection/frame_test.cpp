// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/frame.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/spec_example.hpp"

namespace udtcat::connection {
namespace {

using test::bytes_of;

std::vector<Frame> decode_all(std::span<const std::byte> payload) {
  std::vector<Frame> frames;
  FrameReader reader(payload);
  for (;;) {
    auto frame = reader.next();
    EXPECT_TRUE(frame.has_value());
    if (!frame || !*frame) return frames;
    frames.push_back(std::move(**frame));
  }
}

bool decodes(std::span<const std::byte> payload) {
  FrameReader reader(payload);
  for (;;) {
    const auto frame = reader.next();
    if (!frame) return false;
    if (!*frame) return true;
  }
}

std::vector<std::byte> one_of_each() {
  std::vector<std::byte> out;
  const auto data = bytes_of("some bytes");
  append_frame(out, {4, Open{"db"}});
  append_frame(out, {4, Data{data}});
  append_frame(out, {4, Fin{10}});
  append_frame(out, {4, Receipt{77}});
  append_frame(out, {4, CreditGrant{1ULL << 40}});
  append_frame(out, {4, Early{1ULL << 33, data}});
  append_frame(out, {4, Reset{ResetCause::write_failed, 28, "disk full"}});
  append_frame(out, {kSessionStream, Ping{1}});
  append_frame(out, {kSessionStream, Pong{2}});
  append_frame(out, {kSessionStream, Report{}});
  append_frame(out, {kSessionStream, Close{CloseReason::tampered, "why"}});
  return out;
}

TEST(Frame, IsReadBackAsItWasWritten) {
  const auto payload = one_of_each();
  const auto frames = decode_all(payload);
  ASSERT_EQ(frames.size(), 11U);
  EXPECT_EQ(std::get<Open>(frames[0].body).service, "db");
  const auto data = std::get<Data>(frames[1].body).bytes;
  EXPECT_EQ(std::vector(data.begin(), data.end()), bytes_of("some bytes"));
  EXPECT_EQ(std::get<Fin>(frames[2].body).total_bytes, 10U);
  EXPECT_EQ(std::get<Receipt>(frames[3].body).total_bytes, 77U);
  EXPECT_EQ(std::get<CreditGrant>(frames[4].body).limit_bytes, 1ULL << 40);
  EXPECT_EQ(std::get<Early>(frames[5].body).offset, 1ULL << 33);
  EXPECT_EQ(test::text_of(std::get<Early>(frames[5].body).bytes), "some bytes");
  EXPECT_EQ(std::get<Reset>(frames[6].body).errno_value, 28U);
  EXPECT_EQ(std::get<Reset>(frames[6].body).text, "disk full");
  EXPECT_EQ(std::get<Close>(frames[10].body).reason, CloseReason::tampered);
  EXPECT_EQ(frames[10].stream, kSessionStream);
}

TEST(Frame, MatchesTheExampleOfAnEarlyCopy) {
  const test::SpecExample example("stream.md", "early");
  std::vector<std::byte> copied;
  const auto word = bytes_of("ls\n");
  append_frame(copied, {2, Early{300, word}});
  EXPECT_EQ(copied, example.bytes("copied"));
}

TEST(Frame, MatchesTheWorkedExampleOfTheSpec) {
  const test::SpecExample example("stream.md", "stream");
  std::vector<std::byte> sent;
  const auto line = bytes_of("hello\n");
  append_frame(sent, {0, Open{}});
  append_frame(sent, {0, Data{line}});
  append_frame(sent, {0, Fin{6}});
  EXPECT_EQ(sent, example.bytes("sent"));

  std::vector<std::byte> named;
  append_frame(named, {2, Open{"db"}});
  EXPECT_EQ(named, example.bytes("named"));

  std::vector<std::byte> answered;
  append_frame(answered, {0, Receipt{6}});
  EXPECT_EQ(answered, example.bytes("answered"));
}

/// Proves: stream.frames-within-blocks
TEST(Frame, CutShortAnywhereInsideIsAViolation) {
  const auto payload = one_of_each();
  std::vector<std::size_t> ends{0};
  for (std::size_t at = 0; at < payload.size();) {
    const auto length = (std::to_integer<std::size_t>(payload[at + 1]) << 16) |
                        (std::to_integer<std::size_t>(payload[at + 2]) << 8) |
                        std::to_integer<std::size_t>(payload[at + 3]);
    ends.push_back(at += kFrameHeaderBytes + length);
  }
  for (std::size_t length = 0; length <= payload.size(); ++length)
    EXPECT_EQ(decodes(std::span(payload).first(length)), std::ranges::find(ends, length) != ends.end()) << length;
}

TEST(Frame, AnyChangedByteGivesAFrameOrAViolationAndNothingElse) {
  const auto payload = one_of_each();
  for (std::size_t at = 0; at < payload.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      auto changed = payload;
      changed[at] = static_cast<std::byte>(value);
      decodes(changed);
    }
}

TEST(Frame, OpensNoServiceOfAnotherNameThanTheSpecAllows) {
  for (const std::string& name : {std::string("d b"), std::string("\n"), std::string("db=1"), std::string(32, 'x')}) {
    std::vector<std::byte> out;
    append_frame(out, {4, Open{name}});
    EXPECT_FALSE(decodes(out)) << name;
  }
}

/// Proves: threat-model.peer-texts
TEST(Frame, ShowsNoControlCharactersOfThePeer) {
  std::vector<std::byte> out;
  append_frame(out, {0, Reset{ResetCause::refused, 0, "\x1b[2Jgone\n"}});
  EXPECT_EQ(std::get<Reset>(decode_all(out)[0].body).text, "?[2Jgone?");
}

/// Proves: stream.text-limit, threat-model.peer-texts
TEST(Frame, CutsALongTextToTheLimitOfTheSpec) {
  std::vector<std::byte> out;
  append_frame(out, {0, Reset{ResetCause::refused, 0, std::string(1000, 'x')}});
  EXPECT_EQ(std::get<Reset>(decode_all(out)[0].body).text.size(), 256U);
  ASSERT_EQ(std::to_integer<int>(out[3]), 5) << "of 5 + 256";
  out[3] = std::byte{6};
  out.push_back(std::byte{'x'});
  EXPECT_FALSE(decodes(out)) << "nor is a longer one taken";
}

TEST(Frame, OfTheSessionMustNotNameAStream) {
  std::vector<std::byte> out;
  append_frame(out, {7, Ping{1}});
  EXPECT_FALSE(decodes(out));
  out.clear();
  append_frame(out, {kSessionStream, Open{}});
  EXPECT_FALSE(decodes(out));
}

}  // namespace
}  // namespace udtcat::connection
