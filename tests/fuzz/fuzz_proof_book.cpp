// SPDX-License-Identifier: Apache-2.0
// Any bytes as a receiver's book, with their hash and without: one that encodes to the same, or none.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trees/disk/proof_book.hpp"

namespace fuzz_proof_book {

namespace {

void parse_as_book(std::span<const std::byte> bytes) {
  using namespace udtcat::trees;
  const auto book = ProofBook::parse(bytes, udtcat::files::FileLocation("book"));
  if (book && !std::ranges::equal(book->encode(), bytes)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  parse_as_book(bytes);
  std::vector<std::byte> hashed(bytes.begin(), bytes.end());
  const auto digest = udtcat::files::digest_of({bytes});
  hashed.insert(hashed.end(), digest.begin(), digest.end());
  parse_as_book(hashed);
  return 0;
}

}  // namespace fuzz_proof_book
