// SPDX-License-Identifier: Apache-2.0
#include "lib/session/parameter_items.hpp"

#include <algorithm>

#include "lib/core/byte_order.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/session/parameters.hpp"

namespace udtcat::session {

namespace {

constexpr std::array<std::byte, 4> kMagic{std::byte{'U'}, std::byte{'D'}, std::byte{'T'},
                                          std::byte{'C'}};  // spec: handshake.md §4
constexpr std::byte kParameterVersion{1};                   // spec: handshake.md §4
constexpr std::size_t kMessageVersionAt = 4;
constexpr std::size_t kKindAt = 5;
constexpr std::size_t kMessageLengthAt = 6;
constexpr std::size_t kItemHeaderBytes = 4;  // spec: handshake.md §4: type and size

template <typename Number>
std::optional<Number> number(std::optional<std::span<const std::byte>> value) {
  if (!value || value->size() != sizeof(Number)) return std::nullopt;
  return core::load_be<Number>(*value);
}

template <typename Number>
void add_number(ItemWriter& writer, ItemType type, Number value) {
  std::array<std::byte, sizeof(Number)> bytes;
  core::store_be(bytes, value);
  writer.add(type, bytes);
}

}  // namespace

tl::unexpected<Error> bad_message(std::string why) {
  return fail(Errc::protocol_violated, "read a parameter message", std::move(why));
}

tl::unexpected<Error> bad_item(const char* name) {
  return bad_message(std::string("the item is missing or out of range: ") + name);
}

ItemWriter::ItemWriter(MessageKind kind) : message_(kMagic.begin(), kMagic.end()) {
  message_.push_back(kParameterVersion);
  message_.push_back(static_cast<std::byte>(kind));
  message_.resize(kParameterPrefixBytes);
}

void ItemWriter::add(ItemType type, std::span<const std::byte> value) {
  std::array<std::byte, kItemHeaderBytes> header;
  core::store_be(header, static_cast<std::uint16_t>(type));
  core::store_be(std::span(header).subspan<2>(), static_cast<std::uint16_t>(value.size()));
  message_.insert(message_.end(), header.begin(), header.end());
  message_.insert(message_.end(), value.begin(), value.end());
}

void ItemWriter::add_u8(ItemType type, std::uint8_t value) { add_number(*this, type, value); }
void ItemWriter::add_u16(ItemType type, std::uint16_t value) { add_number(*this, type, value); }
void ItemWriter::add_u32(ItemType type, std::uint32_t value) { add_number(*this, type, value); }
void ItemWriter::add_text(ItemType type, std::string_view text) { add(type, std::as_bytes(std::span(text))); }

std::vector<std::byte> ItemWriter::finish() {
  UDTCAT_INVARIANT(message_.size() <= kMaxParameterMessageBytes, "ciphers and text are cut to their limits before");
  core::store_be(std::span(message_).subspan<kMessageLengthAt>(),
                 static_cast<std::uint16_t>(message_.size() - kParameterPrefixBytes));
  return std::move(message_);
}

Result<ItemReader> ItemReader::read(std::span<const std::byte> body) {
  ItemReader reader;
  while (!body.empty()) {
    if (body.size() < kItemHeaderBytes) return bad_message("an item is cut off");
    const std::size_t type = core::load_be<std::uint16_t>(body);
    const std::size_t size = core::load_be<std::uint16_t>(body.subspan(2));
    body = body.subspan(kItemHeaderBytes);
    if (size > body.size()) return bad_message("an item is cut off");
    if (type < kTypes) {
      if (reader.values_[type]) return bad_message("an item is there twice");
      reader.values_[type] = body.first(size);
    }
    body = body.subspan(size);
  }
  return reader;
}

std::optional<std::span<const std::byte>> ItemReader::find(ItemType type) const {
  return values_[static_cast<std::size_t>(type)];
}
std::optional<std::uint8_t> ItemReader::u8(ItemType type) const { return number<std::uint8_t>(find(type)); }
std::optional<std::uint16_t> ItemReader::u16(ItemType type) const { return number<std::uint16_t>(find(type)); }
std::optional<std::uint32_t> ItemReader::u32(ItemType type) const { return number<std::uint32_t>(find(type)); }
std::optional<std::string_view> ItemReader::text(ItemType type) const {
  const auto value = find(type);
  if (!value) return std::nullopt;
  return core::as_text(*value);
}

bool begins_with_magic(std::span<const std::byte> in) {
  return in.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), in.begin());
}

Result<Prefix> decode_prefix(std::span<const std::byte> in) {
  if (in.size() < kParameterPrefixBytes) return bad_message("it is cut off");
  if (!begins_with_magic(in)) return bad_message("the peer does not speak udtcat");
  if (in[kMessageVersionAt] != kParameterVersion) return bad_message("the peer speaks another version of udtcat");
  const auto kind = static_cast<MessageKind>(in[kKindAt]);
  if (kind < MessageKind::offer || kind > MessageKind::joined) return bad_message("unknown kind");
  const std::size_t body_bytes = core::load_be<std::uint16_t>(in.subspan(kMessageLengthAt));
  if (body_bytes > kMaxParameterMessageBytes - kParameterPrefixBytes) return bad_message("it is too long");
  return Prefix{kind, body_bytes};
}

Result<OpenedMessage> open_message(std::span<const std::byte> in) {
  UDTCAT_TRY(const Prefix prefix, decode_prefix(in));
  if (in.size() != kParameterPrefixBytes + prefix.body_bytes) return bad_message("its length is wrong");
  UDTCAT_TRY(const ItemReader items, ItemReader::read(in.subspan(kParameterPrefixBytes)));
  return OpenedMessage{prefix.kind, items};
}

}  // namespace udtcat::session
