// SPDX-License-Identifier: Apache-2.0
// Any bytes as a receiver's cache, with their hash and without: one that encodes to the same, or none.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trees/disk/hash_cache.hpp"

namespace fuzz_hash_cache {

namespace {

void parse_as_cache(std::span<const std::byte> bytes) {
  using namespace udtcat::trees;
  const auto cache = HashCache::parse(bytes, udtcat::files::FileLocation("cache"));
  if (cache && !std::ranges::equal(cache->encode(), bytes)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  parse_as_cache(bytes);
  std::vector<std::byte> hashed(bytes.begin(), bytes.end());
  const auto digest = udtcat::files::digest_of({bytes});
  hashed.insert(hashed.end(), digest.begin(), digest.end());
  parse_as_cache(hashed);
  return 0;
}

}  // namespace fuzz_hash_cache
