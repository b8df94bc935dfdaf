// SPDX-License-Identifier: Apache-2.0
/// The connection: composes blocks of the frames of its streams, and gives frames that arrive to their streams.
///
///   source ─ fill ─► BlockWriter ─ Block ─► Session.async_write           pump()
///   sink ◄─ MuxStream ◄─ FrameReader ◄─ Block ◄─ Session.async_read       read_on()
///
/// Its parts are independent of each other: MuxStream, BlockWriter, StreamTable, Liveness, CloseHandshake,
/// StatsExchange.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>

#include "lib/connection/block_writer.hpp"
#include "lib/connection/close_handshake.hpp"
#include "lib/connection/flow_dialing.hpp"
#include "lib/connection/liveness.hpp"
#include "lib/connection/mux_stream.hpp"
#include "lib/connection/selected_pair.hpp"
#include "lib/connection/session_table.hpp"
#include "lib/connection/stats_exchange.hpp"
#include "lib/connection/stream_table.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/stats_clocks.hpp"
#include "lib/session/session.hpp"

namespace udtcat::connection {

class Multiplexer final : public Connection, private StreamHost {
 public:
  /// Below the session.
  struct Parts {
    std::shared_ptr<void> keep_alive{};               ///< destroyed after the session: the engine of its channel
    std::shared_ptr<transport::Engine> dialled_by{};  ///< a connector's, for further flows
    FlowDialing::Settings flows{};                    ///< likewise
    std::shared_ptr<SessionTable> joined_by{};        ///< a listener's
  };
  /// known_peers   of the session's key pair: the connection breaks off when the peer is removed from them
  /// errors        Errc::cipher_failed; Errc::out_of_resources; those of KnownPeers::on_session()
  [[nodiscard]] static Result<std::unique_ptr<Connection>> create(boost::asio::io_context& io,
                                                                  std::unique_ptr<session::Session> session,
                                                                  const SessionOptions& options, Parts below,
                                                                  std::shared_ptr<KnownPeers> known_peers = nullptr);

  using Connection::accept_stream;
  using Connection::open_stream;
  StreamId open_stream(std::unique_ptr<LocalStream> local, OutcomeHandler done, const std::string& service) override;
  [[nodiscard]] std::size_t streams_left() const override;
  void on_stream(StreamHandler handler) override {
    streams_.take_streams(handler != nullptr);
    on_stream_ = std::move(handler);
  }
  void on_stream_given_up(StreamHandler handler) override { on_stream_given_up_ = std::move(handler); }
  [[nodiscard]] std::optional<std::string> service_of(StreamId id) const override { return streams_.service_of(id); }
  void accept_stream(StreamId id, std::unique_ptr<LocalStream> local, OutcomeHandler done) override;
  void refuse_stream(StreamId id, const Error& reason) override;
  void on_closed(ClosedHandler handler) override;
  void close() override;
  void abort(const Error& reason) override { break_off(reason, true); }
  [[nodiscard]] ConnectionStats stats() override;
  void send_report() override { report_if_due(std::chrono::nanoseconds(0)); }
  [[nodiscard]] bool answers() const override { return !liveness_.quiet(now()); }
  void on_quiet(QuietHandler handler) override { on_quiet_ = std::move(handler); }
  [[nodiscard]] boost::asio::io_context& io() override { return io_; }
  [[nodiscard]] Endpoint peer() const override { return peer_; }
  void try_path(const Endpoint& address) override { session_->try_path(address); }
  void set_candidates(std::vector<Endpoint> locals, std::vector<Candidate> remotes) override {
    selected_pair_.emplace(std::move(locals), std::move(remotes));
  }
  void watch_path(const std::optional<Endpoint>& fallback) override { session_->watch_path(fallback); }
  [[nodiscard]] bool path_is_silent() const override { return session_->path_is_silent(); }
  void name_paths(PathWords words) override { path_words_ = std::move(words); }
  void set_tunnel(std::function<void(std::span<const std::byte>)> send) override {
    session_->set_tunnel(std::move(send));
  }
  void take_from_tunnel(std::span<const std::byte> packet) override { session_->take_from_tunnel(packet); }
  [[nodiscard]] Endpoint path() const override { return session_->peer(); }
  [[nodiscard]] const std::string& application() const override { return session_->agreed().application; }
  [[nodiscard]] std::optional<PeerIdentity> peer_identity() const override { return session_->agreed().peer; }
  [[nodiscard]] bool peer_receives() const override { return session_->agreed().peer_receives; }
  [[nodiscard]] bool peer_sends() const override { return session_->agreed().peer_sends; }
  [[nodiscard]] std::uint8_t peer_application_data() const override { return session_->agreed().peer_application_data; }
  [[nodiscard]] const std::vector<std::string>& peer_services() const override {
    return session_->agreed().peer_services;
  }

