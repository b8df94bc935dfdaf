// SPDX-License-Identifier: Apache-2.0
#include "support/digest.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <vector>

#include <openssl/evp.h>
#include <unistd.h>

#include "support/descriptor.hpp"

namespace udtcat::test {

namespace {

EVP_MD_CTX* evp(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

void PrintTo(const Digest& digest, std::ostream* out) { *out << digest.bytes << " bytes, sha256 " << digest.sha256; }

void Digester::Free::operator()(void* context) const { EVP_MD_CTX_free(evp(context)); }

Digester::Digester() : context_(EVP_MD_CTX_new()) {
  if (EVP_DigestInit_ex(evp(context_.get()), EVP_sha256(), nullptr) != 1) die("SHA-256");
}

void Digester::add(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(evp(context_.get()), bytes.data(), bytes.size()) != 1) die("SHA-256");
  bytes_ += bytes.size();
}

Digest Digester::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int length = 0;
  if (EVP_DigestFinal_ex(evp(context_.get()), hash.data(), &length) != 1) die("SHA-256");
  Digest digest{.bytes = bytes_, .sha256 = {}};
  for (unsigned int i = 0; i < length; ++i) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned int>(hash[i]));
    digest.sha256 += hex.data();
  }
  return digest;
}

Digest digest_of(std::span<const std::byte> bytes) {
  Digester digester;
  digester.add(bytes);
  return digester.finish();
}

Digest digest_of_prefix(const std::filesystem::path& file, std::uint64_t bytes) {
  constexpr std::size_t kChunkBytes = 256 * 1024;
  const Descriptor descriptor = open_for_reading(file);
  std::vector<std::byte> chunk(kChunkBytes);
  Digester digester;
  for (std::uint64_t left = bytes; left > 0;) {
    const auto got =
        ::read(descriptor.fd(), chunk.data(), static_cast<std::size_t>(std::min<std::uint64_t>(left, chunk.size())));
    if (got < 0) die("read " + file.string());
    if (got == 0) break;
    digester.add(std::span(chunk).first(static_cast<std::size_t>(got)));
    left -= static_cast<std::uint64_t>(got);
  }
  return digester.finish();
}

}  // namespace udtcat::test
