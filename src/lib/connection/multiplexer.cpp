// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/multiplexer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::connection {
namespace {

/// The windows of all streams together keep within what the transports may retain for a repair.
std::uint64_t window_budget_bytes(const session::Session& session) {
  const std::uint64_t retained = session.retained_limit_bytes();
  return retained > 0 ? retained : kWindowBudgetBytes;
}

/// How many received blocks the streams keep at most: twice their windows, since a slice may pin up to twice its bytes.
std::size_t kept_blocks_limit(const session::Session& session, std::size_t streams) {
  const std::uint64_t windows =
      std::max<std::uint64_t>(window_budget_bytes(session), streams * session.agreed().window_from_peer_bytes);
  return 2 * windows / session.agreed().block_bytes;
}

}  // namespace

Result<std::unique_ptr<Connection>> Multiplexer::create(boost::asio::io_context& io,
                                                        std::unique_ptr<session::Session> session,
                                                        const SessionOptions& options, std::shared_ptr<void> keep_alive,
                                                        std::shared_ptr<KnownPeers> known_peers) {
  // A stream alone has nobody beside it who waits for a word.
  const auto ahead = options.one_stream ? session::SendQueueDepth::deep : session::SendQueueDepth::shallow;
  const std::size_t streams = options.one_stream ? 1 : options.streams;
  UDTCAT_CHECK(session->start(options.threads, kept_blocks_limit(*session, streams), ahead));
  std::unique_ptr<Multiplexer> made(new Multiplexer(io, std::move(session), options, std::move(keep_alive)));
  if (known_peers) UDTCAT_CHECK(made->watch_peer(std::move(known_peers)));
  return made;
}

Status Multiplexer::watch_peer(std::shared_ptr<KnownPeers> known_peers) {
  const session::NegotiatedParameters& agreed = session_->agreed();
  UDTCAT_INVARIANT(agreed.peer, "with key pairs nobody comes in without one");
  UDTCAT_CHECK(known_peers->on_session(*agreed.peer));
  // Posted: no watch ends while the peers are gone through.
  peer_watch_.emplace(std::move(known_peers), agreed.peer->key, agreed.application, [this](const Error& why) {
    boost::asio::post(io_, lifetime_.guard([this, why] { abort(why); }));
  });
  return {};
}

Multiplexer::Multiplexer(boost::asio::io_context& io, std::unique_ptr<session::Session> session,
                         const SessionOptions& options, std::shared_ptr<void> keep_alive)
    : keep_alive_(std::move(keep_alive)),
      io_(io),
      peer_(session->peer()),
      most_peer_streams_(options.one_stream ? 1 : options.streams),
      has_services_(!options.services.empty()),
      budget_(window_budget_bytes(*session),
              options.one_stream ? WindowBudget::Streams::one : WindowBudget::Streams::many),
      session_(std::move(session)),
      next_own_id_(session_->role() == session::Role::connector ? 0 : 1),
      next_peer_id_(1 - next_own_id_),
      liveness_(options.idle_timeout,
                session_->role() == session::Role::connector ? Liveness::Turn::leads : Liveness::Turn::follows,
                std::chrono::steady_clock::now()),
      tick_(io) {
  session_->add_evidence(at_start_);
  take_rtt();
  arm_tick();
  // Posted, so that the owner can set its handlers before the first frame arrives.
  boost::asio::post(io_, lifetime_.guard([this] { read_on(); }));
  session_->on_priority_datagram([this](std::span<const std::byte> payload) { on_priority_datagram(payload); });
}

// ---- Streams -------------------------------------------------------------------------------------------------------

StreamId Multiplexer::open_stream(std::unique_ptr<LocalStream> local, OutcomeHandler done, const std::string& service) {
  UDTCAT_INVARIANT(next_own_id_ <= kLastStreamId,
                   "two thousand million streams are more than a connection lives to see");
  const StreamId id = next_own_id_;
  next_own_id_ += 2;
  Entry& entry = add_stream(id, std::move(done));
  send({id, Open{service}});
  entry.stream->attach(std::move(local));
  if (state_ != State::open)
    entry.stream->fail({Errc::connection_broken, "open a stream to " + peer_.to_string(), "the connection is closed"});
  return id;
}

std::size_t Multiplexer::streams_left() const {
  const std::size_t most = session_->agreed().streams_to_peer;
  const bool has_numbers = next_own_id_ <= kLastStreamId;
  return state_ == State::open && has_numbers && own_streams_ < most ? most - own_streams_ : 0;
}

void Multiplexer::on_stream(StreamHandler handler) { on_stream_ = std::move(handler); }

