// SPDX-License-Identifier: Apache-2.0
#include "files/tree_hash.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <string_view>

#include <openssl/evp.h>

#include "lib/core/invariant.hpp"

namespace udtcat::files {

namespace {

constexpr std::byte kLeafPrefix{0};  // spec: RFC 9162 §2.1.1
constexpr std::byte kNodePrefix{1};  // spec: RFC 9162 §2.1.1
constexpr int kMaxHeight = 63;       // spec: leaves are counted in 64 bits

/// Fetched once: to look it up takes longer than a node's hash.
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

/// The thread's own, begun: to make one takes longer than a node's hash.
EVP_MD_CTX* begun_context() {
  static thread_local const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                                       EVP_MD_CTX_free);
  begin_hash(context.get());
  return context.get();
}

Digest hash_of_node(const Digest& left, const Digest& right) {
  EVP_MD_CTX* const context = begun_context();
  add_to_hash(context, {&kNodePrefix, 1});
  add_to_hash(context, left);
  add_to_hash(context, right);
  return end_hash(context);
}

}  // namespace

Digest hash_of_leaf(std::span<const std::byte> leaf) {
  EVP_MD_CTX* const context = begun_context();
  add_to_hash(context, {&kLeafPrefix, 1});
  add_to_hash(context, leaf);
  return end_hash(context);
}

const Digest& hash_of_zeros() {
  static const Digest digest = hash_of_leaf(std::vector<std::byte>(kLeafBytes));
  return digest;
}

Digest digest_of(std::span<const std::byte> bytes) {
  EVP_MD_CTX* const context = begun_context();
  add_to_hash(context, bytes);
  return end_hash(context);
}

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { begin_hash(context_.get()); }

void Sha256::add(std::span<const std::byte> bytes) { add_to_hash(context_.get(), bytes); }

Digest Sha256::digest() { return end_hash(context_.get()); }

void TreeHash::add(const Digest& leaf, std::uint64_t count) {
  std::vector<Digest> perfect{leaf};  // [n]: the root of 2^n such leaves
  while (count > 0) {
    // The largest subtree that can stand next: no larger than the smallest that is there, nor than what is left.
    const int room = leaves_ == 0 ? kMaxHeight : std::countr_zero(leaves_);
    const int height = std::min(room, static_cast<int>(std::bit_width(count)) - 1);
    while (std::ssize(perfect) <= height) perfect.push_back(hash_of_node(perfect.back(), perfect.back()));
    Digest subtree = perfect[static_cast<std::size_t>(height)];
    for (std::uint64_t rest = leaves_ >> height; (rest & 1U) != 0; rest >>= 1U) {
      subtree = hash_of_node(complete_.back(), subtree);
      complete_.pop_back();
    }
    complete_.push_back(subtree);
    leaves_ += std::uint64_t{1} << height;
    count -= std::uint64_t{1} << height;
  }
}

Digest TreeHash::root() const {
  if (complete_.empty()) return digest_of({});
  Digest root = complete_.back();
  for (auto left = complete_.rbegin() + 1; left != complete_.rend(); ++left) root = hash_of_node(*left, root);
  return root;
}

std::string to_hex(const Digest& digest) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : digest) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace udtcat::files
