// SPDX-License-Identifier: Apache-2.0
#include <udtcat/key.hpp>

#include <type_traits>

#include <gtest/gtest.h>

#include "support/spec_example.hpp"

namespace udtcat {
namespace {

static_assert(!std::is_copy_constructible_v<Key> && !std::is_copy_assignable_v<Key>);

constexpr std::string_view kText = "udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p";

std::string error_of(std::string_view text) {
  const auto key = Key::parse(text);
  EXPECT_FALSE(key);
  if (key) return {};
  EXPECT_EQ(key.error().code, Errc::bad_argument);
  return key.error().message();
}

TEST(Key, HasTheTextOfTheSpec) {
  const test::SpecExample example("handshake.md", "key");
  const auto key = Key::parse(example.text("text"));
  ASSERT_TRUE(key);
  EXPECT_EQ(test::to_hex(key->bytes()), test::to_hex(example.bytes("key")));
  EXPECT_EQ(key->reveal_text(), example.text("text"));
}

TEST(Key, UsesTheUrlAlphabet) {
  constexpr std::string_view kText2 = "udtcat1-4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v-UMsGn";
  const auto key = Key::parse(kText2);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->bytes()[31], std::byte{0xff});
  EXPECT_EQ(key->reveal_text(), kText2);
}

TEST(Key, IsDifferentEachTime) {
  const auto one = Key::generate();
  const auto two = Key::generate();
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->reveal_text(), two->reveal_text());
  EXPECT_EQ(one->reveal_text().size(), 56U);
  EXPECT_EQ(Key::parse(one->reveal_text())->reveal_text(), one->reveal_text());
}

TEST(Key, IgnoresSpaceAroundIt) { EXPECT_TRUE(Key::parse(" \t" + std::string(kText) + "\r\n")); }

TEST(Key, TellsATypingErrorFromAWrongKey) {
  for (std::size_t at = 8; at < kText.size(); ++at) {
    std::string text(kText);
    text[at] = text[at] == 'B' ? 'C' : 'B';
    EXPECT_NE(error_of(text).find("check"), std::string::npos) << at;
  }
}

TEST(Key, RefusesEveryTruncationAndMore) {
  for (std::size_t length = 0; length < kText.size(); ++length) EXPECT_NE(error_of(kText.substr(0, length)), "");
  EXPECT_NE(error_of(std::string(kText) + "A").find("49 characters"), std::string::npos);
}

TEST(Key, RefusesEveryCharacterOutsideTheAlphabet) {
  for (int code = 0; code < 256; ++code) {
    const char character = static_cast<char>(code);
    if (std::isalnum(code) != 0 || character == '-' || character == '_') continue;
    std::string text(kText);
    text[20] = character;
    EXPECT_NE(error_of(text).find("character"), std::string::npos) << code;
  }
}

TEST(Key, NeverQuotesTheText) {
  for (const std::string text :
       {"udtcat1-SECRETsecret", "SECRETsecret", "udtcat1-SECRETsecret+++++++++++++++++++++++++++++++++++++"})
    EXPECT_EQ(error_of(text).find("SECRET"), std::string::npos);
}

TEST(Key, IsErasedWhereItMovesFrom) {
  Key from = *Key::parse(kText);
  Key to = std::move(from);
  EXPECT_EQ(from.bytes()[31], std::byte{0});  // NOLINT: the erased source is the point
  from = std::move(to);
  EXPECT_EQ(to.bytes()[31], std::byte{0});  // NOLINT: the erased source is the point
  EXPECT_EQ(from.reveal_text(), kText);
  EXPECT_EQ(from.duplicate().reveal_text(), kText);
}

}  // namespace
}  // namespace udtcat
