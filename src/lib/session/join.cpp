// SPDX-License-Identifier: Apache-2.0
#include "lib/session/join.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "lib/core/try.hpp"
#include "lib/crypto/hkdf.hpp"
#include "lib/session/parameter_items.hpp"

namespace udtcat::session {

namespace {

constexpr std::string_view kJoinLabel = "join";      // spec: handshake.md §8
constexpr std::string_view kJoinedLabel = "joined";  // spec: handshake.md §8

template <std::size_t Size>
std::optional<std::array<std::byte, Size>> bytes_of(const ItemReader& items, ItemType type) {
  const auto value = items.find(type);
  if (!value || value->size() != Size) return std::nullopt;
  std::array<std::byte, Size> bytes;
  std::copy(value->begin(), value->end(), bytes.begin());
  return bytes;
}

Result<Proof> prove(const crypto::Secret32& key, std::string_view label, const SessionId& session_id,
                    const FlowName& name) {
  std::vector<std::byte> context(session_id.begin(), session_id.end());
  context.push_back(std::byte{name.flow});
  for (int shift = 24; shift >= 0; shift -= 8) context.push_back(static_cast<std::byte>(name.attempt >> shift));
  Proof proof;
  UDTCAT_CHECK(crypto::hkdf_expand(key, label, context, proof));
  return proof;
}

Status check_proof(const Result<Proof>& right, const Proof& shown) {
  if (!right) return tl::unexpected(right.error());
  if (!crypto::same(*right, shown)) return fail(Errc::authentication_failed, "join a session", "its proof is wrong");
  return {};
}

}  // namespace

std::vector<std::byte> encode(const Join& join) {
  ItemWriter writer(MessageKind::join);
  writer.add(ItemType::session, join.session_id);
  writer.add_u8(ItemType::flow, join.name.flow);
  writer.add_u32(ItemType::attempt, join.name.attempt);
  writer.add(ItemType::proof, join.proof);
  return writer.finish();
}

std::vector<std::byte> encode(const Joined& joined) {
  ItemWriter writer(MessageKind::joined);
  writer.add(ItemType::proof, joined.proof);
  return writer.finish();
}

Result<Join> decode_join(std::span<const std::byte> in) {
  UDTCAT_TRY(const auto opened, open_message(in));
  if (opened.kind != MessageKind::join) return bad_message("it is not a join");
  const auto session_id = bytes_of<kSessionIdBytes>(opened.items, ItemType::session);
  if (!session_id) return bad_item("session");
  const auto flow = opened.items.u8(ItemType::flow);
  if (!flow || *flow >= kMaxFlows) return bad_item("flow");
  const auto attempt = opened.items.u32(ItemType::attempt);
  if (!attempt || *attempt == 0) return bad_item("attempt");
  const auto proof = bytes_of<kProofBytes>(opened.items, ItemType::proof);
  if (!proof) return bad_item("proof");
  return Join{*session_id, {*flow, *attempt}, *proof};
}

Result<Joined> decode_joined(std::span<const std::byte> in) {
  UDTCAT_TRY(const auto opened, open_message(in));
  if (opened.kind != MessageKind::joined) return bad_message("it is not the answer to a join");
  const auto proof = bytes_of<kProofBytes>(opened.items, ItemType::proof);
  if (!proof) return bad_item("proof");
  return Joined{*proof};
}

Result<Join> JoinKey::join(const FlowName& name) const {
  return prove(key_, kJoinLabel, session_id_, name).map([&](const Proof& proof) {
    return Join{session_id_, name, proof};
  });
}

Result<Joined> JoinKey::joined(const FlowName& name) const {
  return prove(key_, kJoinedLabel, session_id_, name).map([](const Proof& proof) { return Joined{proof}; });
}

Status JoinKey::check(const Join& join) const {
  return check_proof(prove(key_, kJoinLabel, join.session_id, join.name), join.proof);
}

Status JoinKey::check(const Joined& joined, const FlowName& name) const {
  return check_proof(prove(key_, kJoinedLabel, session_id_, name), joined.proof);
}

}  // namespace udtcat::session
