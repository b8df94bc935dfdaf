// SPDX-License-Identifier: Apache-2.0
/// The connection: decides which stream goes into a block and how much of it, and to which stream an arrived frame
/// goes.
///
///   source ─ fill ─► BlockWriter ─ Block ─► Session.async_write           pump()
///   sink ◄─ MuxStream ◄─ FrameReader ◄─ Block ◄─ Session.async_read       read_on()
///
/// MuxStream, BlockWriter, ReceiveCredit and Liveness decide what can be decided without the others.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>

#include "lib/connection/block_writer.hpp"
#include "lib/connection/liveness.hpp"
#include "lib/connection/mux_stream.hpp"
#include "lib/core/evidence_clocks.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/session/session.hpp"

namespace udtcat::connection {

/// How long a peer that is alive may take to answer CLOSE. A dead one is noticed by its silence.
inline constexpr auto kCloseWait = std::chrono::seconds(60);  // guess: an outage of half a minute and then some
/// Streams that end in one turn of the event loop: what opens behind more waits for the next, or is refused.
inline constexpr std::size_t kMaxEndedStreams = 4 * kMaxStreams;  // guess: a full block's, of clients that give up
inline constexpr StreamId kLastStreamId = 0xffff'fff0;            // guess: well before the session's own number
inline constexpr auto kReportInterval = std::chrono::seconds(1);  // spec: stream.md §7
inline constexpr auto kBreakOffDrain = std::chrono::seconds(2);   // guess: a dozen round trips of a bad path

///   open ──close() or their CLOSE──► closing ──both CLOSEs, or their silence──► over
///   open, closing ──error, abort()──► breaking ──our CLOSE is out, or cannot be──► over
///   open, closing ──an error that the peer cannot be told──► over
class Multiplexer final : public Connection, private StreamHost {
 public:
  /// keep_alive    what the session's channel needs to live: its engine
  /// known_peers   of the key pair that the session was made with; breaks off when the peer is no longer among them
  /// errors        Errc::cipher_failed; Errc::out_of_resources; those of KnownPeers::on_session()
  [[nodiscard]] static Result<std::unique_ptr<Connection>> create(boost::asio::io_context& io,
                                                                  std::unique_ptr<session::Session> session,
                                                                  const SessionOptions& options,
                                                                  std::shared_ptr<void> keep_alive,
                                                                  std::shared_ptr<KnownPeers> known_peers = nullptr);

  using Connection::accept_stream;
  using Connection::open_stream;
  StreamId open_stream(std::unique_ptr<LocalStream> local, OutcomeHandler done, const std::string& service) override;
  [[nodiscard]] std::size_t streams_left() const override;
  void on_stream(StreamHandler handler) override;
  void on_stream_given_up(StreamHandler handler) override;
  [[nodiscard]] std::optional<std::string> service_of(StreamId id) const override;
  void accept_stream(StreamId id, std::unique_ptr<LocalStream> local, OutcomeHandler done) override;
  void refuse_stream(StreamId id, const Error& reason) override;
  void on_closed(ClosedHandler handler) override;
  void close() override;
  void abort(const Error& reason) override;
  [[nodiscard]] ConnectionStats stats() override;
  void tell_evidence() override { report_if_due(std::chrono::nanoseconds(0)); }
  [[nodiscard]] bool answers() const override { return !liveness_.quiet(now()); }
  void on_quiet(QuietHandler handler) override { on_quiet_ = std::move(handler); }
  [[nodiscard]] boost::asio::io_context& io() override { return io_; }
  [[nodiscard]] Endpoint peer() const override { return peer_; }
  void try_path(const Endpoint& address) override { session_->try_path(address); }
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
  enum class State { open, closing, breaking, over };
  ///   none ──ours is composed──► sent ──theirs arrives──► both
  ///   none ──theirs arrives──► received ──ours is composed──► both
  /// Nothing follows a CLOSE in either direction.
  enum class Closes { none, sent, received, both };
  struct Entry {
    std::unique_ptr<MuxStream> stream;
    OutcomeHandler done;
    std::optional<std::string> service{};  // that the peer has asked for, while that is not answered
  };

  Multiplexer(boost::asio::io_context& io, std::unique_ptr<session::Session> session, const SessionOptions& options,
              std::shared_ptr<void> keep_alive);

  // StreamHost
  void send(Frame frame) override;
  void source_ready(MuxStream& stream) override;
  void count_sent(std::size_t bytes) override {
    bytes_sent_ += bytes;
    const TimePoint at = now();
    liveness_.on_asked(at);
    note_payload(at);
  }
  void count_consumed(std::size_t bytes) override;
  void stream_over(MuxStream& stream, StreamOutcome outcome) override;
  void note_starved(bool starved) override { starved_streams_ += starved ? 1 : -1; }
  void note_consuming(bool consuming) override {
    if (consuming)
      consuming_.begin(now());
    else
      consuming_.end(now());
  }
  [[nodiscard]] TimePoint now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] std::chrono::microseconds rtt() const override { return least_rtt_; }

