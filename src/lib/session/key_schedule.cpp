// SPDX-License-Identifier: Apache-2.0
#include "lib/session/key_schedule.hpp"

#include <string_view>

#include "lib/core/byte_order.hpp"
#include "lib/core/try.hpp"
#include "lib/crypto/hkdf.hpp"

namespace udtcat::session {

namespace {

// spec: record.md §4
constexpr std::string_view kHeaderLabel = "header";
constexpr std::string_view kLaneLabel = "lane";
constexpr std::string_view kNextLabel = "next";
constexpr std::string_view kKeyLabel = "key";
constexpr std::string_view kIvLabel = "iv";
constexpr std::string_view kPriorityLabel = "express";               // spec: record.md §7
constexpr std::string_view kPriorityHeaderLabel = "express header";  // spec: record.md §7
constexpr std::string_view kFlowsLabel = "flows";                    // spec: handshake.md §8

Result<crypto::Secret32> expand(const crypto::Secret32& from, std::string_view label,
                                std::span<const std::byte> context = {}) {
  crypto::Secret32 secret;
  UDTCAT_CHECK(crypto::hkdf_expand(from, label, context, secret.writable()));
  return secret;
}

}  // namespace

Result<LaneSecret::Keys> LaneSecret::keys() const {
  Keys keys;
  UDTCAT_CHECK(crypto::hkdf_expand(secret_, kKeyLabel, {}, keys.key.writable()));
  UDTCAT_CHECK(crypto::hkdf_expand(secret_, kIvLabel, {}, keys.iv.writable()));
  return keys;
}

Status LaneSecret::ratchet() {
  UDTCAT_TRY(secret_, expand(secret_, kNextLabel));
  return {};
}

Result<KeySchedule> KeySchedule::from_exporter(const crypto::SecretBytes<kExporterBytes>& exporter) {
  return crypto::hkdf_extract(exporter.bytes()).map([](crypto::Secret32&& master) {
    return KeySchedule(std::move(master));
  });
}

Result<LaneSecret> KeySchedule::lane_secret(Direction direction, std::uint16_t lane) const {
  std::array<std::byte, 3> context{static_cast<std::byte>(direction)};
  core::store_be(std::span(context).subspan<1>(), lane);
  return expand(master_, kLaneLabel, context).map([](crypto::Secret32&& secret) {
    return LaneSecret(std::move(secret));
  });
}

Result<crypto::Secret32> KeySchedule::header_key(Direction direction) const {
  const std::array<std::byte, 1> context{static_cast<std::byte>(direction)};
  return expand(master_, kHeaderLabel, context);
}

Result<LaneSecret> KeySchedule::priority_secret(Direction direction) const {
  const std::array<std::byte, 1> context{static_cast<std::byte>(direction)};
  return expand(master_, kPriorityLabel, context).map([](crypto::Secret32&& secret) {
    return LaneSecret(std::move(secret));
  });
}

Result<crypto::Secret32> KeySchedule::priority_header_key(Direction direction) const {
  const std::array<std::byte, 1> context{static_cast<std::byte>(direction)};
  return expand(master_, kPriorityHeaderLabel, context);
}

Result<crypto::Secret32> KeySchedule::flow_key() const { return expand(master_, kFlowsLabel); }

}  // namespace udtcat::session
