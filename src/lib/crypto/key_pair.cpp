// SPDX-License-Identifier: Apache-2.0
#include <udtcat/key_pair.hpp>

#include <algorithm>

#include <openssl/rand.h>

#include "lib/core/invariant.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/crypto/key_file.hpp"
#include "lib/crypto/key_text.hpp"
#include "lib/crypto/openssl.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat {

namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";
constexpr std::string_view kSecretPrefix = "udtcat-ed25519-secret-";  // spec: docs/spec/handshake.md §1
constexpr std::size_t kBase64Characters = 44;                         // spec: RFC 4648 §4, of 32 bytes

// OpenSSL ends what it writes with a zero byte, and pads to whole groups of three what it reads.
using Encoded = std::array<unsigned char, kBase64Characters + 1>;
using Decoded = std::array<std::byte, PublicKey::kBytes + 1>;

std::string to_base64(std::span<const std::byte, PublicKey::kBytes> bytes) {
  Encoded encoded{};
  const int length = EVP_EncodeBlock(encoded.data(), crypto::uchars(bytes.data()), static_cast<int>(bytes.size()));
  UDTCAT_INVARIANT(length == static_cast<int>(kBase64Characters), "32 bytes have 44 characters");
  return {encoded.begin(), encoded.end() - 1};
}

tl::unexpected<Error> not_a_public_key(std::string why) {
  return fail(Errc::bad_argument, "read a public key",
              std::move(why) + "; it looks like udtcat-ed25519 and 44 characters, as udtcat keygen --pair prints it");
}

/// Removes and returns the first word of `text`.
std::string_view take_word(std::string_view& text) {
  text = core::trimmed(text, kBlanks);
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

PublicKey::PublicKey(std::span<const std::byte, kBytes> bytes) : bytes_{} { std::ranges::copy(bytes, bytes_.begin()); }

Result<PublicKey> PublicKey::parse(std::string_view text) {
  std::string_view word = take_word(text);
  const bool named = word == kPrefix;
  if (named) word = take_word(text);
  if (!named && !core::trimmed(text, kBlanks).empty()) return not_a_public_key("it has too many words");
  if (word.starts_with(kSecretPrefix)) return not_a_public_key("this is the private half, which nobody else may see");
  if (word.size() != kBase64Characters)
    return not_a_public_key("it has " + std::to_string(word.size()) + " characters, not 44");
  Decoded decoded{};
  const std::string characters(word);
  // SAFETY: unsigned char may alias anything.
  const auto* in = reinterpret_cast<const unsigned char*>(characters.data());
  const int length = EVP_DecodeBlock(crypto::uchars(decoded.data()), in, static_cast<int>(characters.size()));
  const PublicKey key(std::span<const std::byte>(decoded).first<kBytes>());
  // Each key has one text only: OpenSSL ignores blanks and unused bits.
  if (length != static_cast<int>(decoded.size()) || to_base64(key.bytes_) != word)
    return not_a_public_key("it is not the base64 of 32 bytes");
  return key;
}

std::string PublicKey::to_string() const { return std::string(kPrefix) + " " + to_base64(bytes_); }

Result<KeyPair> KeyPair::of(std::span<const std::byte, kSecretBytes> secret) {
  const crypto::EvpKey pair(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, crypto::uchars(secret.data()), secret.size()));
  std::array<std::byte, PublicKey::kBytes> half{};
  std::size_t length = half.size();
  if (!pair || EVP_PKEY_get_raw_public_key(pair.get(), crypto::uchars(half.data()), &length) != 1)
    return crypto::openssl_failed("make a key pair");
  return KeyPair(secret, PublicKey(half));
}

Result<KeyPair> KeyPair::generate() {
  crypto::Secret32 secret;
  if (RAND_priv_bytes(crypto::uchars(secret.writable().data()), static_cast<int>(kSecretBytes)) != 1)
    return crypto::openssl_failed("make a key pair");
  return of(secret.bytes());
}

Result<KeyPair> KeyPair::parse(std::string_view text) {
  UDTCAT_TRY(const crypto::Secret32 secret, crypto::secret_from_text(kSecretPrefix, text));
  return of(secret.bytes());
}

Result<KeyPair> KeyPair::from_file(const std::string& path, Key::FromFile kind) {
  return crypto::secret_from_file(path, kind, parse);
}

KeyPair::KeyPair(std::span<const std::byte, kSecretBytes> secret, const PublicKey& public_key)
    : secret_{}, public_key_(public_key) {
  std::ranges::copy(secret, secret_.begin());
}

KeyPair::KeyPair(KeyPair&& other) noexcept : secret_(other.secret_), public_key_(other.public_key_) {
  crypto::erase(other.secret_);
}

KeyPair& KeyPair::operator=(KeyPair&& other) noexcept {
  if (this != &other) {
    secret_ = other.secret_;
    public_key_ = other.public_key_;
    crypto::erase(other.secret_);
  }
  return *this;
}

KeyPair::~KeyPair() { crypto::erase(secret_); }

std::string KeyPair::reveal_text() const { return crypto::secret_to_text(kSecretPrefix, secret_); }

Result<SecretKey> secret_key_from_file(const std::string& path) {
  return crypto::secret_from_file(path, Key::FromFile::any_kind, [](std::string_view text) -> Result<SecretKey> {
    if (core::trimmed(text, kBlanks).starts_with(kSecretPrefix)) {
      UDTCAT_TRY(KeyPair pair, KeyPair::parse(text));
      return pair;
    }
    UDTCAT_TRY(Key key, Key::parse(text));
    return key;
  });
}

}  // namespace udtcat
