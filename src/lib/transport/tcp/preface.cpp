// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/preface.hpp"

#include <algorithm>

#include "lib/core/try.hpp"
#include "lib/crypto/hkdf.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::transport::tcp {

namespace {

// No protocol of text begins so: the first byte is none of ASCII, and the last ends a line.
constexpr std::array<std::uint8_t, 8> kMagic{0x8b, 'u', 'd', 't', 'c', 'a', 't', '\n'};  // spec: tcp.md §2
constexpr std::uint8_t kVersion = 1;                                                     // spec: tcp.md §2
constexpr std::size_t kVersionAt = kMagic.size();                                        // spec: tcp.md §2
constexpr std::size_t kTypeAt = kVersionAt + 1;                                          // spec: tcp.md §2
constexpr std::size_t kValueAt = 12;                                                     // spec: tcp.md §2

/// Whether a byte before the value is one that a preface can have there.
bool is_allowed(std::size_t at, std::uint8_t byte) {
  if (at < kMagic.size()) return byte == kMagic[at];
  if (at == kVersionAt) return byte == kVersion;
  if (at == kTypeAt)
    return byte >= static_cast<std::uint8_t>(PrefaceType::hello) &&
           byte <= static_cast<std::uint8_t>(PrefaceType::relay);
  return byte == 0;
}

}  // namespace

std::array<std::byte, kPrefaceBytes> encode(const Preface& preface) {
  std::array<std::byte, kPrefaceBytes> bytes{};
  std::ranges::transform(kMagic, bytes.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
  bytes[kVersionAt] = std::byte{kVersion};
  bytes[kTypeAt] = static_cast<std::byte>(preface.type);
  std::ranges::copy(preface.value, bytes.begin() + kValueAt);
  return bytes;
}

DecodedPreface decode_preface(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < std::min(bytes.size(), kValueAt); ++at)
    if (!is_allowed(at, std::to_integer<std::uint8_t>(bytes[at]))) return {.state = DecodedPreface::State::malformed};
  if (bytes.size() < kPrefaceBytes) return {};
  DecodedPreface decoded{.state = DecodedPreface::State::complete};
  decoded.preface.type = static_cast<PrefaceType>(bytes[kTypeAt]);
  std::ranges::copy(bytes.subspan(kValueAt, decoded.preface.value.size()), decoded.preface.value.begin());
  return decoded;
}

Result<PrefaceProof> PrefaceProof::derive(std::span<const std::byte> admission_key) {
  crypto::SecretBytes<crypto::KeyedHash::kKeyBytes> key;
  UDTCAT_TRY(const auto extracted, crypto::hkdf_extract(admission_key));
  UDTCAT_CHECK(crypto::hkdf_expand(extracted, "udtcat tcp door", {}, key.writable()));
  UDTCAT_TRY(crypto::KeyedHash hash, crypto::KeyedHash::create(key.bytes()));
  return PrefaceProof(std::move(hash));
}

Result<Preface> PrefaceProof::make(const Preface& hello, const Preface& challenge) {
  std::array<std::byte, 2 * kPrefaceBytes> said{};
  std::ranges::copy(encode(hello), said.begin());
  std::ranges::copy(encode(challenge), said.begin() + kPrefaceBytes);
  UDTCAT_TRY(const auto hash, hash_.hash128_of(said));
  return Preface{.type = PrefaceType::proof, .value = hash};
}

bool PrefaceProof::is_in(const Preface& proof, const Preface& hello, const Preface& challenge) {
  const auto expected = make(hello, challenge);
  return expected && crypto::same(expected->value, proof.value);
}

}  // namespace udtcat::transport::tcp
