// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/multiplexer.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/connection/rate_limited_stream.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::connection {
namespace {

/// The windows of all streams together are no more than the transports may keep for retransmission.
std::uint64_t window_budget_bytes(const session::Session& session) {
  const std::uint64_t retained = session.retained_limit_bytes();
  return retained > 0 ? retained : kWindowBudgetBytes;
}

/// The most received blocks that streams keep: twice their windows, as a slice may keep a block of twice its bytes.
std::size_t kept_blocks_limit(const session::Session& session, std::size_t streams) {
  const std::uint64_t windows =
      std::max<std::uint64_t>(window_budget_bytes(session), streams * session.agreed().window_from_peer_bytes);
  return 2 * windows / session.agreed().block_bytes;
}

}  // namespace

Result<std::unique_ptr<Connection>> Multiplexer::create(boost::asio::io_context& io,
                                                        std::unique_ptr<session::Session> session,
                                                        const SessionOptions& options, Parts below,
                                                        std::shared_ptr<KnownPeers> known_peers) {
  // Beside a single stream no other waits with a short message.
  const auto ahead = options.one_stream ? session::SendQueueDepth::deep : session::SendQueueDepth::shallow;
  const std::size_t streams = options.one_stream ? 1 : options.streams;
  UDTCAT_CHECK(session->start(options.threads, kept_blocks_limit(*session, streams), ahead));
  std::unique_ptr<Multiplexer> made(new Multiplexer(io, std::move(session), options, std::move(below)));
  if (known_peers) UDTCAT_CHECK(made->watch_peer(std::move(known_peers)));
  return made;
}

Status Multiplexer::watch_peer(std::shared_ptr<KnownPeers> known_peers) {
  const session::NegotiatedParameters& agreed = session_->agreed();
  UDTCAT_INVARIANT(agreed.peer, "with key pairs nobody comes in without one");
  UDTCAT_CHECK(known_peers->on_session(*agreed.peer));
  // Posted: KnownPeers may be iterating over its watches.
  peer_watch_.emplace(std::move(known_peers), agreed.peer->key, agreed.application, [this](const Error& why) {
    boost::asio::post(io_, lifetime_.guard([this, why] { abort(why); }));
  });
  return {};
}

Multiplexer::Multiplexer(boost::asio::io_context& io, std::unique_ptr<session::Session> session,
                         const SessionOptions& options, Parts below)
    : below_(std::move(below)),
      io_(io),
      peer_(session->peer()),
      budget_(window_budget_bytes(*session),
              options.one_stream ? WindowBudget::Streams::one : WindowBudget::Streams::many),
      session_(std::move(session)),
      streams_(session_->role() == session::Role::connector ? 0 : 1, options.one_stream ? 1 : options.streams,
               !options.services.empty()),
      stats_exchange_(*session_, std::chrono::steady_clock::now()),
      liveness_(options.idle_timeout,
                session_->role() == session::Role::connector ? Liveness::Role::leads : Liveness::Role::follows,
                std::chrono::steady_clock::now()),
      tick_(io) {
  take_rtt();
  arm_tick();
  // Posted, so that the owner can set its handlers before the first frame arrives.
  boost::asio::post(io_, lifetime_.guard([this] { read_on(); }));
  session_->on_priority_datagram([this](std::span<const std::byte> payload) { on_priority_datagram(payload); });
  if (session_->join_key() == nullptr) return;
  if (below_.joined_by) joined_by_.emplace(below_.joined_by, *session_);
  if (below_.dialled_by)
    flow_dialing_ = std::make_unique<FlowDialing>(io_, *below_.dialled_by, *session_, below_.flows,
                                                  [this] { return stats().ends; });
}

void Multiplexer::note_moved() {
  if (flow_dialing_) flow_dialing_->on_traffic();
}

// ---- Streams -------------------------------------------------------------------------------------------------------

StreamId Multiplexer::open_stream(std::unique_ptr<LocalStream> local, OutcomeHandler done, const std::string& service) {
  const StreamId id = streams_.take_own_id();
  MuxStream& stream = add_stream(id, std::move(done), std::nullopt);
  send({id, Open{service}});
  stream.attach(limited(io_, std::move(local), peer_watch_, session_->agreed().peer));
  if (!closing_.is_open() || closing_.received())
    stream.fail({Errc::connection_broken, "open a stream to " + peer_.to_string(), "the connection is closed"});
  return id;
}

