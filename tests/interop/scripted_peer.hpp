// SPDX-License-Identifier: Apache-2.0
/// An end of a connection that sends exactly what the test says, and keeps what it hears.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "interop/transfer.hpp"
#include "support/descriptor.hpp"
#include "support/wire.hpp"

namespace udtcat::test::interop {

struct Heard {
  Bytes datagram;
  Endpoint from;
  Clock::time_point at;
  [[nodiscard]] PacketView view() const { return PacketView(datagram); }
};

/// A UDP port that speaks and hears packets. Threads: confined.
class ScriptedPort {
 public:
  explicit ScriptedPort(AddressFamily family = AddressFamily::ipv4);

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] Endpoint endpoint() const;
  void send(const Endpoint& to, std::span<const std::byte> datagram) const;
  /// The next, or none within `limit`.
  [[nodiscard]] std::optional<Heard> hear(std::chrono::milliseconds limit);
  /// The next that fits; what does not is left out, but log() knows it.
  [[nodiscard]] std::optional<Heard> hear_one(const std::function<bool(const PacketView&)>& which,
                                              std::chrono::milliseconds limit);
  /// All that comes within `time`.
  [[nodiscard]] std::vector<Heard> hear_all(std::chrono::milliseconds time);
  /// Everything heard so far, for a failure's message.
  [[nodiscard]] std::string log() const;

 private:
  AddressFamily family_;
  Descriptor socket_;
  std::uint16_t port_ = 0;
  Clock::time_point begin_ = Clock::now();
  std::vector<std::string> log_;
};

/// An established connection, spoken by hand over a port. Its own data begins at `initial_sequence`, and so does the
/// peer's. Threads: confined.
class ScriptedPeer {
 public:
  /// Plays the client: induction and conclusion as `wish` says. None where the server does not answer, or refuses.
  [[nodiscard]] static std::optional<ScriptedPeer> connect(ScriptedPort& port, const Endpoint& server, Handshake wish,
                                                           std::chrono::milliseconds limit = std::chrono::seconds(3));
  /// Plays the server: answers inductions with `cookie` and the conclusion with `answer`, of which the initial sequence
  /// number is the client's and the MSS at most the client's.
  [[nodiscard]] static std::optional<ScriptedPeer> accept(ScriptedPort& port, Handshake answer,
                                                          std::chrono::milliseconds limit = std::chrono::seconds(5));

  ScriptedPeer(ScriptedPort& port, const Endpoint& peer, const Handshake& mine, const Handshake& theirs);

  [[nodiscard]] ScriptedPort& port() { return *port_; }
  [[nodiscard]] const Endpoint& peer() const { return peer_; }
  [[nodiscard]] const Handshake& mine() const { return mine_; }
  [[nodiscard]] const Handshake& theirs() const { return theirs_; }
  [[nodiscard]] std::size_t payload_bytes() const { return mine_.mss - kMssOverheadBytes; }
  [[nodiscard]] std::uint32_t initial_sequence() const { return mine_.initial_sequence; }
  /// Of the next data packet that send_data() sends by itself.
  [[nodiscard]] std::uint32_t next_sequence() const { return next_sequence_; }
  /// Of the next data packet that is expected.
  [[nodiscard]] std::uint32_t expected_sequence() const { return expected_sequence_; }

  void send(std::span<const std::byte> datagram) const { port_->send(peer_, datagram); }
  void send_data(std::span<const std::byte> payload);
  void send_data_at(std::uint32_t sequence, std::span<const std::byte> payload) const;
  void send_control(Type type, std::uint32_t info, const Words& payload) const;
  /// ACK of all before `next`, as a full one of libudt's, with a number of its own.
  void send_full_ack(std::uint32_t next, std::uint32_t window_packets = 8192);
  void send_light_ack(std::uint32_t next) const;
  void send_nak(const Words& list) const { send_control(Type::nak, 0, list); }

  /// Hears on as a polite receiver does, with an ACK to every data packet, a NAK of what is missing and an ACK2 to
  /// every ACK, until `bytes` have come in order.
  [[nodiscard]] Bytes collect(std::size_t bytes, std::chrono::milliseconds limit);
  /// The same, until all data up to next_sequence() has been acknowledged. Data goes into collect()'s store.
  [[nodiscard]] bool wait_until_acknowledged(std::chrono::milliseconds limit);
  /// As hear_one(), politely meanwhile.
  [[nodiscard]] std::optional<Heard> wait_for(const std::function<bool(const PacketView&)>& which,
                                              std::chrono::milliseconds limit);
  [[nodiscard]] std::uint32_t acknowledged() const { return acknowledged_; }
  /// Of the data packets heard while waiting politely.
  [[nodiscard]] std::size_t largest_payload() const { return largest_payload_; }
  /// Whether to acknowledge at all while waiting. Both: on.
  bool answers_data = true;
  bool answers_acks = true;

 private:
  [[nodiscard]] bool polite_until(const std::function<bool(const Heard&)>& done, std::chrono::milliseconds limit);
  void answer(const PacketView& packet);

  ScriptedPort* port_;
  Endpoint peer_;
  Handshake mine_;
  Handshake theirs_;
  std::uint32_t next_sequence_ = 0;
  std::uint32_t expected_sequence_ = 0;
  std::uint32_t acknowledged_ = 0;
  std::uint32_t ack_number_ = 0;
  std::size_t largest_payload_ = 0;
  Bytes received_;
  std::map<std::uint32_t, Bytes> early_;  ///< came before their turn, by sequence number
};

}  // namespace udtcat::test::interop
