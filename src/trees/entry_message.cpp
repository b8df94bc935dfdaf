// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <fmt/format.h>

#include "lib/core/invariant.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "trees/disk/entry_path.hpp"
#include "trees/message.hpp"
#include "trees/message_body.hpp"

namespace udtcat::trees {

namespace {

constexpr std::uint8_t kMayBeLinked = 0x01;            // spec: docs/spec/trees.md §3
constexpr std::uint32_t kNanoseconds = 1'000'000'000;  // spec: docs/spec/trees.md §3
constexpr std::uint64_t kSizes = 1ULL << 63;           // spec: docs/spec/trees.md §3
constexpr std::size_t kMaxAttributeNameBytes = 255;    // spec: docs/spec/trees.md §3

/// Access lists are of system.*: they are not the peer's to give.
bool is_attribute_name(std::string_view name) {
  const bool is_known = name.starts_with("user.") || name.starts_with("security.") || name.starts_with("trusted.");
  return is_known && is_name(name, kMaxAttributeNameBytes);
}

Result<Attributes> decode_attributes(core::ByteReader& body) {
  Attributes attributes;
  attributes.mode = body.number<std::uint32_t>();
  if ((attributes.mode & ~kModeBits) != 0) return message_violation("a mode of more than twelve bits");
  attributes.changed.seconds = static_cast<std::int64_t>(body.number<std::uint64_t>());
  attributes.changed.nanoseconds = body.number<std::uint32_t>();
  if (attributes.changed.nanoseconds >= kNanoseconds) return message_violation("a second of nanoseconds");
  attributes.owner.uid = body.number<std::uint32_t>();
  attributes.owner.gid = body.number<std::uint32_t>();
  attributes.owner.user = body.sized_text<std::uint8_t>();
  attributes.owner.group = body.sized_text<std::uint8_t>();
  for (const std::string& name : {attributes.owner.user, attributes.owner.group})
    if (name.find('\0') != std::string::npos) return message_violation("a NUL in an owner's name");
  return attributes;
}

Status decode_kind(core::ByteReader& body, Entry& entry) {
  switch (entry.kind) {
    case EntryKind::file: {
      entry.size_bytes = body.number<std::uint64_t>();
      if (entry.size_bytes >= kSizes) return message_violation("a file of more than 2^63 bytes");
      UDTCAT_TRY(entry.fingerprint, decode_fingerprint(body));
      return {};
    }
    case EntryKind::symbolic_link:
      entry.target = body.sized_text<std::uint16_t>();
      if (!is_link_target(entry.target)) return message_violation("what no symbolic link leads to");
      return {};
    case EntryKind::hard_link:
      entry.of = body.number<EntryId>();
      if (entry.of >= kEntryIds) return message_violation(fmt::format("entry {}", entry.of));
      return {};
    case EntryKind::character_device:
    case EntryKind::block_device:
      entry.major = body.number<std::uint32_t>();
      entry.minor = body.number<std::uint32_t>();
      return {};
    case EntryKind::directory:
    case EntryKind::fifo:
      return {};
  }
  return message_violation(fmt::format("an entry of kind {}", static_cast<unsigned>(entry.kind)));
}

Status decode_extended(core::ByteReader& body, std::vector<ExtendedAttribute>& extended) {
  const auto count = body.number<std::uint16_t>();
  for (std::uint16_t i = 0; i < count && !body.is_cut(); ++i) {
    ExtendedAttribute& each = extended.emplace_back();
    each.name = body.sized_text<std::uint8_t>();
    if (!is_attribute_name(each.name)) return message_violation("an extended attribute of no such name");
    const auto bytes = body.number<std::uint32_t>();
    if (bytes > kMaxAttributeBytes) return message_violation(fmt::format("an extended attribute of {} bytes", bytes));
    each.value = core::as_text(body.bytes(bytes));
  }
  return {};
}

}  // namespace

void encode_fingerprint(const std::optional<Fingerprint>& fingerprint, core::ByteWriter& body) {
  body.number(static_cast<std::uint8_t>(fingerprint ? fingerprint->size() : 0));
  if (fingerprint) body.bytes(*fingerprint);
}

Result<std::optional<Fingerprint>> decode_fingerprint(core::ByteReader& body) {
  const auto bytes = body.number<std::uint8_t>();
  if (bytes == 0) return std::nullopt;
  if (bytes != std::tuple_size_v<Fingerprint>)
    return message_violation(fmt::format("a fingerprint of {} bytes", bytes));
  return body.array<std::tuple_size_v<Fingerprint>>();
}

void encode_entry(const Entry& entry, core::ByteWriter& body) {
  const Attributes& attributes = entry.attributes;
  body.number(static_cast<std::uint8_t>(entry.kind));
  body.number(entry.may_be_linked ? kMayBeLinked : std::uint8_t{0});
  body.number(attributes.mode);
  body.number(static_cast<std::uint64_t>(attributes.changed.seconds));
  body.number(attributes.changed.nanoseconds);
  body.number(attributes.owner.uid);
  body.number(attributes.owner.gid);
  body.sized_text<std::uint8_t>(attributes.owner.user);
  body.sized_text<std::uint8_t>(attributes.owner.group);
  body.sized_text<std::uint16_t>(entry.path);
  if (entry.kind == EntryKind::file) {
    body.number(entry.size_bytes);
    encode_fingerprint(entry.fingerprint, body);
  }
  if (entry.kind == EntryKind::symbolic_link) body.sized_text<std::uint16_t>(entry.target);
  if (entry.kind == EntryKind::hard_link) body.number(entry.of);
  if (entry.kind == EntryKind::character_device || entry.kind == EntryKind::block_device) {
    body.number(entry.major);
    body.number(entry.minor);
  }
  UDTCAT_INVARIANT(attributes.extended.size() <= std::numeric_limits<std::uint16_t>::max(), "a list has 64 KiB");
  body.number(static_cast<std::uint16_t>(attributes.extended.size()));
  for (const ExtendedAttribute& each : attributes.extended) {
    body.sized_text<std::uint8_t>(each.name);
    body.sized_text<std::uint32_t>(each.value);
  }
}

Result<Entry> decode_entry(core::ByteReader body) {
  Entry entry;
  entry.kind = static_cast<EntryKind>(body.number<std::uint8_t>());
  const auto flags = body.number<std::uint8_t>();
  const std::uint8_t known = entry.kind == EntryKind::file ? kMayBeLinked : 0;
  if ((flags & ~known) != 0) return message_violation(fmt::format("flags {:#04x} of an entry", flags));
  entry.may_be_linked = flags == kMayBeLinked;
  UDTCAT_TRY(entry.attributes, decode_attributes(body));
  entry.path = body.sized_text<std::uint16_t>();
  if (!is_entry_path(entry.path)) return message_violation("a path that no entry may have");
  if (entry.path == "." && entry.kind != EntryKind::directory) return message_violation("a directory that is none");
  UDTCAT_CHECK(decode_kind(body, entry));
  UDTCAT_CHECK(decode_extended(body, entry.attributes.extended));
  if (!body.is_whole()) return message_violation("an entry of another length");
  return entry;
}

}  // namespace udtcat::trees
