// SPDX-License-Identifier: Apache-2.0
/// A connection between our engine and a scripted end, in either role.
#pragma once

#include <memory>
#include <optional>

#include "interop/interop_fixture.hpp"

namespace udtcat::test::interop {

/// Parts end in the right order by themselves.
struct ScriptedLink {
  std::unique_ptr<OurEnd> end{};
  std::unique_ptr<ScriptedPort> port{};
  std::unique_ptr<OurChannel> ours{};
  std::optional<ScriptedPeer> peer{};

  [[nodiscard]] bool up() const { return ours && peer; }
  [[nodiscard]] std::string tell() const { return "\n" + (ours ? ours->counters() + "\n" : "") + port->log(); }

  /// Whether bytes still go both ways, from where the script stands. Empty, or what does not work.
  [[nodiscard]] std::string ails(std::uint64_t seed) {
    const auto towards_us = Pattern(seed).bytes(0, 3000);
    peer->send_data(std::span(towards_us).first(1000));
    peer->send_data(std::span(towards_us).subspan(1000, 1456));
    peer->send_data(std::span(towards_us).subspan(2456));
    ours->start_read(towards_us.size());
    if (!peer->wait_until_acknowledged(2s)) return "what the script sends is not acknowledged";
    const auto ended = ours->read_ended(2s);
    if (!ended) return "what the script sends is not delivered";
    if (!*ended) return "the read failed: " + ended->error().message();
    if (auto wrong = Pattern(seed).difference(0, ours->read_bytes())) return "delivered: " + *wrong;
    ours->start_write(Pattern(seed + 1).bytes(0, 3000));
    const auto from_us = peer->collect(3000, 3s);
    if (from_us.size() != 3000) return "of 3000 bytes that we send come " + std::to_string(from_us.size());
    if (auto wrong = Pattern(seed + 1).difference(0, from_us)) return "we sent: " + *wrong;
    return {};
  }
};

/// `theirs` is what the script says of itself; its first sequence number counts where it connects.
inline ScriptedLink make_scripted_link(Role role, Handshake theirs = {.initial_sequence = 0x12345678, .id = 0x2fd3ab96},
                                       const TransportOptions& ours = {}) {
  ScriptedLink link{.end = std::make_unique<OurEnd>(ours), .port = std::make_unique<ScriptedPort>()};
  if (role == Role::listens) {
    const std::uint16_t listening = link.end->listen();
    link.end->start_accept();
    link.peer = ScriptedPeer::connect(*link.port, loopback(AddressFamily::ipv4, listening), theirs);
    if (link.peer) link.ours = link.end->accepted(3s);
  } else {
    link.end->start_connect(link.port->endpoint(), 5s);
    link.peer = ScriptedPeer::accept(*link.port, theirs);
    auto connected = link.end->connected(3s);
    EXPECT_TRUE(connected) << connected.error().message();
    if (connected) link.ours = std::move(*connected);
  }
  EXPECT_TRUE(link.up()) << link.port->log();
  return link;
}

}  // namespace udtcat::test::interop
