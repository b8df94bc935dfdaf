// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/names.hpp"

#include <gtest/gtest.h>

#include "support/spec_example.hpp"

namespace udtcat::meeting {
namespace {

using test::SpecExample;
using test::to_hex;

Key key_of(const test::Bytes& bytes) { return Key::of(std::span<const std::byte>(bytes).first<Key::kBytes>()); }

TEST(Names, OfASharedKeyAreTheSameAtBothEnds) {
  const SpecExample example("meet.md", "name");
  const Credentials credentials(key_of(example.bytes("key")));
  const auto own = own_name(credentials);
  ASSERT_TRUE(own);
  EXPECT_EQ(to_hex((*own)->secret()), to_hex(example.bytes("private key")));
  EXPECT_EQ(to_hex((*own)->public_key().bytes()), to_hex(example.bytes("name")));
  EXPECT_EQ(listener_name(credentials), (*own)->public_key());
}

/// Proves: meet.listener-key-known
TEST(Names, OfAKeyPairAreItsPublicHalf) {
  const auto pair = std::make_shared<const KeyPair>(*KeyPair::generate());
  const auto listener = KeyPair::generate()->public_key();
  const Credentials known(PairCredentials{pair, nullptr, listener});
  EXPECT_EQ((*own_name(known))->public_key(), pair->public_key());
  EXPECT_EQ(listener_name(known), listener);
  EXPECT_EQ(listener_name(PairCredentials{pair, nullptr, std::nullopt}).error().code, Errc::bad_argument);
}

TEST(Names, OfAPublicPlaceHasAKeyThatEverybodyKnows) {
  EXPECT_EQ(to_hex(public_place_key()->bytes()), to_hex(SpecExample("meet.md", "public place").bytes("key")));
}

}  // namespace
}  // namespace udtcat::meeting
