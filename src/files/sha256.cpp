// SPDX-License-Identifier: Apache-2.0
#include "files/sha256.hpp"

#include <algorithm>
#include <string_view>

#include <openssl/evp.h>

#include "lib/core/invariant.hpp"

namespace udtcat::files {

namespace {

/// Fetched once: to look it up takes longer than a short hash.
const EVP_MD* sha256() {
  static const std::unique_ptr<EVP_MD, void (*)(EVP_MD*)> algorithm(EVP_MD_fetch(nullptr, "SHA256", nullptr),
                                                                    EVP_MD_free);
  UDTCAT_INVARIANT(algorithm != nullptr, "every OpenSSL 3 has SHA-256");
  return algorithm.get();
}

void begin_hash(EVP_MD_CTX* context) {
  UDTCAT_INVARIANT(context != nullptr && EVP_DigestInit_ex2(context, sha256(), nullptr) == 1, "SHA-256 takes no key");
}

void add_to_hash(EVP_MD_CTX* context, std::span<const std::byte> bytes) {
  UDTCAT_INVARIANT(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1, "SHA-256 takes any bytes");
}

Digest end_hash(EVP_MD_CTX* context) {
  Digest digest;
  // SAFETY: any byte is an unsigned char.
  UDTCAT_INVARIANT(EVP_DigestFinal_ex(context, reinterpret_cast<unsigned char*>(digest.data()), nullptr) == 1,
                   "it was begun");
  return digest;
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { begin_hash(context_.get()); }

void Sha256::add(std::span<const std::byte> bytes) { add_to_hash(context_.get(), bytes); }

Digest Sha256::digest() { return end_hash(context_.get()); }

ShortDigest short_digest_of(Pieces pieces) {
  const Digest digest = digest_of(pieces);
  ShortDigest first{};
  std::copy_n(digest.begin(), first.size(), first.begin());
  return first;
}

Digest digest_of(Pieces pieces) {
  // The thread's own: to make one takes longer than a short hash.
  static thread_local const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                                       EVP_MD_CTX_free);
  begin_hash(context.get());
  for (const auto piece : pieces) add_to_hash(context.get(), piece);
  return end_hash(context.get());
}

std::string to_hex(std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace udtcat::files