void Multiplexer::on_stream_given_up(StreamHandler handler) { on_stream_given_up_ = std::move(handler); }

std::optional<std::string> Multiplexer::service_of(StreamId id) const {
  const auto found = streams_.find(id);
  return found == streams_.end() ? std::nullopt : found->second.service;
}

void Multiplexer::accept_stream(StreamId id, std::unique_ptr<LocalStream> local, OutcomeHandler done) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) {  // the peer reset it, or the connection ended, while the owner made up its mind
    local->abort();
    Error why{Errc::peer_interrupted, "the other end gave the stream up", "before it was accepted"};
    if (auto given_up = given_up_.extract(id)) why = std::move(given_up.mapped());
    boost::asio::post(io_, lifetime_.guard([done = std::move(done), why] { done({why}); }));
    return;
  }
  found->second.service.reset();
  found->second.done = std::move(done);
  found->second.stream->attach(std::move(local));
}

void Multiplexer::refuse_stream(StreamId id, const Error& reason) {
  given_up_.erase(id);
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  found->second.service.reset();
  const auto cause = reason.code == Errc::local_connect_failed ? ResetCause::connect_failed : ResetCause::refused;
  found->second.stream->reset(cause, reason);
}

Multiplexer::Entry& Multiplexer::add_stream(StreamId id, OutcomeHandler done) {
  const auto& agreed = session_->agreed();
  StreamHost& host = *this;
  auto stream =
      std::make_unique<MuxStream>(id, host, agreed.window_to_peer_bytes, agreed.window_from_peer_bytes, budget_);
  ++streams_opened_;
  if (is_own(id)) ++own_streams_;
  return streams_.emplace(id, Entry{std::move(stream), std::move(done)}).first->second;
}

void Multiplexer::send(Frame frame) {
  if (close_sent()) return;
  writer_.queue(frame);
  wake();
}

void Multiplexer::source_ready(MuxStream& stream) {
  writer_.add_ready(stream);
  wake();
}

void Multiplexer::count_consumed(std::size_t bytes) {
  bytes_received_ += bytes;
  session_->on_block_released();
}

void Multiplexer::stream_over(MuxStream& stream, StreamOutcome outcome) {
  writer_.forget(stream);
  const auto found = streams_.find(stream.id());
  Entry entry = std::move(found->second);
  streams_.erase(found);
  if (is_own(stream.id())) --own_streams_;
  // An unanswered stream cannot end well: nobody has taken its bytes.
  if (entry.service) given_up_.emplace(stream.id(), *outcome.error);
  retired_.push_back(std::move(entry.stream));
  boost::asio::post(io_, lifetime_.guard([this, id = stream.id(), done = std::move(entry.done),
                                          outcome = std::move(outcome)]() mutable {
    retired_.clear();
    session_->on_block_released();  // the blocks that the stream kept are free
    read_on();
    if (given_up_.erase(id) > 0 && on_stream_given_up_) on_stream_given_up_(id);
    if (done) done(std::move(outcome));
  }));
}

bool Multiplexer::was_opened(StreamId id) const { return id < (is_own(id) ? next_own_id_ : next_peer_id_); }

// ---- Outgoing: compose, seal, write --------------------------------------------------------------------------------

/// Composes blocks at the end of this turn of the event loop, so that what many streams say in it shares a block.
void Multiplexer::wake() {
  if (wake_scheduled_) return;
  wake_scheduled_ = true;
  boost::asio::post(io_, lifetime_.guard([this] {
    wake_scheduled_ = false;
    pump();
  }));
}

void Multiplexer::pump() {
  if (state_ == State::over || close_sent()) return;
  if (pong_due_) writer_.queue({kSessionStream, Pong{*std::exchange(pong_due_, std::nullopt)}});
  // Ticks are far apart while nothing moves: what has come since the last one counts.
  if (!answers()) liveness_.on_bytes_received(session_->received_bytes(), now());
  const bool with_data = answers();
  using Content = BlockWriter::Content;
  while (session_->wants_block() && (writer_.has_control() || (with_data && writer_.has_data())))
    if (!send_block(with_data ? Content::all : Content::control, session_->next_block_bytes())) break;
  while (with_data && session_->has_room_for_interactive() && writer_.has_words())
    if (!send_block(Content::interactive, kMinBlockBytes)) break;
  hold_.hold(now(), hold(with_data));
  note_close_sent();
}