 private:
  Multiplexer(boost::asio::io_context& io, std::unique_ptr<session::Session> session, const SessionOptions& options,
              Parts below);

  // StreamHost
  void send(Frame frame) override;
  void source_ready(MuxStream& stream) override;
  void count_sent(std::size_t bytes) override;
  void count_consumed(std::size_t bytes) override;
  void stream_over(MuxStream& stream, StreamOutcome outcome) override;
  void note_starved(bool starved) override { stats_exchange_.note_starved(starved); }
  void note_consuming(bool consuming) override { stats_exchange_.note_consuming(now(), consuming); }
  [[nodiscard]] TimePoint now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] std::chrono::microseconds rtt() const override { return least_rtt_; }

  [[nodiscard]] Status watch_peer(std::shared_ptr<KnownPeers> known_peers);
  void wake();
  void pump();
  [[nodiscard]] std::optional<StallReason> stall_reason(bool with_data) const;
  [[nodiscard]] bool send_block(BlockWriter::Content content, std::size_t most_bytes);
  void on_written(const Status& status);

  void read_on();
  [[nodiscard]] Error with_silence(Error error) const;
  void on_block(Result<session::Block> block);
  [[nodiscard]] Status take_frames(session::Block& block);
  [[nodiscard]] Status take_frame(Frame& frame, session::Block& block);
  void on_priority_datagram(std::span<const std::byte> payload);
  [[nodiscard]] Status take_early_frames(std::span<const std::byte> payload);
  [[nodiscard]] Status on_early_open(StreamId id, const std::string& service);
  [[nodiscard]] Status on_open(StreamId id, std::string service);
  void on_close_frame(const Close& close);

  void take_rtt();
  void note_payload(TimePoint at);
  void arm_tick();
  void on_tick();
  void tell_quiet();
  void report_if_due(std::chrono::nanoseconds interval);

  MuxStream& add_stream(StreamId id, OutcomeHandler done, std::optional<std::string> service);
  void send_close();
  void note_close_sent();
  void close_if_told();
  void finish_when_agreed();
  void break_off(Error error, bool tell_peer);
  void end(Status how, std::chrono::milliseconds drain);
  void report(Status how);

  void note_moved();

  const Parts below_;  // destroyed last
  boost::asio::io_context& io_;
  const Endpoint peer_;
  WindowBudget budget_;
  std::unique_ptr<session::Session> session_;
  std::unique_ptr<FlowDialing> flow_dialing_;     // a connector's, where several flows are agreed on
  std::optional<SessionTable::Entry> joined_by_;  // a listener's, likewise

  BlockWriter writer_;
  bool wake_scheduled_ = false;
  bool reading_ = false;  // async_read() is outstanding
  StreamTable streams_;
  CloseHandshake closing_;
  StatsExchange stats_exchange_;

  Liveness liveness_;
  boost::asio::steady_timer tick_;
  std::chrono::microseconds least_rtt_{0};  // lately; 0: not known yet
  std::optional<std::uint64_t> pong_due_;   // the token of the latest PING: one answer for many bounds the queue

  std::optional<SelectedPair> selected_pair_;  // none: no candidates were exchanged

  StreamHandler on_stream_;
  StreamHandler on_stream_given_up_;
  ClosedHandler on_closed_;
  QuietHandler on_quiet_;
  PathWords path_words_;
  bool quiet_told_ = false;  // in the present silence
  std::optional<Status> closed_unreported_;
  std::optional<KnownPeers::Watch> peer_watch_;  // of a peer with a key pair
  core::Lifetime lifetime_;
};

}  // namespace udtcat::connection
