// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/packet.hpp"

#include <utility>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "support/spec_example.hpp"

namespace udtcat::transport::native {
namespace {

using SequenceRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

SequenceRanges decoded(std::span<const std::byte> body) {
  SequenceRanges ranges;
  for (const auto& [first, last] : decode_loss_list(body)) ranges.emplace_back(first, last);
  return ranges;
}

TEST(Packet, DataHeaderIsWhatTheSpecificationShows) {
  std::array<std::byte, kHeaderBytes> packet{};
  encode(DataHeader{0x26737ecd, 0xc0000001, 10'000, 0x2fd3ab96}, packet);
  EXPECT_EQ(udtcat::test::to_hex(packet),
            udtcat::test::to_hex(udtcat::test::SpecExample("udt4.md", "packets").bytes("data header")));
}

TEST(Packet, NakIsWhatTheSpecificationShows) {
  std::vector<std::uint32_t> words;
  append_loss(words, {1000, 1000});
  append_loss(words, {1002, 1010});
  const auto packet = encode(ControlHeader{ControlType::nak, 0, 0, 0, 0x2fd3ab96}, words);
  EXPECT_EQ(udtcat::test::to_hex(packet),
            udtcat::test::to_hex(udtcat::test::SpecExample("udt4.md", "packets").bytes("nak")));
}

TEST(Packet, DataHeaderSurvivesItsEncoding) {
  std::array<std::byte, kHeaderBytes> packet{};
  encode(DataHeader{0x7fffffff, 0x12345678, 0xfedcba98, 0x7eadbeef}, packet);
  EXPECT_FALSE(is_control(packet));
  EXPECT_EQ(destination_of(packet), 0x7eadbeefU);
  const DataHeader header = decode_data_header(packet);
  EXPECT_EQ(header.sequence, 0x7fffffffU);
  EXPECT_EQ(header.message, 0x12345678U);
  EXPECT_EQ(header.timestamp_us, 0xfedcba98U);
  EXPECT_EQ(header.destination, 0x7eadbeefU);
}

TEST(Packet, ControlHeaderAndWordsAreDecodedAsTheyWereEncoded) {
  const std::vector<std::uint32_t> words{1, 0xffffffff, 0x80000000};
  const auto packet = encode(ControlHeader{ControlType::user, 3, 0x11223344, 55, 66}, words);
  ASSERT_EQ(packet.size(), kHeaderBytes + 12);
  EXPECT_TRUE(is_control(packet));
  const ControlHeader header = decode_control_header(packet);
  EXPECT_EQ(header.type, ControlType::user);
  EXPECT_EQ(header.subtype, 3);
  EXPECT_EQ(header.additional, 0x11223344U);
  EXPECT_EQ(header.timestamp_us, 55U);
  EXPECT_EQ(header.destination, 66U);
  const auto body = std::span(packet).subspan(kHeaderBytes);
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(word_at(body, i), words[i]);
}

TEST(Packet, HasNoDestinationWhenItIsShorterThanItsHeader) {
  const std::vector<std::byte> packet(kHeaderBytes);
  for (std::size_t bytes = 0; bytes < kHeaderBytes; ++bytes)
    EXPECT_FALSE(destination_of(std::span(packet).first(bytes)));
  EXPECT_EQ(destination_of(packet), 0U);
}

TEST(Packet, HasNoWordThatIsCutOff) {
  const std::vector<std::byte> body(11);
  EXPECT_TRUE(word_at(body, 1));
  EXPECT_FALSE(word_at(body, 2));
  EXPECT_FALSE(word_at(body, SIZE_MAX));
  EXPECT_FALSE(word_at({}, 0));
}

TEST(LossList, SurvivesItsEncoding) {
  const SequenceRanges list{{5, 5}, {7, 9}, {0x7fffffff, 0x7fffffff}, {0x7ffffff0, 3}};
  std::vector<std::uint32_t> words;
  for (const auto& [from, to] : list) append_loss(words, {from, to});
  EXPECT_EQ(words.size(), 6U);
  EXPECT_EQ(decoded(body_of(words)), list);
}

/// Proves: udt4.senseless-ignored
TEST(LossList, EndsAtAnInvalidRange) {
  using Words = std::vector<std::uint32_t>;
  const SequenceRanges first{{5, 5}};
  EXPECT_EQ(decoded(body_of(Words{5, 0x80000007})), first) << "cut off";
  EXPECT_EQ(decoded(body_of(Words{5, 0x80000007, 0x80000009, 11})), first) << "two firsts";
  EXPECT_TRUE(decode_loss_list({}).empty());
}

TEST(LossList, IsDecodedHoweverDamaged) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 10; ++i) append_loss(words, {i * 10, i * 10 + i % 3});
  for_each_damage(body_of(words), [](const auto& body) {
    const auto list = decode_loss_list(body);
    EXPECT_LE(list.size(), body.size() / 4);
    for (const auto& [first, last] : list) EXPECT_EQ((first | last) >> 31, 0U);
  });
}

}  // namespace
}  // namespace udtcat::transport::native