std::size_t Multiplexer::streams_left() const {
  const std::size_t most = session_->agreed().streams_to_peer;
  const bool may_open = closing_.is_open() && !closing_.received() && streams_.has_own_ids() && streams_.own() < most;
  return may_open ? most - streams_.own() : 0;
}

void Multiplexer::accept_stream(StreamId id, std::unique_ptr<LocalStream> local, OutcomeHandler done) {
  MuxStream* const found = streams_.answer(id, done);
  if (found == nullptr) {  // the peer has reset it, or the connection has ended
    local->abort();
    const Error given_up{Errc::peer_interrupted, "the other end gave the stream up", "before it was accepted"};
    const Error why = streams_.take_given_up(id).value_or(given_up);
    boost::asio::post(io_, lifetime_.guard([done = std::move(done), why] { done({why}); }));
    return;
  }
  found->attach(limited(io_, std::move(local), peer_watch_, session_->agreed().peer));
}

void Multiplexer::refuse_stream(StreamId id, const Error& reason) {
  std::ignore = streams_.take_given_up(id);
  MuxStream* const found = streams_.answer(id, nullptr);
  if (found == nullptr) return;
  const auto cause = reason.code == Errc::local_connect_failed ? ResetCause::connect_failed : ResetCause::refused;
  found->reset(cause, reason);
}

MuxStream& Multiplexer::add_stream(StreamId id, OutcomeHandler done, std::optional<std::string> service) {
  const auto& agreed = session_->agreed();
  StreamHost& host = *this;
  return streams_.add(
      std::make_unique<MuxStream>(id, host, agreed.window_to_peer_bytes, agreed.window_from_peer_bytes, budget_),
      std::move(done), std::move(service));
}

void Multiplexer::send(Frame frame) {
  if (closing_.sent()) return;
  writer_.queue(frame);
  wake();
}

void Multiplexer::source_ready(MuxStream& stream) {
  writer_.add_ready(stream);
  wake();
}

void Multiplexer::count_sent(std::size_t bytes) {
  stats_exchange_.count_sent(bytes);
  note_moved();
  liveness_.on_asked(now());
  note_payload(now());
}

void Multiplexer::count_consumed(std::size_t bytes) {
  stats_exchange_.count_received(bytes);
  note_moved();
  session_->on_block_released();
}

void Multiplexer::stream_over(MuxStream& stream, StreamOutcome outcome) {
  writer_.forget(stream);
  OutcomeHandler done = streams_.end(stream.id(), outcome.error);
  boost::asio::post(
      io_, lifetime_.guard([this, id = stream.id(), done = std::move(done), outcome = std::move(outcome)]() mutable {
        streams_.destroy_ended();
        close_if_told();
        session_->on_block_released();  // the blocks that the stream kept are free
        read_on();
        if (streams_.take_given_up(id) && on_stream_given_up_) on_stream_given_up_(id);
        if (done) done(std::move(outcome));
      }));
}

// ---- Outgoing: compose, seal, write --------------------------------------------------------------------------------

/// Composes blocks at the end of this turn of the event loop, so that frames of many streams share a block.
void Multiplexer::wake() {
  if (wake_scheduled_) return;
  wake_scheduled_ = true;
  boost::asio::post(io_, lifetime_.guard([this] {
    wake_scheduled_ = false;
    pump();
  }));
}

void Multiplexer::pump() {
  if (closing_.is_over() || closing_.sent()) return;
  if (pong_due_) writer_.queue({kSessionStream, Pong{*std::exchange(pong_due_, std::nullopt)}});
  // Ticks are rare while nothing moves: bytes may have come since the last one.
  if (!answers()) liveness_.on_bytes_received(session_->received_bytes(), now());
  const bool with_data = answers();
  using Content = BlockWriter::Content;
  while (session_->wants_block() && (writer_.has_control() || (with_data && writer_.has_data())))
    if (!send_block(with_data ? Content::all : Content::control, session_->next_block_bytes())) break;
  while (with_data && session_->has_room_for_interactive() && writer_.has_interactive())
    if (!send_block(Content::interactive, kMinBlockBytes)) break;
  stats_exchange_.set_stall_reason(now(), stall_reason(with_data));
  note_close_sent();
}

