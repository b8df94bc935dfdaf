// SPDX-License-Identifier: Apache-2.0
/// The items of a parameter message: type, size, value. See docs/spec/handshake.md §4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

namespace udtcat::session {

enum class MessageKind : std::uint8_t { offer = 1, acceptance = 2, refusal = 3, join = 4, joined = 5 };
enum class ItemType : std::uint16_t {
  protection = 1,
  ciphers = 2,
  cipher = 3,
  block = 4,
  lanes = 5,
  directions = 6,
  window = 7,
  reason = 8,
  session = 10,
  flow = 11,
  proof = 12,
  purpose = 13,
  name = 14,
  peer = 15,
  application_data = 16,
  services = 17,
  streams = 18,
  later = 19,
  reports = 20,
  application = 21,
  flows = 22,
  attempt = 23,
};

/// Builds one message. Threads: unsynchronised.
class ItemWriter {
 public:
  explicit ItemWriter(MessageKind kind);
  void add(ItemType type, std::span<const std::byte> value);
  void add_u8(ItemType type, std::uint8_t value);
  void add_u16(ItemType type, std::uint16_t value);
  void add_u32(ItemType type, std::uint32_t value);
  void add_text(ItemType type, std::string_view text);
  /// The whole message; the writer is spent.
  [[nodiscard]] std::vector<std::byte> finish();

 private:
  std::vector<std::byte> message_;
};

/// The known items of one message, each there at most once. Borrows the message.
/// Threads: immutable after construction.
class ItemReader {
 public:
  /// `body` is what follows the prefix.  errors: Errc::protocol_violated
  [[nodiscard]] static Result<ItemReader> read(std::span<const std::byte> body);
  [[nodiscard]] std::optional<std::span<const std::byte>> find(ItemType type) const;
  /// None if the item is missing, or of another size.
  [[nodiscard]] std::optional<std::uint8_t> u8(ItemType type) const;
  [[nodiscard]] std::optional<std::uint16_t> u16(ItemType type) const;
  [[nodiscard]] std::optional<std::uint32_t> u32(ItemType type) const;
  [[nodiscard]] std::optional<std::string_view> text(ItemType type) const;

 private:
  static constexpr std::size_t kTypes = static_cast<std::size_t>(ItemType::attempt) + 1;
  std::array<std::optional<std::span<const std::byte>>, kTypes> values_{};
};

/// The first bytes of every message: magic, version, kind, body length.
struct Prefix {
  MessageKind kind;
  std::size_t body_bytes;
};
/// Total.  errors: Errc::protocol_violated
[[nodiscard]] Result<Prefix> decode_prefix(std::span<const std::byte> in);

/// One whole message, taken apart. Borrows it.
struct OpenedMessage {
  MessageKind kind;
  ItemReader items;
};
/// Total.  errors: Errc::protocol_violated
[[nodiscard]] Result<OpenedMessage> open_message(std::span<const std::byte> in);
[[nodiscard]] tl::unexpected<Error> bad_message(std::string why);
[[nodiscard]] tl::unexpected<Error> bad_item(const char* name);

[[nodiscard]] bool begins_with_magic(std::span<const std::byte> in);

}  // namespace udtcat::session
