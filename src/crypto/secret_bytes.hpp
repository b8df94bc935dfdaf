/// Bytes that must not outlive their use.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace udtcat::crypto {

/// Overwrites memory in a way the optimiser keeps.
void erase(std::span<std::byte> bytes) noexcept;

/// A fixed number of secret bytes: no copy, no print, erased on destruction and when moved from.
/// Threads: unsynchronised.
template <std::size_t Size>
class SecretBytes {
 public:
  SecretBytes() = default;
  SecretBytes(SecretBytes&& other) noexcept : bytes_(other.bytes_) { erase(other.bytes_); }
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    if (this != &other) {
      bytes_ = other.bytes_;
      erase(other.bytes_);
    }
    return *this;
  }
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  ~SecretBytes() { erase(bytes_); }

  [[nodiscard]] SecretBytes duplicate() const {
    SecretBytes copy;
    copy.bytes_ = bytes_;
    return copy;
  }
  [[nodiscard]] std::span<std::byte, Size> writable() { return bytes_; }
  [[nodiscard]] std::span<const std::byte, Size> bytes() const { return bytes_; }

 private:
  std::array<std::byte, Size> bytes_{};
};

/// What HKDF-SHA256 extracts and expands from.
using Secret32 = SecretBytes<32>;

}  // namespace udtcat::crypto
