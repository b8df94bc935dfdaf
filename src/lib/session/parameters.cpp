// SPDX-License-Identifier: Apache-2.0
#include "lib/session/parameters.hpp"

#include <algorithm>

#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/session/application.hpp"
#include "lib/session/parameter_items.hpp"

namespace udtcat::session {

namespace {

constexpr std::size_t kMaxCiphers = 16;       // spec: handshake.md §4
constexpr std::size_t kMaxReasonBytes = 256;  // spec: handshake.md §4
constexpr std::uint8_t kSendsBit = 1;         // spec: handshake.md §4
constexpr std::uint8_t kReceivesBit = 2;      // spec: handshake.md §4

std::optional<Cipher> known_cipher(std::uint8_t number) {
  const auto cipher = static_cast<Cipher>(number);
  switch (cipher) {
    case Cipher::aes_256_gcm:
    case Cipher::aes_128_gcm:
    case Cipher::chacha20_poly1305:
      return cipher;
  }
  return std::nullopt;
}

// The items that offers and acceptances have in common, by the same names.
template <typename Message>
void add_common(ItemWriter& writer, const Message& message) {
  writer.add_u32(ItemType::block, message.block_bytes);
  writer.add_u16(ItemType::lanes, message.lanes);
  writer.add_u8(ItemType::directions,
                static_cast<std::uint8_t>((message.sends ? kSendsBit : 0) | (message.receives ? kReceivesBit : 0)));
  writer.add_u32(ItemType::window, message.initial_window_bytes);
  if (message.flows > 1) writer.add_u8(ItemType::flows, message.flows);
  if (const auto number = assigned_number(message.application); number != 0)
    writer.add_u8(ItemType::purpose, number);
  else if (is_service_name(message.application))
    writer.add_text(ItemType::application, message.application);
  if (!message.name.empty()) writer.add_text(ItemType::name, message.name);
  if (message.application_data != 0) writer.add_u8(ItemType::application_data, message.application_data);
  if (message.streams != kMaxStreams) writer.add_u16(ItemType::streams, message.streams);
  if (message.reports) writer.add_u8(ItemType::reports, 1);
}

// A missing name is the empty one.
Result<std::string> read_name(const ItemReader& items, ItemType type, const char* what) {
  const auto name = items.text(type);
  if (name && !is_end_name(*name)) return bad_item(what);
  return std::string(name.value_or(""));
}

// The number counts where both are there; 0 is no application, as where neither is.
Result<std::string> read_application(const ItemReader& items) {
  if (items.find(ItemType::purpose)) {
    const auto number = items.u8(ItemType::purpose);
    if (!number) return bad_item("purpose");
    return *number == 0 ? std::string() : application_of(*number);
  }
  const auto name = items.text(ItemType::application);
  if (name && !is_service_name(*name)) return bad_item("application");
  return std::string(name.value_or(""));
}

template <typename Message>
Status read_common(const ItemReader& items, Message& message) {
  const auto block = items.u32(ItemType::block);
  if (!block || *block < kMinBlockBytes || *block > kMaxBlockBytes) return bad_item("block");
  const auto lanes = items.u16(ItemType::lanes);
  if (!lanes || *lanes < 1 || *lanes > kMaxLanes) return bad_item("lanes");
  const auto directions = items.u8(ItemType::directions);
  if (!directions || *directions > (kSendsBit | kReceivesBit)) return bad_item("directions");
  const auto window = items.u32(ItemType::window);
  if (!window) return bad_item("window");
  // An end that knows of no flows has one.
  const auto flows = items.find(ItemType::flows) ? items.u8(ItemType::flows) : std::uint8_t{1};
  if (!flows || *flows < 1 || *flows > kMaxFlows) return bad_item("flows");
  UDTCAT_TRY(message.application, read_application(items));
  UDTCAT_TRY(message.name, read_name(items, ItemType::name, "name"));
  const auto data = items.find(ItemType::application_data) ? items.u8(ItemType::application_data) : std::uint8_t{0};
  if (!data) return bad_item("application data");
  message.application_data = *data;
  const auto streams = items.find(ItemType::streams) ? items.u16(ItemType::streams) : std::uint16_t{kMaxStreams};
  if (!streams || *streams < 1 || *streams > kMaxStreams) return bad_item("streams");
  message.streams = *streams;
  const auto reports = items.find(ItemType::reports) ? items.u8(ItemType::reports) : std::uint8_t{0};
  if (!reports || *reports > 1) return bad_item("reports");
  message.reports = *reports == 1;
  message.block_bytes = *block;
  message.lanes = *lanes;
  message.flows = *flows;
  message.sends = (*directions & kSendsBit) != 0;
  message.receives = (*directions & kReceivesBit) != 0;
  message.initial_window_bytes = *window;
  return {};
}

// service := size:u8 name[size]
std::vector<std::byte> services_value(const std::vector<std::string>& services) {
  std::vector<std::byte> value;
  for (const std::string& name : services) {
    value.push_back(static_cast<std::byte>(name.size()));
    const auto bytes = std::as_bytes(std::span(name));
    value.insert(value.end(), bytes.begin(), bytes.end());
  }
  return value;
}

Result<std::vector<std::string>> read_services(std::span<const std::byte> value) {
  std::vector<std::string> services;
  while (!value.empty()) {
    const auto size = std::to_integer<std::size_t>(value[0]);
    if (size >= value.size() || services.size() == kMaxServices) return bad_item("services");
    const auto name = core::as_text(value.subspan(1, size));
    if (!name.empty() && !is_service_name(name)) return bad_item("services");
    if (std::find(services.begin(), services.end(), name) != services.end()) return bad_item("services");
    services.emplace_back(name);
    value = value.subspan(1 + size);
  }
  return services;
}

std::optional<std::vector<Cipher>> read_ciphers(std::span<const std::byte> list) {
  std::vector<Cipher> ciphers;
  if (list.size() > kMaxCiphers) return std::nullopt;
  for (auto at = list.begin(); at != list.end(); ++at) {
    if (std::find(list.begin(), at, *at) != at) return std::nullopt;
    if (const auto cipher = known_cipher(std::to_integer<std::uint8_t>(*at))) ciphers.push_back(*cipher);
  }
  return ciphers;
}

Result<Answer> read_acceptance(const ItemReader& items) {
  Acceptance acceptance;
  const auto cipher = items.u8(ItemType::cipher);
  if (!cipher || !known_cipher(*cipher)) return bad_item("cipher");
  acceptance.cipher = *known_cipher(*cipher);
  UDTCAT_CHECK(read_common(items, acceptance));
  if (acceptance.flows == 1) return acceptance;
  const auto session = items.find(ItemType::session);
  if (!session || session->size() != kSessionIdBytes) return bad_item("session");
  std::copy(session->begin(), session->end(), acceptance.session_id.begin());
  return acceptance;
}

Result<Answer> read_refusal(const ItemReader& items) {
  const auto reason = items.text(ItemType::reason);
  if (!reason || reason->size() > kMaxReasonBytes) return bad_item("reason");
  const auto later = items.find(ItemType::later) ? items.u8(ItemType::later) : std::uint8_t{0};
  if (!later || *later > 1) return bad_item("later");
  return Refusal{core::printable(*reason, kMaxReasonBytes), *later == 1};
}

std::vector<std::byte> encode(const Acceptance& acceptance) {
  ItemWriter writer(MessageKind::acceptance);
  writer.add_u8(ItemType::cipher, static_cast<std::uint8_t>(acceptance.cipher));
  add_common(writer, acceptance);
  if (acceptance.flows > 1) writer.add(ItemType::session, acceptance.session_id);
  return writer.finish();
}

std::vector<std::byte> encode(const Refusal& refusal) {
  ItemWriter writer(MessageKind::refusal);
  const std::string reason = core::printable(refusal.reason, kMaxReasonBytes);
  writer.add_text(ItemType::reason, reason);
  if (refusal.later) writer.add_u8(ItemType::later, 1);
  return writer.finish();
}

}  // namespace

std::vector<std::byte> encode(const Offer& offer) {
  ItemWriter writer(MessageKind::offer);
  writer.add_u8(ItemType::protection, static_cast<std::uint8_t>(offer.protection));
  if (offer.protection >= Protection::safe) writer.add(ItemType::ciphers, std::as_bytes(std::span(offer.ciphers)));
  add_common(writer, offer);
  if (!offer.peer.empty()) writer.add_text(ItemType::peer, offer.peer);
  if (!offer.services.empty()) writer.add(ItemType::services, services_value(offer.services));
  return writer.finish();
}

std::vector<std::byte> encode(const Answer& answer) {
  return std::visit([](const auto& message) { return encode(message); }, answer);
}

Result<Offer> decode_offer(std::span<const std::byte> in) {
  UDTCAT_TRY(const auto opened, open_message(in));
  if (opened.kind != MessageKind::offer) return bad_message("it is not an offer");
  const ItemReader& items = opened.items;
  Offer offer;
  const auto protection = items.u8(ItemType::protection);
  if (!protection || *protection > static_cast<std::uint8_t>(Protection::private_)) return bad_item("protection");
  offer.protection = static_cast<Protection>(*protection);
  if (offer.protection >= Protection::safe) {
    const auto list = items.find(ItemType::ciphers);
    const auto ciphers = list ? read_ciphers(*list) : std::nullopt;
    if (!ciphers) return bad_item("ciphers");
    offer.ciphers = *ciphers;
  }
  UDTCAT_CHECK(read_common(items, offer));
  UDTCAT_TRY(offer.peer, read_name(items, ItemType::peer, "peer"));
  if (const auto services = items.find(ItemType::services)) {
    UDTCAT_TRY(offer.services, read_services(*services));
  }
  return offer;
}

Result<Answer> decode_answer(std::span<const std::byte> in) {
  UDTCAT_TRY(const auto opened, open_message(in));
  switch (opened.kind) {
    case MessageKind::acceptance:
      return read_acceptance(opened.items);
    case MessageKind::refusal:
      return read_refusal(opened.items);
    case MessageKind::offer:
    case MessageKind::join:
    case MessageKind::joined:
      break;
  }
  return bad_message("it is not an answer");
}

Result<std::size_t> parameter_message_bytes(std::span<const std::byte> prefix) {
  return decode_prefix(prefix).map([](Prefix decoded) { return kParameterPrefixBytes + decoded.body_bytes; });
}

}  // namespace udtcat::session