bool Multiplexer::send_block(BlockWriter::Content content, std::size_t most_bytes) {
  auto block = session_->empty_block();
  if (!block) return false;
  const auto room = block->payload_room().first(most_bytes);
  const auto composed = writer_.compose(room, content, session_->priority_room_bytes());
  if (composed.payload_bytes == 0) return false;
  block->payload_bytes = composed.payload_bytes;
  if (!composed.words.empty()) session_->send_priority_datagram(composed.words);
  liveness_.on_sent(now());
  using Kind = session::Session::Content;
  session_->async_write(
      std::move(*block), [this](const Status& status) { on_written(status); },
      content == BlockWriter::Content::interactive ? Kind::interactive : Kind::bulk);
  return true;
}

void Multiplexer::on_written(const Status& status) {
  if (state_ == State::over) return;
  if (!status) {
    if (state_ == State::breaking) return end(tl::unexpected(*broken_by_), {});
    // The read that is outstanding says why; after their CLOSE there is none, and nothing that it could tell.
    if (close_received()) return end({}, {});
    if (status.error().code != Errc::connection_broken) break_off(status.error(), false);
    return;
  }
  pump();
  read_on();
  finish_when_agreed();
}

// ---- Incoming: read blocks, take frames ----------------------------------------------------------------------------

void Multiplexer::read_on() {
  if (reading_ || state_ == State::breaking || state_ == State::over || close_received()) return;
  if (writer_.control_bytes() > BlockWriter::kMaxControlBytes || retired_.size() >= kMaxEndedStreams) return;
  reading_ = true;
  session_->async_read([this](Result<session::Block> block) { on_block(std::move(block)); });
}

/// A firewall that came in between shows in what has not been answered.
Error Multiplexer::with_silence(Error error) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(liveness_.unanswered(now())).count();
  if (error.code == Errc::connection_broken && liveness_.quiet(now()))
    error.cause += "; nothing has come in answer for " + std::to_string(seconds) + " s";
  return error;
}

void Multiplexer::on_block(Result<session::Block> block) {
  reading_ = false;
  if (state_ == State::breaking || state_ == State::over) return;
  if (!block) return break_off(with_silence(block.error()), block.error().code != Errc::connection_broken);
  if (auto taken = take_frames(*block); !taken) return break_off(taken.error(), true);
  read_on();
}

Status Multiplexer::take_frames(session::Block& block) {
  FrameReader frames(block.payload());
  for (;;) {
    UDTCAT_TRY(auto frame, frames.next());
    if (!frame) return {};
    if (close_received()) return udtcat::fail(Errc::protocol_violated, "read frame", "it follows a close");
    UDTCAT_CHECK(take_frame(*frame, block));
    if (state_ == State::breaking || state_ == State::over) return {};
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
    take_report(report->evidence);
    return {};
  }
  if (const auto* close = std::get_if<Close>(&frame.body)) {
    on_close_frame(*close);
    return {};
  }
  if (auto* open = std::get_if<Open>(&frame.body))
    return opened_early_.erase(frame.stream) > 0 ? Status() : on_open(frame.stream, std::move(open->service));
  if (std::holds_alternative<Early>(frame.body))
    return udtcat::fail(Errc::protocol_violated, "read frame", "an early copy has come in its turn");
  const auto found = streams_.find(frame.stream);
  if (found != streams_.end()) return take_stream_frame(*found->second.stream, frame, block);
  if (was_opened(frame.stream)) return {};  // crossed with the stream's end
  return udtcat::fail(Errc::protocol_violated, "stream " + std::to_string(frame.stream), "it was never opened");
}

Status Multiplexer::take_stream_frame(MuxStream& stream, Frame& frame, session::Block& block) {
  if (const auto* data = std::get_if<Data>(&frame.body)) {
    note_payload(now());
    const auto bytes = stream.unseen(data->bytes);
    if (bytes.empty()) return {};
    // Keep the block for its one big piece; at most one can fill half of it.
    if (!block.memory.empty() && bytes.size() >= block.memory.bytes().size() / 2)
      return stream.on_data({std::move(block.memory), {}, bytes});
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    const std::span<const std::byte> rest(copy);
    return stream.on_data({core::Buffer(), std::move(copy), rest});
  }
  if (const auto* fin = std::get_if<Fin>(&frame.body)) return stream.on_fin(fin->total_bytes);
  if (const auto* receipt = std::get_if<Receipt>(&frame.body)) return stream.on_receipt(receipt->total_bytes);
  if (const auto* grant = std::get_if<CreditGrant>(&frame.body)) return stream.on_credit(grant->limit_bytes);
  stream.on_reset(std::get<Reset>(frame.body));
  return {};
}

