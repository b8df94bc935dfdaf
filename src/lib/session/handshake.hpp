// SPDX-License-Identifier: Apache-2.0
/// From a channel to a session: TLS, offer and answer, keys. See docs/spec/handshake.md.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/credentials.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/session/join.hpp"
#include "lib/session/session.hpp"
#include "lib/session/tls_handshake.hpp"

namespace udtcat::session {

inline constexpr auto kFirstFlightDeadline = std::chrono::seconds(3);  // spec: handshake.md §7
inline constexpr auto kHandshakeDeadline = std::chrono::seconds(10);   // spec: handshake.md §7
inline constexpr std::chrono::milliseconds kRefusalDrain(500);  // guess: a few round trips, for the alert to arrive

/// One handshake in progress. Destroying it breaks the channel off. After its handler has reported an error it still
/// holds the channel, closing, so that the peer learns why: keep it for kRefusalDrain.
/// Threads: confined to the io_context thread; the handler is called once, not from inside start().
class Handshake {
 public:
  using Handler = std::function<void(Result<std::unique_ptr<Session>>)>;
  using JoinHandler = std::function<void(const Join& join, std::unique_ptr<transport::Channel> channel)>;
  /// Told that the peer has proved the key; the handshake goes on when `go_on` is called, once.
  using ProofHandler = std::function<void(std::function<void()> go_on)>;
  using AdmissionCheck = std::function<Status(const Endpoint& peer, const std::optional<PeerIdentity>& identity,
                                              std::string_view application)>;

  /// credentials   none exactly at Protection::clear; must outlive this
  /// initial_window_bytes   credit that this end gives to a new stream
  Handshake(boost::asio::io_context& io, Role role, const Credentials* credentials, const SessionOptions& options,
            std::uint32_t initial_window_bytes, Handler handler);
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;

  /// Listener only: a channel that says JOIN first is handed to `handler`, its proof unchecked, and Handler is not
  /// called. Without this it is refused as a peer that speaks no TLS.
  void take_joins(JoinHandler handler) { join_handler_ = std::move(handler); }

  /// Listener only: an offer of one of these applications is as welcome as one of the first.
  void serve_further(std::vector<SessionOptions> further) { further_ = std::move(further); }

  /// Listener only: asked before an offer is accepted. An error, whose cause the connector is told, refuses it for now.
  void check_admission(AdmissionCheck admits) { admits_ = std::move(admits); }

  /// Connector only, with a key: asked before its last flight leaves, without which the listener has no session.
  void hold_last_flight(ProofHandler handler) { proof_handler_ = std::move(handler); }

  /// Connector only, once: what its channel begins with.  errors: Errc::cipher_failed
  [[nodiscard]] Result<core::SharedBytes> first_flight();

  /// channel   one that a listener accepted; a connector's, which has been given first_flight()
  /// A session of several flows has its first, and a join key for the others.
  /// errors (to the handler): Errc::cannot_reach when no byte came in time; Errc::authentication_failed;
  /// Errc::parameters_refused; Errc::protocol_violated; Errc::connection_broken
  void start(std::unique_ptr<transport::Channel> channel);

 private:
  ///   silent ──the peer's first TLS record──► heard;  either ──a session, a join, an error──► over
  enum class State { silent, heard, over };

  void arm_deadlines();
  void read_tls_record();
  void on_tls_header();
  void on_tls_record();
  void on_tls_done();
  void on_unsealed_prefix();
  void on_join();
  void refuse_clear_peer();
  void read_clear_prefix();
  [[nodiscard]] Status offer_again_if_unread();
  void on_clear_prefix();
  void take_message();
  void finish_when_proved();
  void on_message(std::span<const std::byte> message);
  void on_offer(std::span<const std::byte> message);
  void on_answer(std::span<const std::byte> message);
  [[nodiscard]] const SessionOptions& options_for(std::string_view application) const;
  [[nodiscard]] std::vector<std::string> applications() const;
  [[nodiscard]] Status send_message(std::vector<std::byte> message);
  void flush_tls();
  void write(std::vector<std::byte> bytes);
  [[nodiscard]] Result<std::optional<KeySchedule>> key_schedule(const NegotiatedParameters& agreed);
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(const NegotiatedParameters& agreed);
  void finish(NegotiatedParameters agreed);
  void retire();
  void give_up(Error error);
  void read_exactly(std::size_t bytes, void (Handshake::*next)());

  boost::asio::io_context& io_;
  const Role role_;
  const Credentials* const credentials_;
  const SessionOptions options_;
  std::vector<SessionOptions> further_;
  const std::uint32_t initial_window_bytes_;
  Handler handler_;
  JoinHandler join_handler_;                    // may be none
  ProofHandler proof_handler_;                  // likewise
  AdmissionCheck admits_;                       // likewise
  std::optional<TlsHandshake> tls_;             // none at clear
  const Offer offer_;                           // the connector's own
  std::optional<NegotiatedParameters> agreed_;  // perhaps before the peer has proved the key
  std::vector<std::byte> input_;                // the TLS record or clear message being read
  std::vector<std::byte> message_;              // application data so far
  State state_ = State::silent;
  boost::asio::steady_timer first_flight_timer_;
  boost::asio::steady_timer deadline_timer_;
  // None before start(); last but one: its threads end before the buffers they fill.
  std::unique_ptr<transport::Channel> channel_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::session
