// SPDX-License-Identifier: Apache-2.0
/// Makes the offer, decides on it, and agrees. See docs/spec/handshake.md §4.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "lib/crypto/aead.hpp"
#include "lib/session/parameters.hpp"

namespace udtcat::session {

namespace {

// Options come from callers; what is sent is within the limits in any case.
std::uint32_t block_bytes_of(const SessionOptions& options) {
  return static_cast<std::uint32_t>(std::clamp(options.block_bytes, kMinBlockBytes, kMaxBlockBytes));
}

std::uint16_t lanes_of(const SessionOptions& options) {
  return static_cast<std::uint16_t>(std::clamp<std::size_t>(options.lanes, 1, kMaxLanes));
}

/// `none`: what stands where the user says nothing.
std::uint8_t flows_of(const SessionOptions& options, std::size_t none) {
  return static_cast<std::uint8_t>(std::clamp<std::size_t>(options.flows.value_or(none), 1, kMaxFlows));
}

std::uint16_t streams_of(const SessionOptions& options) {
  return static_cast<std::uint16_t>(std::clamp<std::size_t>(options.streams, 1, kMaxStreams));
}

std::vector<Cipher> ciphers_of(const SessionOptions& options) {
  if (options.protection < Protection::safe) return {};
  if (options.cipher) return {*options.cipher};
  // aes-128-gcm is only ever an explicit wish.
  const Cipher first = crypto::fastest_256_bit_cipher();
  return {first, first == Cipher::aes_256_gcm ? Cipher::chacha20_poly1305 : Cipher::aes_256_gcm};
}

std::string protection_refusal(Protection offered, Protection ours) {
  return fmt::format("the listener asks for {}, the connector for {}", to_string(ours), to_string(offered));
}

/// The command that listens for a purpose, and the one that dials it.
struct PurposeCommands {
  Purpose purpose;
  std::string_view listens;
  std::string_view dials;
};
constexpr std::array kCommands{
    PurposeCommands{Purpose::pipe, "udtcat -l PORT", "udtcat HOST PORT"},
    PurposeCommands{Purpose::forward, "udtcat -l PORT --to PLACE", "udtcat HOST PORT --from PLACE"},
    PurposeCommands{Purpose::rsh, "udtcat rsh-server, which ssh starts", "udtcat rsh HOST COMMAND"},
    PurposeCommands{Purpose::gridftp, "udtcat gridftp serve", "udtcat gridftp get, put or copy"},
    PurposeCommands{Purpose::gateway, "udtcat gridftp gateway -l", "udtcat gridftp gateway HOST PORT"},
    PurposeCommands{Purpose::driver, "a GridFTP server's data port", "a GridFTP client's data connection"},
    PurposeCommands{Purpose::bench, "udtcat -l PORT", "udtcat bench HOST PORT"},
    PurposeCommands{Purpose::trees, "udtcat receive -l or send --serve", "udtcat send or receive with HOST PORT"},
};

/// The commands of a purpose that this version knows; null: of another.
const PurposeCommands* commands_of(Purpose purpose) {
  const auto* const found = std::ranges::find(kCommands, purpose, &PurposeCommands::purpose);
  return found == kCommands.end() ? nullptr : found;
}

std::string purpose_text(Purpose purpose) {
  if (purpose == kNoPurpose) return "nothing that it says, as an older udtcat";
  if (purpose > Purpose::trees) return "what only a later udtcat knows";
  return std::string(to_string(purpose));
}

/// Said to both ends, which is why each is called by its part.
std::string purpose_refusal(Purpose listener, Purpose connector) {
  std::string text = "the listener is for " + purpose_text(listener);
  if (const auto* stands = commands_of(listener)) text += fmt::format(", which is dialled by {}", stands->dials);
  text += "; the connector is for " + purpose_text(connector);
  if (const auto* goes = commands_of(connector)) text += fmt::format(", which dials {}", goes->listens);
  return text;
}

/// An end's purpose and name, and the name that it wants to meet.
struct Introduction {
  Purpose purpose;
  std::string_view name;
  std::string_view peer;
};

std::string wrong_name(const char* who, std::string_view wanted, const char* other, std::string_view name) {
  return fmt::format("the {} wants {}, the {} {}", who, wanted, other,
                     name.empty() ? "has no name (--as)" : fmt::format("is {}", name));
}

/// Why these two are no peers; none: they are.
std::optional<std::string> mismatch(const Introduction& connector, const Introduction& listener) {
  if (connector.purpose != listener.purpose) return purpose_refusal(listener.purpose, connector.purpose);
  // Checked before the wanted names: an end that met itself has the wrong name, too, and this message says why.
  if (!connector.name.empty() && connector.name == listener.name)
    return fmt::format("this end met itself: both are called {}", connector.name);
  if (!connector.peer.empty() && connector.peer != listener.name)
    return wrong_name("connector", connector.peer, "listener", listener.name);
  if (!listener.peer.empty() && listener.peer != connector.name)
    return wrong_name("listener", listener.peer, "connector", connector.name);
  return std::nullopt;
}

std::string cipher_refusal(const SessionOptions& ours) {
  if (!ours.cipher) return "the connector offers no cipher that the listener knows";
  return fmt::format("the listener takes {} only, which the connector does not offer", to_string(*ours.cipher));
}

// At least one direction has a sender and a receiver.
template <typename Ours, typename Theirs>
bool anything_flows(const Ours& ours, const Theirs& theirs) {
  return (ours.sends && theirs.receives) || (ours.receives && theirs.sends);
}

std::string direction_refusal(const SessionOptions& ours) {
  return ours.sends ? "both ends only send: nobody would hear" : "both ends only receive: nobody would speak";
}

bool contains(const std::vector<Cipher>& ciphers, Cipher cipher) {
  return std::find(ciphers.begin(), ciphers.end(), cipher) != ciphers.end();
}

Result<Agreed> agree_to(const Offer& offer, const Acceptance& acceptance) {
  const auto violated = [](const char* why) { return fail(Errc::protocol_violated, "agree with the listener", why); };
  if (offer.protection >= Protection::safe && !contains(offer.ciphers, acceptance.cipher))
    return violated("it chose a cipher that was not offered");
  // The listener has seen to its own wishes.
  if (auto why = mismatch({offer.purpose, offer.name, offer.peer}, {acceptance.purpose, acceptance.name, {}}))
    return fail(Errc::parameters_refused, "agree with the listener", std::move(*why));
  if (acceptance.block_bytes > offer.block_bytes) return violated("it chose larger blocks than were offered");
  if (acceptance.lanes > offer.lanes) return violated("it chose more lanes than were offered");
  if (acceptance.flows > offer.flows) return violated("it chose more flows than were offered");
  if (!anything_flows(offer, acceptance)) return violated("it accepted though nobody would hear the other");
  return Agreed{.protection = offer.protection,
                .cipher = acceptance.cipher,
                .block_bytes = acceptance.block_bytes,
                .lanes = acceptance.lanes,
                .peer_sends = acceptance.sends,
                .peer_receives = acceptance.receives,
                .window_to_peer_bytes = acceptance.initial_window_bytes,
                .window_from_peer_bytes = offer.initial_window_bytes,
                .flows = acceptance.flows,
                .session_id = acceptance.session_id,
                .purpose = offer.purpose,
                .connector_name = offer.name,
                .listener_name = acceptance.name,
                .peer_statements = acceptance.statements,
                .streams_to_peer = acceptance.streams,
                .peer_takes_reports = acceptance.reports};
}

}  // namespace

Offer make_offer(const SessionOptions& options, std::uint32_t initial_window_bytes) {
  return {.protection = options.protection,
          .ciphers = ciphers_of(options),
          .block_bytes = block_bytes_of(options),
          .lanes = lanes_of(options),
          .sends = options.sends,
          .receives = options.receives,
          .initial_window_bytes = initial_window_bytes,
          .flows = flows_of(options, 1),
          .purpose = options.purpose,
          .name = options.own_name,
          .peer = options.expected_peer,
          .statements = options.statements,
          .services = options.services,
          .streams = streams_of(options),
          .reports = true};
}

Answer decide(const Offer& offer, const SessionOptions& options, std::uint32_t initial_window_bytes) {
  const SessionOptions ours = options_for(options, offer.purpose);
  if (offer.protection != ours.protection) return Refusal{protection_refusal(offer.protection, ours.protection)};
  if (auto why = mismatch({offer.purpose, offer.name, offer.peer}, {ours.purpose, ours.own_name, ours.expected_peer}))
    return Refusal{std::move(*why)};
  Acceptance acceptance;
  if (offer.protection >= Protection::safe) {
    const auto chosen = std::find_if(offer.ciphers.begin(), offer.ciphers.end(),
                                     [&](Cipher cipher) { return !ours.cipher || *ours.cipher == cipher; });
    if (chosen == offer.ciphers.end()) return Refusal{cipher_refusal(ours)};
    acceptance.cipher = *chosen;
  }
  if (!anything_flows(ours, offer)) return Refusal{direction_refusal(ours)};
  acceptance.block_bytes = std::min(offer.block_bytes, block_bytes_of(ours));
  acceptance.lanes = std::min(offer.lanes, lanes_of(ours));
  acceptance.sends = ours.sends;
  acceptance.receives = ours.receives;
  acceptance.initial_window_bytes = initial_window_bytes;
  acceptance.flows = std::min(offer.flows, flows_of(ours, kMaxFlows));
  acceptance.purpose = ours.purpose;
  acceptance.name = ours.own_name;
  acceptance.statements = ours.statements;
  acceptance.streams = streams_of(ours);
  acceptance.reports = true;
  return acceptance;
}

Result<Agreed> agree(const Offer& offer, const Answer& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer))
    return fail(refusal->later ? Errc::out_of_resources : Errc::parameters_refused, "the listener refuses",
                refusal->reason);
  return agree_to(offer, std::get<Acceptance>(answer));
}

Agreed agree(const Offer& offer, const Acceptance& ours) {
  return {.protection = offer.protection,
          .cipher = ours.cipher,
          .block_bytes = ours.block_bytes,
          .lanes = ours.lanes,
          .peer_sends = offer.sends,
          .peer_receives = offer.receives,
          .window_to_peer_bytes = offer.initial_window_bytes,
          .window_from_peer_bytes = ours.initial_window_bytes,
          .flows = ours.flows,
          .session_id = ours.session_id,
          .purpose = ours.purpose,
          .connector_name = offer.name,
          .listener_name = ours.name,
          .peer_statements = offer.statements,
          .peer_services = offer.services,
          .streams_to_peer = offer.streams,
          .peer_takes_reports = offer.reports};
}

std::vector<std::byte> exporter_context(const Agreed& agreed) {
  std::vector<std::byte> context{static_cast<std::byte>(agreed.purpose)};
  for (const std::string& name : {agreed.connector_name, agreed.listener_name}) {
    context.push_back(static_cast<std::byte>(name.size()));
    const auto bytes = std::as_bytes(std::span(name));
    context.insert(context.end(), bytes.begin(), bytes.end());
  }
  return context;
}

}  // namespace udtcat::session
