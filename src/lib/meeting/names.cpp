// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/names.hpp"

#include <string_view>
#include <utility>

#include "lib/core/try.hpp"
#include "lib/crypto/hkdf.hpp"

namespace udtcat::meeting {

namespace {

constexpr std::string_view kNameLabel = "udtcat meeting";                // spec: meet.md §2
constexpr std::string_view kPlaceInput = "udtcat public meeting place";  // spec: meet.md §1
constexpr std::string_view kPlaceLabel = "udtcat key";                   // spec: meet.md §1

Result<crypto::Secret32> derive(std::span<const std::byte> input, std::string_view label) {
  UDTCAT_TRY(const crypto::Secret32 extracted, crypto::hkdf_extract(input));
  crypto::Secret32 derived;
  UDTCAT_CHECK(crypto::hkdf_expand(extracted, label, {}, derived.writable()));
  return derived;
}

}  // namespace

Result<std::shared_ptr<const KeyPair>> own_name(const Credentials& credentials) {
  if (const PairCredentials* const pair = credentials.pair()) return pair->own;
  UDTCAT_TRY(const crypto::Secret32 secret, derive(credentials.shared()->bytes(), kNameLabel));
  UDTCAT_TRY(KeyPair pair, KeyPair::of(secret.bytes()));
  return std::make_shared<const KeyPair>(std::move(pair));
}

Result<PublicKey> listener_name(const Credentials& credentials) {
  if (const PairCredentials* const pair = credentials.pair()) {
    if (pair->listener) return *pair->listener;
    return fail(Errc::bad_argument, "find the listener at a meeting place", "its public key is not known here yet");
  }
  UDTCAT_TRY(const auto pair, own_name(credentials));
  return pair->public_key();
}

Result<Key> public_place_key() {
  UDTCAT_TRY(const crypto::Secret32 secret, derive(std::as_bytes(std::span(kPlaceInput)), kPlaceLabel));
  return Key::of(secret.bytes());
}

}  // namespace udtcat::meeting
