/// A short keyed hash for things that only we have to recognise again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <udtcat/result.hpp>

namespace udtcat::crypto {

/// SipHash-2-4 under a key that nobody else knows and that dies with this object.
/// Threads: unsynchronised.
class KeyedHash {
 public:
  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<KeyedHash> create();
  KeyedHash(KeyedHash&&) noexcept;
  KeyedHash& operator=(KeyedHash&&) noexcept;
  ~KeyedHash();

  /// errors   Errc::cipher_failed
  [[nodiscard]] Result<std::uint64_t> of(std::span<const std::byte> message);

 private:
  struct Context;
  explicit KeyedHash(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;
};

}  // namespace udtcat::crypto
