/// Data that no compression, padding or repetition could stand in for, the same at every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/digest.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::test {

/// An endless sequence that depends on its seed only (SplitMix64: quick, and not meant to be secret).
class RandomSequence {
 public:
  explicit RandomSequence(std::uint64_t seed) : state_(seed) {}
  void fill(std::span<std::byte> out);

 private:
  std::uint64_t state_;
};

[[nodiscard]] std::vector<std::byte> random_bytes(std::uint64_t seed, std::size_t size);

/// A file of random data and what it should digest to. Removed with the object.
class RandomFile {
 public:
  RandomFile(std::uint64_t seed, std::uint64_t bytes);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const Digest& digest() const { return digest_; }

 private:
  TempDir directory_;
  std::filesystem::path path_;
  Digest digest_;
};

}  // namespace udtcat::test
