// SPDX-License-Identifier: Apache-2.0
#include "files/checksum.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "files/sha256.hpp"
#include "lib/core/invariant.hpp"

namespace udtcat::files {

std::optional<Checksum> Checksum::named(std::string_view name) {
  std::string wanted;
  for (const char each : name) wanted += each >= 'a' && each <= 'z' ? static_cast<char>(each - 'a' + 'A') : each;
  if (wanted == "ADLER32") return Checksum(Context(nullptr, EVP_MD_CTX_free));
  constexpr std::array kKnown{"MD5", "SHA1", "SHA256", "SHA512"};
  if (std::ranges::find(kKnown, wanted) == kKnown.end()) return std::nullopt;
  const std::unique_ptr<EVP_MD, void (*)(EVP_MD*)> algorithm(EVP_MD_fetch(nullptr, wanted.c_str(), nullptr),
                                                             EVP_MD_free);
  Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  UDTCAT_INVARIANT(context != nullptr, "OpenSSL has memory for a few bytes");
  if (algorithm == nullptr || EVP_DigestInit_ex2(context.get(), algorithm.get(), nullptr) != 1) return std::nullopt;
  return Checksum(std::move(context));
}

void Checksum::add(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kBase = 65'521;       // spec: RFC 1950 §8.2
  constexpr std::size_t kBeforeModulo = 5'552;  // spec: RFC 1950 §9: as many fit into 32 bits
  if (context_ != nullptr) {
    UDTCAT_INVARIANT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "a hash takes any bytes");
    return;
  }
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kBeforeModulo));
    for (const std::byte each : piece) {
      first_ += std::to_integer<std::uint32_t>(each);
      second_ += first_;
    }
    first_ %= kBase;
    second_ %= kBase;
    bytes = bytes.subspan(piece.size());
  }
}

std::string Checksum::text() {
  if (context_ == nullptr) return fmt::format("{:04x}{:04x}", second_, first_);
  std::array<std::byte, EVP_MAX_MD_SIZE> digest{};
  unsigned bytes = 0;
  // SAFETY: any byte is an unsigned char.
  UDTCAT_INVARIANT(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), &bytes) == 1,
                   "it was begun");
  return to_hex(std::span(digest).first(bytes));
}

}  // namespace udtcat::files