/// Why no block follows the last one; none: the layer below has enough blocks, and gives its own reason.
std::optional<StallReason> Multiplexer::stall_reason(bool with_data) const {
  if (closing_.sent()) return std::nullopt;
  if (!session_->wants_block()) return session_->waits_for_lanes() ? std::optional(StallReason::cipher) : std::nullopt;
  if (!with_data) return StallReason::path;
  const MuxStream* only = streams_.size() == 1 ? &streams_.first() : nullptr;
  if (only != nullptr && only->is_receipted()) return std::nullopt;
  const bool all_said = only != nullptr && only->awaits_receipt();
  return stats_exchange_.starved() || all_said ? StallReason::credit : StallReason::source;
}

bool Multiplexer::send_block(BlockWriter::Content content, std::size_t most_bytes) {
  auto block = session_->empty_block();
  if (!block) return false;
  const auto room = block->payload_room().first(most_bytes);
  const auto composed = writer_.compose(room, content, session_->priority_room_bytes());
  if (composed.payload_bytes == 0) return false;
  block->payload_bytes = composed.payload_bytes;
  if (!composed.interactive.empty()) session_->send_priority_datagram(composed.interactive);
  liveness_.on_sent(now());
  using Kind = session::Session::Content;
  session_->async_write(
      std::move(*block), [this](const Status& status) { on_written(status); },
      content == BlockWriter::Content::interactive ? Kind::interactive : Kind::bulk);
  return true;
}

void Multiplexer::on_written(const Status& status) {
  if (closing_.is_over()) return;
  if (!status) {
    // The outstanding read fails as well, and says why; after the peer's CLOSE there is none.
    if (closing_.is_breaking() || closing_.received()) return end(closing_.outcome(), {});
    if (status.error().code != Errc::connection_broken) break_off(status.error(), false);
    return;
  }
  pump();
  read_on();
  finish_when_agreed();
}

// ---- Incoming: read blocks, take frames ----------------------------------------------------------------------------

void Multiplexer::read_on() {
  if (reading_ || closing_.has_ended() || closing_.received()) return;
  if (writer_.control_bytes() > BlockWriter::kMaxControlBytes || !streams_.has_room_for_ended()) return;
  reading_ = true;
  session_->async_read([this](Result<session::Block> block) { on_block(std::move(block)); });
}

/// Says in the error how long the peer has not answered: a firewall may have dropped the mapping.
Error Multiplexer::with_silence(Error error) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(liveness_.unanswered(now())).count();
  if (error.code == Errc::connection_broken && liveness_.quiet(now()))
    error.cause += "; nothing has come in answer for " + std::to_string(seconds) + " s";
  return error;
}

void Multiplexer::on_block(Result<session::Block> block) {
  reading_ = false;
  if (closing_.has_ended()) return;
  if (!block) return break_off(with_silence(block.error()), block.error().code != Errc::connection_broken);
  if (auto taken = take_frames(*block); !taken) return break_off(taken.error(), true);
  read_on();
}

Status Multiplexer::take_frames(session::Block& block) {
  FrameReader frames(block.payload());
  for (;;) {
    UDTCAT_TRY(auto frame, frames.next());
    if (!frame) return {};
    if (closing_.received()) return udtcat::fail(Errc::protocol_violated, "read frame", "it follows a close");
    UDTCAT_CHECK(take_frame(*frame, block));
    if (closing_.has_ended()) return {};
  }
}

Status Multiplexer::take_frame(Frame& frame, session::Block& block) {
  if (const auto* ping = std::get_if<Ping>(&frame.body)) {
    pong_due_ = ping->token;
    wake();
    return {};
  }
  if (std::holds_alternative<Pong>(frame.body)) return {};
  if (const auto* report = std::get_if<Report>(&frame.body)) {
    stats_exchange_.on_report(report->stats);
    return {};
  }
  if (const auto* close = std::get_if<Close>(&frame.body)) {
    on_close_frame(*close);
    return {};
  }
  if (auto* open = std::get_if<Open>(&frame.body))
    return streams_.take_opened_early(frame.stream) ? Status() : on_open(frame.stream, std::move(open->service));
  if (std::holds_alternative<Early>(frame.body))
    return udtcat::fail(Errc::protocol_violated, "read frame", "an EARLY frame is in a block");
  if (MuxStream* const found = streams_.find(frame.stream)) {
    if (std::holds_alternative<Data>(frame.body)) note_payload(now());
    return found->on_frame(frame, block.memory);
  }
  if (streams_.was_opened(frame.stream)) return {};  // it was sent before the stream's end was known
  return udtcat::fail(Errc::protocol_violated, "stream " + std::to_string(frame.stream), "it was never opened");
}

