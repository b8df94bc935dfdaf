// SPDX-License-Identifier: Apache-2.0
/// Helpers of this module's tests.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/core/byte_order.hpp"
#include "lib/transport/native/key_proof.hpp"
#include "lib/transport/native/time.hpp"
#include "support/bytes.hpp"

namespace udtcat::transport::native {

using udtcat::test::numbered_bytes;

/// When tests begin; not zero.
inline constexpr TimePoint kStart{std::chrono::hours(1)};

inline Endpoint endpoint(const char* host, std::uint16_t port) {
  return resolve({host, port}, AddressFamily::any).value().front();
}

/// A KeyProof of some key, the same for the same number.
inline KeyProof key_proof_of(int key) {
  std::array<std::byte, crypto::KeyedHash::kKeyBytes> bytes{};
  bytes.fill(static_cast<std::byte>(key));
  return KeyProof::create(bytes).value();
}

/// The bytes of a control packet's words.
inline std::vector<std::byte> body_of(std::span<const std::uint32_t> words) {
  std::vector<std::byte> body(words.size() * 4);
  for (std::size_t i = 0; i < words.size(); ++i)
    core::store_be<std::uint32_t>(std::span(body).subspan(i * 4), words[i]);
  return body;
}

inline std::vector<std::byte> bytes_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// Calls `take` with each truncation of `whole`, in memory of its own so that a sanitizer sees an access beyond, and
/// with each byte changed.
template <typename Take>
void for_each_damage(std::span<const std::byte> whole, Take take) {
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    take(std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)));
  std::vector<std::byte> changed(whole.begin(), whole.end());
  for (std::byte& each : changed)
    for (const unsigned flip : {0xffU, 0x80U, 0x01U}) {
      each ^= std::byte(flip);
      take(changed);
      each ^= std::byte(flip);
    }
}

}  // namespace udtcat::transport::native
