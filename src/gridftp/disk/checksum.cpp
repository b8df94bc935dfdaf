// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/checksum.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <zlib.h>

#include "files/sha256.hpp"
#include "lib/core/invariant.hpp"

namespace udtcat::gridftp {

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
  // SAFETY: any byte is an unsigned char.
  if (context_ == nullptr)
    adler32_ = ::adler32_z(adler32_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  else
    UDTCAT_INVARIANT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "a hash takes any bytes");
}

std::string Checksum::text() {
  if (context_ == nullptr) return fmt::format("{:08x}", adler32_);
  std::array<std::byte, EVP_MAX_MD_SIZE> digest{};
  unsigned bytes = 0;
  // SAFETY: any byte is an unsigned char.
  UDTCAT_INVARIANT(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), &bytes) == 1,
                   "it was begun");
  return files::to_hex(std::span(digest).first(bytes));
}

}  // namespace udtcat::gridftp