/// A block brings the same frames later: those that are of no use now are ignored.
void Multiplexer::on_priority_datagram(std::span<const std::byte> payload) {
  if (closing_.has_ended() || closing_.received()) return;
  if (auto taken = take_early_frames(payload); !taken) break_off(taken.error(), true);
}

Status Multiplexer::take_early_frames(std::span<const std::byte> payload) {
  FrameReader frames(payload);
  for (;;) {
    UDTCAT_TRY(const auto frame, frames.next());
    if (!frame) return {};
    if (const auto* open = std::get_if<Open>(&frame->body)) {
      UDTCAT_CHECK(on_early_open(frame->stream, open->service));
      continue;
    }
    const auto* early = std::get_if<Early>(&frame->body);
    if (early == nullptr)
      return udtcat::fail(Errc::protocol_violated, "read a priority datagram", "it has a frame of another type");
    MuxStream* const found = streams_.find(frame->stream);
    if (found == nullptr) continue;
    note_payload(now());
    UDTCAT_CHECK(found->on_early(*early));
  }
}

/// A stream that could not be taken now waits for its OPEN: the end of another may be on its way.
Status Multiplexer::on_early_open(StreamId id, const std::string& service) {
  if (streams_.refusal(service) || !streams_.open_early(id)) return {};
  return on_open(id, service);
}

Status Multiplexer::on_open(StreamId id, std::string service) {
  UDTCAT_CHECK(streams_.take_peer_id(id));
  if (!closing_.is_open()) return {};  // it crossed our CLOSE
  if (const auto why_not = streams_.refusal(service)) {
    send({id, Reset{ResetCause::refused, 0, *why_not}});
    return {};
  }
  add_stream(id, nullptr, std::move(service));
  boost::asio::post(io_, lifetime_.guard([this, id] { on_stream_(id); }));
  return {};
}

// ---- Liveness -------------------------------------------------------------------------------------------------------

void Multiplexer::arm_tick() {
  const TimePoint next = liveness_.next_tick(now());
  tick_.expires_at(std::min(next, closing_.deadline().value_or(next)));
  tick_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) on_tick();
  }));
}

void Multiplexer::note_payload(TimePoint at) {
  if (liveness_.on_payload(at) && !closing_.is_over()) arm_tick();
}

/// The least round trip, by which windows grow: a queue is no reason for a larger window. It rises slowly, for a path
/// that has become longer.
void Multiplexer::take_rtt() {
  if (const auto rtt = session_->stats().rtt)
    least_rtt_ = least_rtt_.count() == 0 ? *rtt : std::min(*rtt, least_rtt_ + least_rtt_ / 8);
}

void Multiplexer::on_tick() {
  if (closing_.is_over()) return;
  if (closing_.deadline() && now() >= *closing_.deadline()) return end(closing_.outcome(), {});
  if (closing_.is_breaking() || closing_.received()) return arm_tick();  // the peer is silent behind its CLOSE
  const bool was_quiet = !answers();
  liveness_.on_tick(now());
  take_rtt();
  liveness_.on_bytes_received(session_->received_bytes(), now());
  const auto state = liveness_.state(now(), session_->port_closed_since());
  if (state != Liveness::State::alive) {
    const auto seconds = std::to_string(liveness_.silence(now()).count() / 1000);
    const std::string why = state == Liveness::State::port_closed
                                ? "its port is closed: the process is gone, or has given this session up"
                                : "nothing has arrived for " + seconds + " s";
    return break_off({Errc::peer_lost, "peer " + peer_.to_string() + " is lost", why}, false);
  }
  if (liveness_.ping_due(now())) {
    send({kSessionStream, Ping{static_cast<std::uint64_t>(now().time_since_epoch().count())}});
    liveness_.on_sent(now());  // it is after this turn, and the next tick counts from now
    liveness_.on_asked(now());
  }
  if (flow_dialing_) flow_dialing_->set_asked(liveness_.unanswered(now()) > std::chrono::seconds(0));
  report_if_due(kReportInterval);
  if (was_quiet && answers()) wake();
  tell_quiet();
  arm_tick();
}