  [[nodiscard]] Status watch_peer(std::shared_ptr<KnownPeers> known_peers);
  void wake();
  void pump();
  [[nodiscard]] bool send_block(BlockWriter::Content content, std::size_t most_bytes);
  void on_written(const Status& status);

  void read_on();
  [[nodiscard]] Error with_silence(Error error) const;
  void on_block(Result<session::Block> block);
  [[nodiscard]] Status take_frames(session::Block& block);
  [[nodiscard]] Status take_frame(Frame& frame, session::Block& block);
  void on_priority_datagram(std::span<const std::byte> payload);
  [[nodiscard]] Status take_early_frames(std::span<const std::byte> payload);
  [[nodiscard]] Status take_stream_frame(MuxStream& stream, Frame& frame, session::Block& block);
  [[nodiscard]] Status on_early_open(StreamId id, const std::string& service);
  [[nodiscard]] Status on_open(StreamId id, std::string service);
  void on_close_frame(const Close& close);

  // Evidence (multiplexer_evidence.cpp)
  [[nodiscard]] std::optional<Hold> hold(bool with_data) const;
  [[nodiscard]] EndEvidence evidence_here() const;
  void take_report(const EndEvidence& evidence);
  void report_if_due(std::chrono::nanoseconds interval);

  void take_rtt();
  void note_payload(TimePoint at);
  void arm_tick();
  void on_tick();
  void tell_quiet();

  Entry& add_stream(StreamId id, OutcomeHandler done);
  [[nodiscard]] bool is_own(StreamId id) const { return (id & 1U) == (next_own_id_ & 1U); }
  [[nodiscard]] bool was_opened(StreamId id) const;
  [[nodiscard]] std::optional<std::string> unwelcome(const std::string& service) const;
  [[nodiscard]] bool close_sent() const { return closes_ == Closes::sent || closes_ == Closes::both; }
  [[nodiscard]] bool close_received() const { return closes_ == Closes::received || closes_ == Closes::both; }
  void send_close();
  void note_close_sent();
  void finish_when_agreed();
  void break_off(Error error, bool tell_peer);
  void end(Status how, std::chrono::milliseconds drain);
  void report(Status how);

  const std::shared_ptr<void> keep_alive_;  // destroyed last
  boost::asio::io_context& io_;
  const Endpoint peer_;
  State state_ = State::open;
  const std::size_t most_peer_streams_;
  const bool has_services_;  // a stream may ask for one by its name

  WindowBudget budget_;
  std::unique_ptr<session::Session> session_;

  BlockWriter writer_;
  bool wake_scheduled_ = false;
  Closes closes_ = Closes::none;
  std::optional<TimePoint> close_deadline_;  // for our CLOSE to go out, or to be answered
  std::optional<Error> broken_by_;           // set from State::breaking on
  bool reading_ = false;                     // a block is asked for

  std::unordered_map<StreamId, Entry> streams_;
  std::size_t own_streams_ = 0;                      // of streams_, opened by this end
  std::vector<std::unique_ptr<MuxStream>> retired_;  // ended streams, until nothing on the stack uses them
  std::unordered_map<StreamId, Error> given_up_;     // unanswered, and why, until on_stream_given_up_ is told
  std::unordered_set<StreamId> opened_early_;        // by a copy of their OPEN, which is still to come
  StreamId next_own_id_;
  StreamId next_peer_id_;

  Liveness liveness_;
  boost::asio::steady_timer tick_;
  std::chrono::microseconds least_rtt_{0};  // of late; 0: not known yet
  std::optional<std::uint64_t> pong_due_;  // the latest PING's token: answering each would let a peer queue without end
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_received_ = 0;
  std::uint64_t streams_opened_ = 0;
  const TimePoint made_at_ = std::chrono::steady_clock::now();

  EndEvidence at_start_;  // of threads and sockets that were there before

  core::HoldClock hold_;
  std::ptrdiff_t starved_streams_ = 0;  // of credit
  core::SpanClock consuming_;
  TimePoint reported_at_ = made_at_;
  std::uint64_t reported_bytes_ = 0;         // had moved by then, both ways
  std::optional<EndEvidence> there_;         // the peer's last report
  std::optional<EndEvidence> there_before_;  // and the one before
  std::optional<EndEvidence> last_here_;     // once it is over

  StreamHandler on_stream_;
  StreamHandler on_stream_given_up_;
  ClosedHandler on_closed_;
  QuietHandler on_quiet_;
  bool quiet_told_ = false;  // since the peer last answered
  std::optional<Status> closed_unreported_;
  std::optional<KnownPeers::Watch> peer_watch_;  // of a peer with a key pair
  core::Lifetime lifetime_;
};

}  // namespace udtcat::connection