/// The same comes by a block, some time later: what cannot be used now is passed over.
void Multiplexer::on_priority_datagram(std::span<const std::byte> payload) {
  if (state_ == State::breaking || state_ == State::over || close_received()) return;
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
    if (early == nullptr) return udtcat::fail(Errc::protocol_violated, "read a priority datagram", "it is no copy");
    const auto found = streams_.find(frame->stream);
    if (found == streams_.end()) continue;
    note_payload(now());
    UDTCAT_CHECK(found->second.stream->on_early(*early));
  }
}

/// Streams begin in the order of their numbers: another than the next waits for its turn. So does one for which there
/// is no room: what ends another may be on its way.
Status Multiplexer::on_early_open(StreamId id, const std::string& service) {
  if (id != next_peer_id_ || opened_early_.size() >= kMaxEndedStreams || unwelcome(service)) return {};
  opened_early_.insert(id);
  return on_open(id, service);
}

/// Why a further stream of the peer's cannot be taken; none: it can.
std::optional<std::string> Multiplexer::unwelcome(const std::string& service) const {
  if (!on_stream_) return "this end takes no streams";
  if (retired_.size() >= kMaxEndedStreams) return "too many have ended just now";
  if (streams_.size() - own_streams_ >= most_peer_streams_) return "too many are open";
  // An end with services refuses by itself: it knows which of them this peer may use.
  if (has_services_ || service.empty()) return std::nullopt;
  return "the end that was asked has no service with a name";
}

Status Multiplexer::on_open(StreamId id, std::string service) {
  if (id != next_peer_id_)
    return udtcat::fail(Errc::protocol_violated, "stream " + std::to_string(id), "opened out of turn");
  if (id > kLastStreamId)
    return udtcat::fail(Errc::protocol_violated, "stream " + std::to_string(id), "the numbers are used up");
  next_peer_id_ += 2;
  if (const auto why_not = unwelcome(service)) {
    send({id, Reset{ResetCause::refused, 0, *why_not}});
    return {};
  }
  add_stream(id, nullptr).service = std::move(service);
  boost::asio::post(io_, lifetime_.guard([this, id] { on_stream_(id); }));
  return {};
}

// ---- Liveness -------------------------------------------------------------------------------------------------------

void Multiplexer::arm_tick() {
  const TimePoint next = liveness_.next_tick(now());
  tick_.expires_at(std::min(next, close_deadline_.value_or(next)));
  tick_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) on_tick();
  }));
}

void Multiplexer::note_payload(TimePoint at) {
  if (liveness_.on_payload(at) && state_ != State::over) arm_tick();
}

/// Queues in hosts and path add to the round trip, which is no reason for a larger window; another path is, after a
/// while.
void Multiplexer::take_rtt() {
  if (const auto rtt = session_->stats().rtt)
    least_rtt_ = least_rtt_.count() == 0 ? *rtt : std::min(*rtt, least_rtt_ + least_rtt_ / 8);
}

void Multiplexer::on_tick() {
  if (state_ == State::over) return;
  if (close_deadline_ && now() >= *close_deadline_)
    return state_ == State::breaking ? end(tl::unexpected(*broken_by_), {}) : end({}, {});
  if (state_ == State::breaking) return arm_tick();
  const bool was_quiet = !answers();
  liveness_.on_tick(now());
  take_rtt();
  liveness_.on_bytes_received(session_->received_bytes(), now());
  const auto verdict = liveness_.verdict(now(), session_->port_closed_since());
  if (verdict != Liveness::Verdict::alive) {
    const auto seconds = std::to_string(liveness_.silence(now()).count() / 1000);
    return break_off({Errc::peer_lost, "peer " + peer_.to_string() + " is lost",
                      verdict == Liveness::Verdict::port_closed ? "its port is closed: the process is gone"
                                                                : "nothing has arrived for " + seconds + " s"},
                     false);
  }
  if (liveness_.ping_due(now())) {
    send({kSessionStream, Ping{static_cast<std::uint64_t>(now().time_since_epoch().count())}});
    liveness_.on_sent(now());  // which it is after this turn: the next tick counts from it
    liveness_.on_asked(now());
  }
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

ConnectionStats Multiplexer::stats() {
  ConnectionStats stats = session_->stats();
  stats.bytes_sent = bytes_sent_;
  stats.bytes_received = bytes_received_;
  stats.streams_opened = streams_opened_;
  stats.streams_open = streams_.size();
  stats.made_at = made_at_;
  if (!answers()) stats.silence = liveness_.silence(now());
  stats.evidence = {evidence_here(), there_, there_before_};
  return stats;
}

}  // namespace udtcat::connection
