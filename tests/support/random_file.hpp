// SPDX-License-Identifier: Apache-2.0
/// A file of random data and what it should digest to.
#pragma once

#include <cstdint>
#include <filesystem>

#include "support/digest.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::test {

/// The same content for the same seed. Removed with the object.
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
