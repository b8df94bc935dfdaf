// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/keyed_hash.hpp"

#include <algorithm>
#include <utility>

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "lib/core/byte_order.hpp"
#include "lib/core/try.hpp"
#include "lib/crypto/openssl.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::crypto {

namespace {

constexpr std::size_t kHashBytes = 8;  // spec: SipHash-2-4

using EvpMac = std::unique_ptr<EVP_MAC, Deleter<EVP_MAC_free>>;
using EvpMacContext = std::unique_ptr<EVP_MAC_CTX, Deleter<EVP_MAC_CTX_free>>;

}  // namespace

struct KeyedHash::Context {
  EvpMacContext mac;
  SecretBytes<KeyedHash::kKeyBytes> key;
};

KeyedHash::KeyedHash(std::unique_ptr<Context> context) : context_(std::move(context)) {}
KeyedHash::KeyedHash(KeyedHash&&) noexcept = default;
KeyedHash& KeyedHash::operator=(KeyedHash&&) noexcept = default;
KeyedHash::~KeyedHash() = default;

Result<KeyedHash> KeyedHash::without_key() {
  const EvpMac mac(EVP_MAC_fetch(nullptr, "SIPHASH", nullptr));
  auto context = std::make_unique<Context>();
  context->mac.reset(mac ? EVP_MAC_CTX_new(mac.get()) : nullptr);
  if (!context->mac) return openssl_failed("set up SipHash");
  return KeyedHash(std::move(context));
}

Result<KeyedHash> KeyedHash::create() {
  UDTCAT_TRY(KeyedHash hash, without_key());
  auto key = hash.context_->key.writable();
  if (RAND_priv_bytes(uchars(key.data()), static_cast<int>(key.size())) != 1) return openssl_failed("make a hash key");
  return hash;
}

Result<KeyedHash> KeyedHash::create(std::span<const std::byte, kKeyBytes> key) {
  UDTCAT_TRY(KeyedHash hash, without_key());
  std::ranges::copy(key, hash.context_->key.writable().begin());
  return hash;
}

Result<std::uint64_t> KeyedHash::of(std::span<const std::byte> message) {
  std::array<std::byte, kHashBytes> hash{};
  UDTCAT_CHECK(compute(message, hash));
  return core::load_be<std::uint64_t>(hash);
}

Result<KeyedHash::Hash128> KeyedHash::hash128_of(std::span<const std::byte> message) {
  Hash128 hash{};
  UDTCAT_CHECK(compute(message, hash));
  return hash;
}

Status KeyedHash::compute(std::span<const std::byte> message, std::span<std::byte> hash) {
  std::size_t size_bytes = hash.size();
  const std::array<OSSL_PARAM, 2> parameters{OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size_bytes),
                                             OSSL_PARAM_construct_end()};
  std::size_t written = 0;
  const auto key = context_->key.bytes();
  EVP_MAC_CTX* const mac = context_->mac.get();
  if (EVP_MAC_init(mac, uchars(key.data()), key.size(), parameters.data()) != 1 ||
      EVP_MAC_update(mac, uchars(message.data()), message.size()) != 1 ||
      EVP_MAC_final(mac, uchars(hash.data()), &written, hash.size()) != 1)
    return openssl_failed("compute a hash");
  return {};
}

}  // namespace udtcat::crypto
