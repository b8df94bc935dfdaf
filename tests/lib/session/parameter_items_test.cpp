// SPDX-License-Identifier: Apache-2.0
#include "lib/session/parameter_items.hpp"

#include <gtest/gtest.h>

#include "lib/session/parameters.hpp"
#include "support/bytes.hpp"

namespace udtcat::session {
namespace {

using test::from_hex;
using test::to_hex;

TEST(ItemWriter, WritesTheGrammar) {
  ItemWriter writer(MessageKind::refusal);
  writer.add_u8(ItemType::protection, 0xab);
  writer.add_u16(ItemType::lanes, 0x0102);
  writer.add_u32(ItemType::block, 0x01020304);
  writer.add(ItemType::reason, {});
  EXPECT_EQ(to_hex(writer.finish()),
            "554454430103001700010001ab0005000201020004000401020304"
            "00080000");
}

TEST(ItemReader, FindsWhatIsThere) {
  const auto body = from_hex("0001 0001 ab  0005 0002 0102  0004 0004 01020304  0008 0000");
  const auto items = ItemReader::read(body);
  ASSERT_TRUE(items);
  EXPECT_EQ(items->u8(ItemType::protection), 0xab);
  EXPECT_EQ(items->u16(ItemType::lanes), 0x0102);
  EXPECT_EQ(items->u32(ItemType::block), 0x01020304U);
  EXPECT_TRUE(items->find(ItemType::reason)->empty());
  EXPECT_FALSE(items->find(ItemType::window));
}

TEST(ItemReader, GivesNoNumberOfAnotherSize) {
  const auto body = from_hex("0001 0002 00ab  0005 0000");
  const auto items = ItemReader::read(body);
  ASSERT_TRUE(items);
  EXPECT_FALSE(items->u8(ItemType::protection));
  EXPECT_FALSE(items->u16(ItemType::lanes));
  EXPECT_FALSE(items->u32(ItemType::block));
}

TEST(ItemReader, RefusesTruncatedAndDuplicateItems) {
  for (const char* bad : {"00", "000100", "0001 0001", "0001 ffff ab", "ffff 0001", "0001 0001 ab 0001 0001 ab"}) {
    const auto body = from_hex(bad);
    const auto items = ItemReader::read(body);
    ASSERT_FALSE(items) << bad;
    EXPECT_EQ(items.error().code, Errc::protocol_violated);
  }
}

TEST(ItemReader, PassesOverUnknownTypesEvenTwice) {
  const auto body = from_hex("0000 0001 ab 7fff 0000 7fff 0000 ffff 0002 abcd");
  EXPECT_TRUE(ItemReader::read(body));
  EXPECT_TRUE(ItemReader::read({}));
}

TEST(Prefix, NamesKindAndLength) {
  const auto prefix = decode_prefix(from_hex("55445443 01 02 0010"));
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->kind, MessageKind::acceptance);
  EXPECT_EQ(prefix->body_bytes, 16U);
}

TEST(Prefix, BeginsWithTheMagic) {
  EXPECT_TRUE(begins_with_magic(from_hex("55445443")));
  EXPECT_FALSE(begins_with_magic(from_hex("554454")));
  EXPECT_FALSE(begins_with_magic(from_hex("55445442")));
  EXPECT_FALSE(begins_with_magic({}));
}

}  // namespace
}  // namespace udtcat::session
