// SPDX-License-Identifier: Apache-2.0
#include <udtcat/key.hpp>

#include <algorithm>

#include <openssl/rand.h>

#include "lib/core/try.hpp"
#include "lib/crypto/key_file.hpp"
#include "lib/crypto/key_text.hpp"
#include "lib/crypto/openssl.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat {

namespace {

constexpr std::string_view kPrefix = "udtcat1-";  // spec: docs/spec/handshake.md §1

}  // namespace

Result<Key> Key::generate() {
  Key key;
  if (RAND_priv_bytes(crypto::uchars(key.bytes_.data()), static_cast<int>(kBytes)) != 1)
    return crypto::openssl_failed("make a key");
  return key;
}

Key Key::of(std::span<const std::byte, kBytes> bytes) {
  Key key;
  std::ranges::copy(bytes, key.bytes_.begin());
  return key;
}

Result<Key> Key::parse(std::string_view text) {
  UDTCAT_TRY(const crypto::Secret32 secret, crypto::secret_from_text(kPrefix, text));
  return of(secret.bytes());
}

Result<Key> Key::from_file(const std::string& path, FromFile kind) {
  return crypto::secret_from_file(path, kind, parse);
}

Key::Key(Key&& other) noexcept : bytes_(other.bytes_) { crypto::erase(other.bytes_); }

Key& Key::operator=(Key&& other) noexcept {
  if (this != &other) {
    bytes_ = other.bytes_;
    crypto::erase(other.bytes_);
  }
  return *this;
}

Key::~Key() { crypto::erase(bytes_); }

Key Key::duplicate() const {
  Key copy;
  copy.bytes_ = bytes_;
  return copy;
}

bool operator==(const Key& one, const Key& other) { return crypto::same(one.bytes_, other.bytes_); }

std::string Key::reveal_text() const { return crypto::secret_to_text(kPrefix, bytes_); }

}  // namespace udtcat
