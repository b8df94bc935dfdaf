// SPDX-License-Identifier: Apache-2.0
/// SHA-256 of what went in and of what came out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace udtcat::test {

/// How many bytes, and which. What tests compare.
struct Digest {
  std::uint64_t bytes = 0;
  std::string sha256;  ///< in hexadecimal
  friend bool operator==(const Digest&, const Digest&) = default;
};

/// For GoogleTest's messages.
void PrintTo(const Digest& digest, std::ostream* out);

class Digester {
 public:
  Digester();
  void add(std::span<const std::byte> bytes);
  /// Of everything added so far. Ends the digester.
  [[nodiscard]] Digest finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
  std::uint64_t bytes_ = 0;
};

[[nodiscard]] Digest digest_of(std::span<const std::byte> bytes);
/// The first `bytes` of a file; of all of it if it is shorter.
[[nodiscard]] Digest digest_of_prefix(const std::filesystem::path& file, std::uint64_t bytes);

}  // namespace udtcat::test
