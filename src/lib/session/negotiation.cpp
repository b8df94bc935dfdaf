// SPDX-License-Identifier: Apache-2.0
/// Makes the offer, decides on it, and agrees. See docs/spec/handshake.md §4.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "lib/crypto/aead.hpp"
#include "lib/session/application.hpp"
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

/// An end's application and name, and the name that it wants to meet.
struct EndIdentity {
  std::string_view application;
  std::string_view name;
  std::string_view peer;
};

std::string wrong_name(const char* who, std::string_view wanted, const char* other, std::string_view name) {
  return fmt::format("the {} wants {}, the {} {}", who, wanted, other,
                     name.empty() ? "has no name (--as)" : fmt::format("is {}", name));
}

/// Why the names or applications do not match; none: they do.
std::optional<std::string> mismatch(const EndIdentity& connector, const EndIdentity& listener,
                                    decltype(SessionOptions::commands_of) commands_of) {
  if (connector.application != listener.application || listener.application.empty())
    return application_refusal(listener.application, connector.application, commands_of);
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

Result<NegotiatedParameters> agree_to(const Offer& offer, const Acceptance& acceptance,
                                      decltype(SessionOptions::commands_of) commands_of) {
  const auto violated = [](const char* why) { return fail(Errc::protocol_violated, "agree with the listener", why); };
  if (offer.protection >= Protection::safe && !contains(offer.ciphers, acceptance.cipher))
    return violated("it chose a cipher that was not offered");
  // The listener has checked its own requirements.
  if (auto why = mismatch({offer.application, offer.name, offer.peer}, {acceptance.application, acceptance.name, {}},
                          commands_of))
    return fail(Errc::parameters_refused, "agree with the listener", std::move(*why));
  if (acceptance.block_bytes > offer.block_bytes) return violated("it chose larger blocks than were offered");
  if (acceptance.lanes > offer.lanes) return violated("it chose more lanes than were offered");
  if (acceptance.flows > offer.flows) return violated("it chose more flows than were offered");
  if (!anything_flows(offer, acceptance)) return violated("it accepted though nobody would hear the other");
  return NegotiatedParameters{.protection = offer.protection,
                              .cipher = acceptance.cipher,
                              .block_bytes = acceptance.block_bytes,
                              .lanes = acceptance.lanes,
                              .peer_sends = acceptance.sends,
                              .peer_receives = acceptance.receives,
                              .window_to_peer_bytes = acceptance.initial_window_bytes,
                              .window_from_peer_bytes = offer.initial_window_bytes,
                              .flows = acceptance.flows,
                              .session_id = acceptance.session_id,
                              .application = offer.application,
                              .connector_name = offer.name,
                              .listener_name = acceptance.name,
                              .peer_application_data = acceptance.application_data,
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
          .application = options.application,
          .name = options.own_name,
          .peer = options.expected_peer,
          .application_data = options.application_data,
          .services = options.services,
          .streams = streams_of(options),
          .reports = true};
}

Answer decide(const Offer& offer, const SessionOptions& ours, std::uint32_t initial_window_bytes) {
  if (offer.protection != ours.protection) return Refusal{protection_refusal(offer.protection, ours.protection)};
  if (auto why = mismatch({offer.application, offer.name, offer.peer},
                          {ours.application, ours.own_name, ours.expected_peer}, ours.commands_of))
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
  acceptance.application = ours.application;
  acceptance.name = ours.own_name;
  acceptance.application_data = ours.application_data;
  acceptance.streams = streams_of(ours);
  acceptance.reports = true;
  return acceptance;
}

Result<NegotiatedParameters> agree(const Offer& offer, const Answer& answer,
                                   decltype(SessionOptions::commands_of) commands_of) {
  if (const auto* refusal = std::get_if<Refusal>(&answer))
    return fail(refusal->later ? Errc::out_of_resources : Errc::parameters_refused, "the listener refuses",
                refusal->reason);
  return agree_to(offer, std::get<Acceptance>(answer), commands_of);
}

NegotiatedParameters agree(const Offer& offer, const Acceptance& ours) {
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
          .application = ours.application,
          .connector_name = offer.name,
          .listener_name = ours.name,
          .peer_application_data = offer.application_data,
          .peer_services = offer.services,
          .streams_to_peer = offer.streams,
          .peer_takes_reports = offer.reports};
}

std::vector<std::byte> exporter_context(const NegotiatedParameters& agreed) {
  const std::uint8_t number = assigned_number(agreed.application);
  std::vector<std::byte> context{static_cast<std::byte>(number)};
  const auto add = [&](std::string_view name) {
    context.push_back(static_cast<std::byte>(name.size()));
    const auto bytes = std::as_bytes(std::span(name));
    context.insert(context.end(), bytes.begin(), bytes.end());
  };
  add(agreed.connector_name);
  add(agreed.listener_name);
  if (number == 0) add(agreed.application);
  return context;
}

}  // namespace udtcat::session
