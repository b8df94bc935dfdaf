// SPDX-License-Identifier: Apache-2.0
#include "lib/plain/pipe.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/connection/liveness.hpp"
#include "lib/connection/local_io.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"

namespace udtcat::plain {
namespace {

constexpr std::size_t kLeastRoomBytes = kPieceBytes / 16;  // guess: below that a new piece costs less than more writes
constexpr std::chrono::seconds kCloseDrain{2};             // guess: nothing is left to drain by then

}  // namespace

Pipe::Pipe(boost::asio::io_context& io, std::unique_ptr<transport::Channel> channel, std::shared_ptr<void> keep_alive)
    : keep_alive_(std::move(keep_alive)), io_(io), tick_(io), drain_pause_(io), channel_(std::move(channel)) {}

void Pipe::bridge(std::unique_ptr<LocalStream> local, bool receives, DoneHandler done) {
  UDTCAT_INVARIANT(!local_, "a pipe is bridged once");
  local_ = std::move(local);
  receives_ = receives;
  done_ = std::move(done);
  boost::asio::post(io_, lifetime_.guard([this] {
    if (state_ == State::over) return;
    arm_tick();
    read_on();
    pull();
  }));
}

// ---- Outgoing: source → channel -------------------------------------------------------------------------------------

void Pipe::pull() {
  while (state_ == State::open && outgoing_ == Outgoing::open && writes_ < kMaxWrites) send_piece();
}

void Pipe::send_piece() {
  if (room_.size() < kLeastRoomBytes) {
    // Not from a pool: the transport may hold what it has not had acknowledged, within its own memory.
    piece_ = std::make_shared_for_overwrite<std::byte[]>(kPieceBytes);
    room_ = {piece_.get(), kPieceBytes};
  }
  const auto [bytes, state, error] = connection::read_source(*local_, room_);
  if (state == LocalStream::ReadState::failed) return break_off(connection::local_read_failed(*local_, error));
  if (state == LocalStream::ReadState::would_block) wait_for_source();
  if (bytes > 0) {
    ++writes_;
    sent_bytes_ += bytes;
    channel_->async_write({room_.first(bytes), piece_},
                          lifetime_.guard([this](const Status& status) { on_sent(status); }));
    room_ = room_.subspan(bytes);
  }
  if (state == LocalStream::ReadState::end) on_source_end();
}

void Pipe::wait_for_source() {
  outgoing_ = Outgoing::waiting;
  stall_clock_.set(Clock::now(), StallReason::source);
  local_->async_wait_readable(lifetime_.guard([this] {
    stall_clock_.set(Clock::now(), std::nullopt);
    if (outgoing_ == Outgoing::waiting) outgoing_ = Outgoing::open;
    pull();
  }));
}

void Pipe::on_sent(const Status& status) {
  --writes_;
  if (status) return pull();
  record_undelivered(status.error());
  outgoing_ = Outgoing::ended;
  close_if_ended();
}

void Pipe::on_source_end() {
  if (sent_bytes_ > 0 || !receives_) return drain();
  // An input that is empty from the start, as with </dev/null, is no reason to close: the peer is to be heard.
  core::log().debug("{} is empty: waiting for the peer to close", local_->source_name());
  outgoing_ = Outgoing::ended;
  close_if_ended();
}

void Pipe::drain() {
  outgoing_ = Outgoing::draining;
  channel_->async_drained(lifetime_.guard([this](const Status& status) { on_drained(status); }));
}

void Pipe::on_drained(const Status& status) {
  if (state_ == State::over || outgoing_ == Outgoing::ended) return;
  outgoing_ = Outgoing::ended;
  if (!status) {
    record_undelivered(status.error());
  } else if (incoming_ == Incoming::open) {
    core::log().debug("udp {} has acknowledged all {} bytes", peer().to_string(), sent_bytes_);
    // A peer that has only just met us, and got nothing, may not be ready to hear of a close.
    if (receives_ || sent_bytes_ == 0) return drain_peer(Clock::now() + kMaxPeerDrain);
    incoming_ = Incoming::ended;
  }
  close_if_ended();
}

/// The peer's close and the failure of what it left unread come in any order; the close is the reason.
void Pipe::record_undelivered(Error error) {
  if (!undelivered_) undelivered_ = std::move(error);
  if (incoming_ == Incoming::closed_by_peer)
    undelivered_ = Error{Errc::connection_broken, "send to udp " + peer().to_string(),
                         "it closed before it had acknowledged all of " + local_->source_name()};
}

// ---- Incoming: channel → sink ---------------------------------------------------------------------------------------

void Pipe::read_on() {
  if (state_ == State::over || incoming_ != Incoming::open || !reading_.empty()) return;
  auto memory = pieces_.acquire();
  if (!memory) return;  // the consumer is slow; on_written() comes back to it
  reading_ = std::move(*memory);
  channel_->async_read_some(reading_.bytes(),
                            lifetime_.guard([this](const Result<std::size_t>& read) { on_read(read); }));
}

void Pipe::on_read(const Result<std::size_t>& read) {
  core::Buffer memory = std::move(reading_);
  if (state_ == State::over || incoming_ != Incoming::open) return;
  if (!read) return break_off(read.error());
  if (*read == 0) return on_peer_closed();
  if (receives_) {
    const auto bytes = memory.bytes().first(*read);
    arrived_.push_back({std::move(memory), bytes});
  }
  write_on();
  read_on();
}

void Pipe::on_peer_closed() {
  core::log().info("udp {} closed the connection: taken for the end of its data, which nothing proves",
                   peer().to_string());
  incoming_ = Incoming::closed_by_peer;
  if (undelivered_) record_undelivered(*undelivered_);
  if (outgoing_ != Outgoing::open && outgoing_ != Outgoing::waiting) return close_if_ended();
  if (source_has_more()) record_undelivered({});
  // The bytes written may have been acknowledged all the same, and then none is lost.
  if (sent_bytes_ > 0) return drain();
  outgoing_ = Outgoing::ended;
  close_if_ended();
}

/// An end that only sends has more until its source ends; one that receives too, only if there is something to read
/// now.
bool Pipe::source_has_more() {
  if (writes_ >= kMaxWrites) return true;
  std::byte next{};
  const auto read = local_->read_some({&next, 1});
  return read.state == LocalStream::ReadState::data || (!receives_ && read.state != LocalStream::ReadState::end);
}

/// Takes what the peer had sent before it knew that all is acknowledged.
void Pipe::drain_peer(Clock::time_point until) {
  const std::uint64_t heard = channel_->stats().bytes_received;
  drain_pause_.expires_after(kPeerDrainQuiet);
  drain_pause_.async_wait(lifetime_.guard([this, until, heard](const boost::system::error_code& cancelled) {
    if (cancelled || state_ == State::over || incoming_ != Incoming::open) return;
    // A slow consumer keeps us from hearing: that is not the peer's silence.
    const bool quiet = !reading_.empty() && channel_->stats().bytes_received == heard;
    if (!quiet && Clock::now() < until) return drain_peer(until);
    incoming_ = Incoming::ended;
    close_if_ended();
  }));
}

void Pipe::write_on() {
  if (state_ == State::over || writing_ || arrived_.empty()) return;
  writing_ = true;
  consuming_.begin(Clock::now());
  local_->async_write_some(arrived_.front().rest, lifetime_.guard([this](std::error_code error, std::size_t bytes) {
    on_written(error, bytes);
  }));
}

void Pipe::on_written(std::error_code error, std::size_t bytes) {
  writing_ = false;
  consuming_.end(Clock::now());
  if (state_ == State::over) return;
  if (error) return abort(connection::local_write_failed(*local_, error));
  consumed_bytes_ += bytes;
  auto& rest = arrived_.front().rest;
  rest = rest.subspan(bytes);
  if (rest.empty()) arrived_.pop_front();
  write_on();
  read_on();
  close_if_ended();
}

// ---- The end --------------------------------------------------------------------------------------------------------

void Pipe::arm_tick() {
  tick_.expires_after(connection::kLivenessTick);
  tick_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (cancelled || state_ == State::over) return;
    arm_tick();
    check_peer_port();
  }));
}

