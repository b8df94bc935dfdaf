// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/aead.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <openssl/err.h>

#include "support/bytes.hpp"

namespace udtcat::crypto {
namespace {

using test::array_of;
using test::Bytes;
using test::bytes_of;
using test::from_hex;
using test::to_hex;

using Nonce = std::array<std::byte, kNonceBytes>;
using Tag = std::array<std::byte, kTagBytes>;

constexpr std::array<Cipher, 3> kCiphers{Cipher::aes_256_gcm, Cipher::aes_128_gcm, Cipher::chacha20_poly1305};

Aead make(Cipher cipher, AeadDirection direction, std::byte fill = std::byte{0x42}) {
  return std::move(*Aead::create(cipher, direction, Bytes(Aead::key_bytes(cipher), fill)));
}

struct Sealed {
  Bytes payload;
  Tag tag{};
};

Sealed seal(Aead& aead, const Nonce& nonce, const Bytes& aad, Bytes payload) {
  Sealed sealed{std::move(payload)};
  EXPECT_TRUE(aead.seal(nonce, aad, sealed.payload, sealed.tag));
  return sealed;
}

struct Vector {
  const char* name;
  Cipher cipher;
  const char* key;
  const char* nonce;
  const char* aad;
  const char* plaintext;
  const char* ciphertext;
  const char* tag;
};

constexpr const char* kMcGrewPlaintext =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba"
    "637b39";
constexpr const char* kMcGrewAad = "feedfacedeadbeeffeedfacedeadbeefabaddad2";

// McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B; NIST CAVP gcmEncryptExtIV256; RFC 8439 §2.8.2.
constexpr std::array<Vector, 7> kVectors{{
    {"McGrew 1", Cipher::aes_128_gcm, "00000000000000000000000000000000", "000000000000000000000000", "", "", "",
     "58e2fccefa7e3061367f1d57a4e7455a"},
    {"McGrew 4", Cipher::aes_128_gcm, "feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888", kMcGrewAad,
     kMcGrewPlaintext,
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973"
     "d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"McGrew 13", Cipher::aes_256_gcm, "0000000000000000000000000000000000000000000000000000000000000000",
     "000000000000000000000000", "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {"McGrew 14", Cipher::aes_256_gcm, "0000000000000000000000000000000000000000000000000000000000000000",
     "000000000000000000000000", "", "00000000000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18",
     "d0d1c8a799996bf0265b98b5d48ab919"},
    {"McGrew 16", Cipher::aes_256_gcm, "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888", kMcGrewAad, kMcGrewPlaintext,
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0ab"
     "cc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
    {"NIST, AAD only", Cipher::aes_256_gcm, "78dc4e0aaf52d935c3c01eea57428f00ca1fd475f5da86a49c8dd73d68c8e223",
     "d79cf22d504cc793c3fb6c8a", "b96baa8c1c75a671bfb2d08d06be5f36", "", "", "3e5d486aa2e30b22e040b85723a06e76"},
    {"RFC 8439 2.8.2", Cipher::chacha20_poly1305, "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
     "070000004041424344454647", "50515253c0c1c2c3c4c5c6c7",
     "4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a204966204920636f756c64206f66666"
     "57220796f75206f6e6c79"
     "206f6e652074697020666f7220746865206675747572652c2073756e73637265656e20776f756c642062652069742e",
     "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b290"
     "5d6a5b67ecd3b3692ddbd"
     "7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116",
     "1ae10b594f09e26a7e902ecbd0600691"},
}};

TEST(Aead, GivesThePublishedVectors) {
  for (const Vector& vector : kVectors) {
    SCOPED_TRACE(vector.name);
    const auto nonce = array_of<kNonceBytes>(from_hex(vector.nonce));
    auto sealer = Aead::create(vector.cipher, AeadDirection::seal, from_hex(vector.key));
    auto opener = Aead::create(vector.cipher, AeadDirection::open, from_hex(vector.key));
    ASSERT_TRUE(sealer && opener);
    Sealed sealed = seal(*sealer, nonce, from_hex(vector.aad), from_hex(vector.plaintext));
    EXPECT_EQ(to_hex(sealed.payload), vector.ciphertext);
    EXPECT_EQ(to_hex(sealed.tag), vector.tag);
    ASSERT_TRUE(opener->open(nonce, from_hex(vector.aad), sealed.payload, sealed.tag));
    EXPECT_EQ(to_hex(sealed.payload), vector.plaintext);
  }
}

TEST(Aead, StaysKeyedFromBlockToBlock) {
  for (const Cipher cipher : kCiphers) {
    Aead sealer = make(cipher, AeadDirection::seal);
    Aead opener = make(cipher, AeadDirection::open);
    for (std::size_t size : {0U, 1U, 15U, 16U, 17U, 4096U, 100'000U, 1U, 0U}) {
      const Nonce nonce{std::byte(size & 0xff), std::byte(size >> 8 & 0xff)};
      Sealed sealed = seal(sealer, nonce, bytes_of("header"), Bytes(size, std::byte{7}));
      ASSERT_TRUE(opener.open(nonce, bytes_of("header"), sealed.payload, sealed.tag)) << size;
      EXPECT_EQ(sealed.payload, Bytes(size, std::byte{7}));
    }
  }
}

TEST(Aead, AuthenticatesWhatItDoesNotEncrypt) {
  const Bytes everything(100'000, std::byte{3});  // at `safe` header and payload are the associated data
  for (const Cipher cipher : kCiphers) {
    Aead sealer = make(cipher, AeadDirection::seal);
    Aead opener = make(cipher, AeadDirection::open);
    for (const Bytes& aad : {Bytes{}, everything}) {
      const Sealed sealed = seal(sealer, Nonce{}, aad, {});
      EXPECT_TRUE(opener.open(Nonce{}, aad, {}, sealed.tag));
    }
    const Sealed sealed = seal(sealer, Nonce{}, everything, {});
    Bytes changed = everything;
    changed.back() ^= std::byte{1};
    EXPECT_EQ(opener.open(Nonce{}, changed, {}, sealed.tag).error().code, Errc::tampered);
  }
}

// Every bit of every part, and nothing of a forgery is left to be used.
TEST(Aead, RefusesEveryChangedByte) {
  const Bytes aad = bytes_of("record header 16");
  const Bytes payload = bytes_of("a small message that nobody may change");
  for (const Cipher cipher : kCiphers) {
    Aead sealer = make(cipher, AeadDirection::seal);
    Aead opener = make(cipher, AeadDirection::open);
    const Sealed sealed = seal(sealer, Nonce{}, aad, payload);
    Bytes whole = aad;
    whole.insert(whole.end(), sealed.payload.begin(), sealed.payload.end());
    whole.insert(whole.end(), sealed.tag.begin(), sealed.tag.end());
    for (std::size_t at = 0; at < whole.size(); ++at) {
      Bytes forged = whole;
      forged[at] ^= std::byte{0x80};
      const auto body = std::span(forged).subspan(aad.size(), payload.size());
      const Status opened =
          opener.open(Nonce{}, std::span(forged).first(aad.size()), body, std::span(forged).last<kTagBytes>());
      ASSERT_FALSE(opened) << "byte " << at;
      EXPECT_EQ(opened.error().code, Errc::tampered);
      EXPECT_EQ(Bytes(body.begin(), body.end()), Bytes(payload.size()));
      EXPECT_EQ(ERR_peek_error(), 0U);
    }
    Sealed intact = sealed;
    EXPECT_TRUE(opener.open(Nonce{}, aad, intact.payload, intact.tag)) << "an opener goes on after a forgery";
  }
}

TEST(Aead, RefusesEveryTruncation) {
  for (const Cipher cipher : kCiphers) {
    Aead sealer = make(cipher, AeadDirection::seal);
    Aead opener = make(cipher, AeadDirection::open);
    const Sealed sealed = seal(sealer, Nonce{}, {}, bytes_of("sixteen and more bytes"));
    for (std::size_t length = 0; length < sealed.payload.size(); ++length) {
      Bytes cut(sealed.payload.begin(), sealed.payload.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_EQ(opener.open(Nonce{}, {}, cut, sealed.tag).error().code, Errc::tampered) << length;
    }
  }
}

TEST(Aead, RefusesAnotherNonceAndAnotherKey) {
  for (const Cipher cipher : kCiphers) {
    Aead sealer = make(cipher, AeadDirection::seal);
    Aead opener = make(cipher, AeadDirection::open);
    Aead stranger = make(cipher, AeadDirection::open, std::byte{0x43});
    Sealed sealed = seal(sealer, Nonce{}, {}, bytes_of("payload"));
    Sealed copy = sealed;
    EXPECT_EQ(opener.open(Nonce{std::byte{1}}, {}, sealed.payload, sealed.tag).error().code, Errc::tampered);
    EXPECT_EQ(stranger.open(Nonce{}, {}, copy.payload, copy.tag).error().code, Errc::tampered);
  }
}

TEST(Aead, RekeysInPlace) {
  for (const Cipher cipher : kCiphers) {
    const Bytes new_key(Aead::key_bytes(cipher), std::byte{0x55});
    Aead sealer = make(cipher, AeadDirection::seal);
    Aead opener = make(cipher, AeadDirection::open);
    const Sealed before = seal(sealer, Nonce{}, {}, bytes_of("payload"));
    ASSERT_TRUE(sealer.rekey(new_key) && opener.rekey(new_key));
    Sealed after = seal(sealer, Nonce{}, {}, bytes_of("payload"));
    EXPECT_NE(before.payload, after.payload);
    ASSERT_TRUE(opener.open(Nonce{}, {}, after.payload, after.tag));
    EXPECT_EQ(after.payload, bytes_of("payload"));
  }
}

TEST(AeadDeathTest, SealsOrOpensNeverBoth) {
  Aead opener = make(Cipher::aes_256_gcm, AeadDirection::open);
  Tag tag{};
  EXPECT_DEATH(std::ignore = opener.seal(Nonce{}, {}, {}, tag), "seals or opens");
}

TEST(FastestCipher, IsOneOfTwoAndStays) {
  const Cipher fastest = fastest_256_bit_cipher();
  EXPECT_EQ(Aead::key_bytes(fastest), 32U);
  EXPECT_EQ(fastest_256_bit_cipher(), fastest);
}

}  // namespace
}  // namespace udtcat::crypto
