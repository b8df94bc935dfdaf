// SPDX-License-Identifier: Apache-2.0
/// The bodies of the larger messages, and what all of them are refused with. Bytes: docs/spec/trees.md §1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <udtcat/result.hpp>

#include "lib/core/byte_packing.hpp"
#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

// message.hpp
struct Hello;
struct Entry;

/// Not empty, not too long, and no NUL, at which the system would cut it.
[[nodiscard]] inline bool is_name(std::string_view text, std::size_t max_bytes) {
  return !text.empty() && text.size() <= max_bytes && text.find('\0') == std::string_view::npos;
}

[[nodiscard]] inline tl::unexpected<Error> message_violation(std::string cause) {
  return fail(Errc::protocol_violated, "read a message", std::move(cause));
}

inline constexpr std::uint64_t kEntryIds = 1ULL << 63;  // spec: docs/spec/trees.md §1: they are below

void encode_hello(const Hello& hello, core::ByteWriter& body);
/// errors: Errc::protocol_violated
[[nodiscard]] Result<Hello> decode_hello(core::ByteReader body);

void encode_fingerprint(const std::optional<Fingerprint>& fingerprint, core::ByteWriter& body);
/// errors: Errc::protocol_violated
[[nodiscard]] Result<std::optional<Fingerprint>> decode_fingerprint(core::ByteReader& body);

void encode_entry(const Entry& entry, core::ByteWriter& body);
/// errors: Errc::protocol_violated
[[nodiscard]] Result<Entry> decode_entry(core::ByteReader body);

}  // namespace udtcat::trees
