// SPDX-License-Identifier: Apache-2.0
/// Text that is overwritten after its use: a key before it is parsed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <string.h>

namespace udtcat::core {

/// Overwrites memory in a way the optimiser keeps.
inline void erase(std::span<std::byte> bytes) noexcept {
  if (!bytes.empty()) ::explicit_bzero(bytes.data(), bytes.size());
}

/// Movable, not copyable, erased when it goes. Threads: unsynchronised.
class SecretText {
 public:
  SecretText() = default;
  explicit SecretText(std::string text) : text_(std::move(text)) {}
  SecretText(SecretText&& other) noexcept { *this = std::move(other); }
  SecretText& operator=(SecretText&& other) noexcept {
    if (this == &other) return *this;
    erase();
    text_.swap(other.text_);
    return *this;
  }
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;
  ~SecretText() { erase(); }

  /// Valid as long as this text is not changed.
  [[nodiscard]] std::string_view view() const { return text_; }
  [[nodiscard]] std::size_t size_bytes() const { return text_.size(); }
  /// Room for everything that append() will be given keeps it in one place, so that one erasure suffices.
  void reserve(std::size_t bytes) { text_.reserve(bytes); }
  void append(char byte) { text_.push_back(byte); }

 private:
  void erase() noexcept {
    core::erase(std::as_writable_bytes(std::span(text_.data(), text_.size())));
    text_.clear();
  }
  std::string text_;
};

/// Copies `source` and erases it there.
[[nodiscard]] inline SecretText take_text(std::span<char> source) {
  SecretText text(std::string(source.begin(), source.end()));
  erase(std::as_writable_bytes(source));
  return text;
}

}  // namespace udtcat::core
