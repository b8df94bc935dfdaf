// SPDX-License-Identifier: Apache-2.0
#include "support/random_file.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <unistd.h>

#include "support/bytes.hpp"
#include "support/descriptor.hpp"

namespace udtcat::test {

namespace {

void write_all(const Descriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file.fd(), bytes.data(), bytes.size());
    if (written < 0) die("write a file of random data");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace

RandomFile::RandomFile(std::uint64_t seed, std::uint64_t bytes) : path_(directory_.path() / "random") {
  constexpr std::size_t kChunkBytes = 256 * 1024;
  const Descriptor file = open_for_writing(path_);
  RandomSequence sequence(seed);
  std::vector<std::byte> chunk(kChunkBytes);
  Digester digester;
  for (std::uint64_t left = bytes; left > 0;) {
    const auto part = std::span(chunk).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, chunk.size())));
    sequence.fill(part);
    digester.add(part);
    write_all(file, part);
    left -= part.size();
  }
  digest_ = digester.finish();
}

}  // namespace udtcat::test
