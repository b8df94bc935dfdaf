// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "trees/disk/entry_path.hpp"
#include "trees/message.hpp"
#include "trees/message_body.hpp"

namespace udtcat::trees {

namespace {

constexpr std::uint8_t kVersion = 2;         // spec: docs/spec/trees.md §1
constexpr std::uint8_t kKeepsOwners = 0x01;  // spec: docs/spec/trees.md §1
constexpr std::uint8_t kWantsTotals = 0x02;  // spec: docs/spec/trees.md §1
constexpr std::uint8_t kRereads = 0x04;      // spec: docs/spec/trees.md §1

}  // namespace

void encode_hello(const Hello& hello, core::ByteWriter& body) {
  body.number(kVersion);
  body.number(static_cast<std::uint8_t>(hello.role));
  body.number(static_cast<std::uint8_t>((hello.keeps_owners ? kKeepsOwners : 0) |
                                        (hello.wants_totals ? kWantsTotals : 0) | (hello.rereads ? kRereads : 0)));
  body.bytes(hello.job);
  body.sized_text<std::uint16_t>(hello.place);
  body.number(static_cast<std::uint32_t>(hello.paths.size()));
  for (const std::string& each : hello.paths) body.sized_text<std::uint16_t>(each);
}

Result<Hello> decode_hello(core::ByteReader body) {
  const auto version = body.number<std::uint8_t>();
  if (version != kVersion)
    return message_violation(fmt::format("version {}, where this end knows {}", version, kVersion));
  const auto role = body.number<std::uint8_t>();
  if (role != 1 && role != 2) return message_violation(fmt::format("role {}", role));
  const auto flags = body.number<std::uint8_t>();
  if ((flags & ~(kKeepsOwners | kWantsTotals | kRereads)) != 0)
    return message_violation(fmt::format("flags {:#04x} of a HELLO", flags));
  Hello hello{.role = static_cast<Role>(role),
              .keeps_owners = (flags & kKeepsOwners) != 0,
              .wants_totals = (flags & kWantsTotals) != 0,
              .rereads = (flags & kRereads) != 0,
              .job = {},
              .place = {},
              .paths = {}};
  hello.job = body.array<std::tuple_size_v<decltype(hello.job)>>();
  hello.place = body.sized_text<std::uint16_t>();
  const auto count = body.number<std::uint32_t>();
  if (count > kMaxPaths) return message_violation(fmt::format("{} paths", count));
  for (std::uint32_t i = 0; i < count && !body.is_cut(); ++i) {
    hello.paths.push_back(body.sized_text<std::uint16_t>());
    if (!is_name(hello.paths.back(), kMaxEntryPathBytes)) return message_violation("what is no path");
  }
  if (!body.is_whole()) return message_violation("a HELLO of another length");
  if (!hello.place.empty() && (hello.role == Role::receives || !is_name(hello.place, kMaxEntryPathBytes)))
    return message_violation("what is no place to receive at");
  if (!hello.paths.empty() && hello.role == Role::sends) return message_violation("paths from who sends");
  return hello;
}

}  // namespace udtcat::trees
