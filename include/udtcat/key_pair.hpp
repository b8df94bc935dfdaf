// SPDX-License-Identifier: Apache-2.0
/// A key pair: the public half tells its holder apart from all others, the private half proves it.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <udtcat/key.hpp>
#include <udtcat/result.hpp>

namespace udtcat {

/// The public half of an Ed25519 key pair. No secret: others know a peer by it.
///
/// Its text form is "udtcat-ed25519 " and 44 characters of base64 (docs/spec/handshake.md, "Key text").
/// Threads: unsynchronised.
class PublicKey {
 public:
  static constexpr std::size_t kBytes = 32;                      // spec: RFC 8032 §5.1.5
  static constexpr std::string_view kPrefix = "udtcat-ed25519";  // spec: docs/spec/handshake.md §1

  explicit PublicKey(std::span<const std::byte, kBytes> bytes);
  /// The text form, behind which a comment may stand, or its 44 characters alone. Surrounding white space is ignored.
  /// errors: Errc::bad_argument
  [[nodiscard]] static Result<PublicKey> parse(std::string_view text);

  [[nodiscard]] std::string to_string() const;
  /// Valid as long as this key.
  [[nodiscard]] std::span<const std::byte, kBytes> bytes() const { return bytes_; }
  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;

 private:
  std::array<std::byte, kBytes> bytes_;
};

/// An Ed25519 key pair. Movable, not copyable, not printable by accident; its private half is erased on destruction.
///
/// The private half's text form is "udtcat-ed25519-secret-" and 48 characters of base64url, with a check as Key's.
/// Threads: immutable.
class KeyPair {
 public:
  static constexpr std::size_t kSecretBytes = 32;  // spec: RFC 8032 §5.1.5

  /// A pair from the system's random generator.  errors: Errc::cipher_failed
  [[nodiscard]] static Result<KeyPair> generate();
  /// The pair of that private half.  errors: Errc::cipher_failed
  [[nodiscard]] static Result<KeyPair> of(std::span<const std::byte, kSecretBytes> secret);
  /// Surrounding white space is ignored.  errors: Errc::bad_argument, never quoting the text; Errc::cipher_failed
  [[nodiscard]] static Result<KeyPair> parse(std::string_view text);
  /// A pair from a file of `udtcat keygen --pair`; likewise Key::from_file().
  [[nodiscard]] static Result<KeyPair> from_file(const std::string& path, Key::FromFile kind = Key::FromFile::any_kind);

  KeyPair(KeyPair&& other) noexcept;
  KeyPair& operator=(KeyPair&& other) noexcept;
  KeyPair(const KeyPair&) = delete;
  KeyPair& operator=(const KeyPair&) = delete;
  ~KeyPair();

  [[nodiscard]] const PublicKey& public_key() const { return public_key_; }
  /// The text form of the private half. The caller prints it only where the user asked for it.
  [[nodiscard]] std::string reveal_text() const;
  /// The private half. Valid as long as this pair.
  [[nodiscard]] std::span<const std::byte, kSecretBytes> secret() const { return secret_; }

 private:
  KeyPair(std::span<const std::byte, kSecretBytes> secret, const PublicKey& public_key);

  std::array<std::byte, kSecretBytes> secret_;
  PublicKey public_key_;
};

/// The two kinds of secret that a key file can hold.
using SecretKey = std::variant<Key, KeyPair>;

/// The secret in a file, whose kind its first characters tell. Blocks while it reads.
/// errors: those of Key::from_file()
[[nodiscard]] Result<SecretKey> secret_key_from_file(const std::string& path);

}  // namespace udtcat