/// Not while the consumer is slow: data that the peer sent before its end are still to be read.
void Pipe::check_peer_port() {
  if (incoming_ != Incoming::open || reading_.empty()) return;
  const auto closed_since = channel_->port_closed_since();
  if (!closed_since) return;
  break_off({Errc::peer_lost, "peer " + peer().to_string() + " is lost",
             "its host says that nobody has the port open any more"});
}

/// The bytes that have arrived are still delivered to the consumer.
void Pipe::break_off(Error error) {
  if (!error_) error_ = std::move(error);
  outgoing_ = Outgoing::ended;
  if (incoming_ == Incoming::open) incoming_ = Incoming::ended;
  close_if_ended();
}

void Pipe::close_if_ended() {
  if (outgoing_ != Outgoing::ended || incoming_ == Incoming::open) return;
  if (state_ == State::open) {
    state_ = State::closed;
    channel_->close(kCloseDrain);
  }
  if (state_ != State::closed || writing_ || !arrived_.empty()) return;
  if (error_ || undelivered_) {
    local_->abort();
    return end(error_ ? error_ : undelivered_);
  }
  state_ = State::finishing;
  local_->async_finish(lifetime_.guard([this](std::error_code error) {
    if (!error) return end(std::nullopt);
    end(connection::local_write_failed(*local_, error));
  }));
}

void Pipe::abort(const Error& reason) {
  if (state_ == State::over) return;
  channel_->close({});
  if (local_) local_->abort();
  end(reason);
}

void Pipe::end(std::optional<Error> error) {
  if (std::exchange(state_, State::over) == State::over || !done_) return;
  tick_.cancel();
  drain_pause_.cancel();
  boost::asio::post(
      io_, lifetime_.guard([done = std::move(done_), outcome = StreamOutcome{std::move(error), sent_bytes_, 0,
                                                                             consumed_bytes_}] { done(outcome); }));
}

ConnectionStats Pipe::stats() {
  const transport::ChannelStats channel = channel_->stats();
  ConnectionStats stats{static_cast<const TransportStats&>(channel)};
  stats.made_at = made_at_;
  stats.streams_open = 1;
  stats.bytes_sent = sent_bytes_;
  stats.bytes_received = consumed_bytes_;
  stats.protection = Protection::clear;
  const auto now = Clock::now();
  EndStats& end = stats.ends.here;
  channel_->add_end_stats(end);
  stall_clock_.add_to(end, now);
  end.elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now - made_at_);
  end.bytes_sent = sent_bytes_;
  end.bytes_received = consumed_bytes_;
  end.consuming = consuming_.sum(now);
  return stats;
}

}  // namespace udtcat::plain
