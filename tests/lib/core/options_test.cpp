// SPDX-License-Identifier: Apache-2.0
#include <udtcat/options.hpp>

#include <gtest/gtest.h>

#include "lib/core/user_text.hpp"

namespace udtcat {
namespace {

TEST(Options, NamesSurviveTheirParsing) {
  for (const auto protection : {Protection::clear, Protection::auth, Protection::safe, Protection::private_})
    EXPECT_EQ(core::parse_protection(to_string(protection)), protection);
  for (const auto cipher : {Cipher::aes_256_gcm, Cipher::aes_128_gcm, Cipher::chacha20_poly1305})
    EXPECT_EQ(core::parse_cipher(to_string(cipher)), cipher);
  EXPECT_EQ(core::parse_transport(to_string(TransportKind::libudt)), TransportKind::libudt);
}

TEST(Options, NamesAreTheOnesOfTheTables) {
  EXPECT_EQ(to_string(Protection::private_), "private");
  EXPECT_EQ(to_string(Cipher::chacha20_poly1305), "chacha20-poly1305");
}

TEST(Options, AnEndsNameIsShortAndPrintable) {
  for (const char* name : {"a", "backup-1", "!", "~", "host.example.org:9000"}) EXPECT_TRUE(is_end_name(name)) << name;
  for (const char* name : {"", " ", "a b", "a\n", "\x7f", "\x1b[m",
                           "n\xc3\xa4"
                           "me"})
    EXPECT_FALSE(is_end_name(name)) << name;
  EXPECT_TRUE(is_end_name(std::string(kMaxEndNameBytes, 'a')));
  EXPECT_FALSE(is_end_name(std::string(kMaxEndNameBytes + 1, 'a')));
}

TEST(Options, UnknownNamesAreNone) {
  for (const char* name : {"", "Private", "private ", "aes"}) {
    EXPECT_FALSE(core::parse_protection(name));
    EXPECT_FALSE(core::parse_cipher(name));
    EXPECT_FALSE(core::parse_transport(name));
  }
}

}  // namespace
}  // namespace udtcat
