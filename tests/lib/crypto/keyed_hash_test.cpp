// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/keyed_hash.hpp"

#include <array>

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::crypto {
namespace {

using test::bytes_of;

TEST(KeyedHash, RepeatsItself) {
  auto hash = KeyedHash::create().value();
  const auto first = hash.of(bytes_of("message"));
  ASSERT_TRUE(first);
  EXPECT_EQ(hash.of(bytes_of("another")).has_value(), true);
  EXPECT_EQ(*hash.of(bytes_of("message")), *first);
}

TEST(KeyedHash, TellsMessagesApart) {
  auto hash = KeyedHash::create().value();
  EXPECT_NE(*hash.of(bytes_of("message")), *hash.of(bytes_of("messagf")));
  EXPECT_NE(*hash.of(bytes_of("a")), *hash.of({}));
}

TEST(KeyedHash, HasAKeyOfItsOwn) {
  auto one = KeyedHash::create().value();
  auto other = KeyedHash::create().value();
  EXPECT_NE(*one.of(bytes_of("message")), *other.of(bytes_of("message")));
}

TEST(KeyedHash, IsSipHash24) {
  // spec: the last vector of the paper's appendix A (Aumasson, Bernstein: "SipHash", 2012)
  std::array<std::byte, KeyedHash::kKeyBytes> key{};
  std::array<std::byte, 15> message{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
  EXPECT_EQ(*KeyedHash::create(key).value().of(message), 0xe545'be49'61ca'29a1U);
}

TEST(KeyedHash, IsSipHash24Of128BitsWhereMoreAreAskedFor) {
  // spec: the first of the reference implementation's vectors_sip128
  std::array<std::byte, KeyedHash::kKeyBytes> key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  auto hash = KeyedHash::create(key).value();
  const auto narrow = *hash.of({});
  EXPECT_EQ(test::to_hex(*hash.hash128_of({})), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(*hash.of({}), narrow) << "one after the other, in any order";
}

TEST(KeyedHash, KeepsItsKeyWhenMoved) {
  auto hash = KeyedHash::create().value();
  const auto before = *hash.of(bytes_of("message"));
  auto moved = std::move(hash);
  EXPECT_EQ(*moved.of(bytes_of("message")), before);
}

}  // namespace
}  // namespace udtcat::crypto
