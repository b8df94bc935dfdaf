// SPDX-License-Identifier: Apache-2.0
#include <udtcat/key_pair.hpp>

#include <type_traits>

#include <gtest/gtest.h>

#include "support/spec_example.hpp"
#include "support/temp_dir.hpp"

namespace udtcat {
namespace {

static_assert(!std::is_copy_constructible_v<KeyPair> && !std::is_copy_assignable_v<KeyPair>);

const test::SpecExample kPairExample("handshake.md", "key pair");

PublicKey public_key() { return PublicKey::parse(kPairExample.text("public")).value(); }
std::string base64() { return kPairExample.text("public").substr(std::string("udtcat-ed25519 ").size()); }

std::string public_key_error(const std::string& text) {
  const auto key = PublicKey::parse(text);
  EXPECT_FALSE(key) << text;
  return key ? "" : key.error().message();
}

TEST(KeyPair, HasTheTextsOfTheSpec) {
  const auto pair = KeyPair::parse(kPairExample.text("private"));
  ASSERT_TRUE(pair);
  EXPECT_EQ(test::to_hex(pair->secret()), test::to_hex(kPairExample.bytes("secret")));
  EXPECT_EQ(pair->reveal_text(), kPairExample.text("private"));
  EXPECT_EQ(pair->public_key().to_string(), kPairExample.text("public"));
}

TEST(KeyPair, IsDifferentEachTime) {
  const auto one = KeyPair::generate().value();
  const auto two = KeyPair::generate().value();
  EXPECT_NE(one.public_key(), two.public_key());
  EXPECT_EQ(KeyPair::parse(one.reveal_text() + "\n")->public_key(), one.public_key());
}

TEST(KeyPair, TellsATypingErrorAtEveryCharacter) {
  const std::string right = kPairExample.text("private");
  for (std::size_t at = std::string("udtcat-ed25519-secret-").size(); at < right.size(); ++at) {
    std::string text = right;
    text[at] = text[at] == 'B' ? 'C' : 'B';
    EXPECT_NE(KeyPair::parse(text).error().message().find("check"), std::string::npos) << at;
  }
}

TEST(KeyPair, RefusesEveryTruncationAndNeverQuotes) {
  const std::string right = kPairExample.text("private");
  for (std::size_t length = 0; length < right.size(); ++length) {
    const auto cut = KeyPair::parse(right.substr(0, length));
    ASSERT_FALSE(cut) << length;
    EXPECT_EQ(cut.error().message().find("AAECAw"), std::string::npos);
  }
}

TEST(KeyPair, IsErasedWhereItMovesFrom) {
  KeyPair pair = KeyPair::generate().value();
  const KeyPair moved = std::move(pair);
  EXPECT_EQ(test::to_hex(pair.secret()), std::string(64, '0'));
  EXPECT_NE(test::to_hex(moved.secret()), std::string(64, '0'));
}

TEST(PublicKey, IsReadFromItsLineWithACommentOrAlone) {
  for (const std::string& text : {kPairExample.text("public"), base64(), kPairExample.text("public") + " me@here\n",
                                  "  udtcat-ed25519\t" + base64() + "  a longer comment"})
    EXPECT_EQ(PublicKey::parse(text).value(), public_key()) << text;
}

TEST(PublicKey, IsReadFromNothingElse) {
  EXPECT_NE(public_key_error(base64() + " comment").find("too many words"), std::string::npos);
  EXPECT_NE(public_key_error("udtcat-ed25519").find("0 characters"), std::string::npos);
  EXPECT_NE(public_key_error(kPairExample.text("private")).find("private half"), std::string::npos);
  EXPECT_NE(public_key_error("ssh-ed25519 " + base64()).find("too many words"), std::string::npos);
  for (std::size_t length = 0; length < base64().size(); ++length) public_key_error(base64().substr(0, length));
}

TEST(PublicKey, HasOneTextOnly) {
  std::string loose = base64();
  ASSERT_EQ(loose.back(), '=');
  loose[42] = static_cast<char>(loose[42] + 1);  // two bits of it say nothing
  EXPECT_NE(public_key_error(loose).find("base64"), std::string::npos);
  for (const char strange : {'-', '_', '\n', '=', '\0', '\x80'}) {
    std::string text = base64();
    text[20] = strange;
    EXPECT_FALSE(PublicKey::parse(text)) << static_cast<int>(strange);
  }
}

TEST(PublicKey, IsAnotherWithEveryCharacterChanged) {
  for (std::size_t at = 0; at + 2 < base64().size(); ++at) {
    std::string text = base64();
    text[at] = text[at] == 'B' ? 'C' : 'B';
    EXPECT_NE(PublicKey::parse(text).value(), public_key()) << at;
  }
}

class SecretKeyFile : public testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& text, unsigned mode = 0600) const {
    return home_.write("secret", text, mode);
  }
  test::TempDir home_;
};

TEST_F(SecretKeyFile, IsOfTheKindThatItsTextSays) {
  const auto pair = secret_key_from_file(write(" " + kPairExample.text("private") + "\n"));
  ASSERT_TRUE(pair) << pair.error().message();
  EXPECT_EQ(std::get<KeyPair>(*pair).public_key(), public_key());
}

TEST_F(SecretKeyFile, MayHoldASharedKey) {
  const auto shared = secret_key_from_file(write(Key::generate()->reveal_text()));
  ASSERT_TRUE(shared) << shared.error().message();
  EXPECT_TRUE(std::holds_alternative<Key>(*shared));
}

TEST_F(SecretKeyFile, ThatOthersCanReadIsRefusedOfEitherKind) {
  const auto open = secret_key_from_file(write(kPairExample.text("private"), 0640));
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message().find("chmod 600"), std::string::npos);
}

TEST_F(SecretKeyFile, IsReadAsAKeyPairByTheSameRules) {
  EXPECT_EQ(KeyPair::from_file(write(kPairExample.text("private")))->public_key(), public_key());
}

}  // namespace
}  // namespace udtcat
