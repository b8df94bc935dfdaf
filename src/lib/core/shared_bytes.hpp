// SPDX-License-Identifier: Apache-2.0
/// Bytes with the owner that keeps them alive.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace udtcat::core {

/// A borrowed view and its owner. Copies share the owner.
/// Threads: immutable, as long as the bytes are not written to.
class SharedBytes {
 public:
  SharedBytes() = default;
  /// `bytes` are valid as long as `owner` has owners.
  SharedBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}
  [[nodiscard]] static SharedBytes adopt(std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return {std::span(*owner), owner};
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

}  // namespace udtcat::core
