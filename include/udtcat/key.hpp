// SPDX-License-Identifier: Apache-2.0
/// The secret two ends share.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

namespace udtcat {

/// A 256-bit pre-shared key. Movable, not copyable, not printable by accident; erased on destruction.
///
/// Its text form is "udtcat1-" and 48 characters of base64url: the 32 key bytes and the first 4 bytes of
/// their SHA-256, so that a typing error is told apart from a wrong key (docs/spec/handshake.md, "Key text").
/// Threads: unsynchronised.
class Key {
 public:
  static constexpr std::size_t kBytes = 32;  // spec: docs/spec/handshake.md, "Key text"

  /// The kinds of file that a key is read from.
  enum class FromFile {
    any_kind,      ///< the path is the user's own: a pipe or /dev/stdin, too, is read to the end of its first line
    regular_only,  ///< the path may be a peer's: any other file is refused, and no read waits
  };

  /// A key from the system's random generator.  errors: Errc::cipher_failed
  [[nodiscard]] static Result<Key> generate();
  /// A key from its bytes, of which it keeps a copy.
  [[nodiscard]] static Key of(std::span<const std::byte, kBytes> bytes);
  /// Surrounding white space is ignored.  errors: Errc::bad_argument, never quoting the text
  [[nodiscard]] static Result<Key> parse(std::string_view text);

  /// The key in a file as `udtcat keygen` writes it. Blocks while it reads.
  /// errors: Errc::bad_argument for a file that cannot be read, that others can read, or that holds no key
  [[nodiscard]] static Result<Key> from_file(const std::string& path, FromFile kind = FromFile::any_kind);

  Key(Key&& other) noexcept;
  Key& operator=(Key&& other) noexcept;
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  ~Key();

  /// A copy for a second owner, spelt out so that it is never an accident.
  [[nodiscard]] Key duplicate() const;
  /// Takes a time that does not depend on where they differ.
  friend bool operator==(const Key& one, const Key& other);
  /// The text form. The caller prints it only where the user asked for it.
  [[nodiscard]] std::string reveal_text() const;
  /// Valid as long as this key.
  [[nodiscard]] std::span<const std::byte, kBytes> bytes() const { return bytes_; }

 private:
  Key() = default;
  std::array<std::byte, kBytes> bytes_{};
};

}  // namespace udtcat