void Multiplexer::tell_quiet() {
  const bool is_new = !answers() && !quiet_told_;
  quiet_told_ = !answers();
  if (is_new && on_quiet_) boost::asio::post(io_, lifetime_.guard(on_quiet_));
}

void Multiplexer::report_if_due(std::chrono::nanoseconds interval) {
  if (auto report = stats_exchange_.poll(now(), interval)) send({kSessionStream, std::move(*report)});
}

ConnectionStats Multiplexer::stats() {
  ConnectionStats stats = session_->stats();
  stats_exchange_.add_to(stats, now());
  stats.streams_opened = streams_.opened();
  stats.streams_open = streams_.size();
  if (!answers()) stats.silence = liveness_.silence(now());
  if (selected_pair_) stats.selected_pair = selected_pair_->at(path(), stats.transport);
  return stats;
}

// ---- The end -------------------------------------------------------------------------------------------------------

void Multiplexer::on_closed(ClosedHandler handler) {
  on_closed_ = std::move(handler);
  if (closed_unreported_) report(*std::exchange(closed_unreported_, std::nullopt));
}

void Multiplexer::close() {
  if (!closing_.is_open()) return;
  closing_.close();
  const Error interrupted{Errc::interrupted, "the connection was closed", "before the stream had ended"};
  while (!streams_.empty()) streams_.first().reset(ResetCause::interrupted, interrupted);
  send_close();
}

/// Composes our CLOSE behind all frames so far, beyond the limit on blocks in flight if need be.
void Multiplexer::send_close() {
  report_if_due(std::chrono::nanoseconds(0));
  writer_.queue({kSessionStream, closing_.begin(now())});
  arm_tick();
  while (writer_.has_control())
    if (!send_block(BlockWriter::Content::control, session_->next_block_bytes())) break;
  note_close_sent();
}

/// Where no buffer is free the CLOSE is composed later, by pump(): the transport frees one with each block it takes.
void Multiplexer::note_close_sent() {
  if (!closing_.is_open() && !writer_.has_control()) closing_.on_sent();
}

void Multiplexer::on_close_frame(const Close& close) {
  closing_.on_received();
  if (close.reason != CloseReason::done || !streams_.are_all_cut()) return break_off(error_of(close, peer_), false);
  close_if_told();
}

/// Agrees to the peer's CLOSE, when the streams that it cut before have come to their end.
void Multiplexer::close_if_told() {
  if (!closing_.received() || closing_.has_ended() || !streams_.empty()) return;
  if (closing_.is_open()) {
    closing_.close();
    send_close();
  }
  finish_when_agreed();
}

void Multiplexer::finish_when_agreed() {
  if (!closing_.sent() || !session_->all_written()) return;
  if (closing_.is_breaking()) return end(closing_.outcome(), kBreakOffDrain);
  // The peer takes the end of the channel for our CLOSE, which need not be acknowledged unless the path loses packets.
  const bool lossless = session_->stats().packets_lost == 0;
  if (closing_.received()) end({}, lossless ? std::chrono::seconds(0) : kBreakOffDrain);
}

/// Fails every stream and ends the connection.
/// tell_peer   by CLOSE, if none was sent
void Multiplexer::break_off(Error error, bool tell_peer) {
  if (closing_.has_ended()) return;
  const bool is_cut = error.code == Errc::peer_lost || error.code == Errc::connection_broken;
  if (is_cut && path_words_) error.cause += path_words_(path());
  // All streams have ended with receipts: an error of the channel changes nothing.
  if (closing_.is_closing() && closing_.sent() && streams_.empty() && error.code != Errc::tampered) return end({}, {});
  core::log().debug("connection to {}: {}", peer_.to_string(), error.message());
  while (!streams_.empty()) streams_.first().fail(error);
  if (!tell_peer || closing_.sent()) return end(tl::unexpected(std::move(error)), {});
  closing_.break_off(std::move(error));
  send_close();
}

void Multiplexer::end(Status how, std::chrono::milliseconds drain) {
  if (closing_.is_over()) return;
  closing_.end();
  stats_exchange_.end(now());
  flow_dialing_.reset();
  joined_by_.reset();
  session_->close(drain);
  tick_.cancel();
  if (on_closed_)
    report(std::move(how));
  else
    closed_unreported_ = std::move(how);
}

void Multiplexer::report(Status how) {
  boost::asio::post(io_, lifetime_.guard([handler = on_closed_, how = std::move(how)] { handler(how); }));
}

}  // namespace udtcat::connection
