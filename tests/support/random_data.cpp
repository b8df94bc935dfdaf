#include "support/random_data.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <unistd.h>

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

void RandomSequence::fill(std::span<std::byte> out) {
  while (!out.empty()) {
    std::uint64_t value = state_ +=
        0x9E3779B97F4A7C15ULL;  // spec: SplitMix64 (Steele, Lea, Flood 2014), also the next two
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    value ^= value >> 31;
    const std::size_t taken = std::min(out.size(), sizeof value);
    std::memcpy(out.data(), &value, taken);
    out = out.subspan(taken);
  }
}

std::vector<std::byte> random_bytes(std::uint64_t seed, std::size_t size) {
  std::vector<std::byte> bytes(size);
  RandomSequence(seed).fill(bytes);
  return bytes;
}

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
