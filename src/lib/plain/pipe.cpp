#include "lib/plain/pipe.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/connection/liveness.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"

namespace udtcat::plain {
namespace {

constexpr std::size_t kLeastRoomBytes = kPieceBytes / 16;  // guess: below that a new piece costs less than more writes
constexpr std::chrono::seconds kCloseDrain{2};             // guess: nothing is left to drain by then

}  // namespace

Pipe::Pipe(boost::asio::io_context& io, std::unique_ptr<transport::Channel> channel, std::shared_ptr<void> keep_alive)
    : keep_alive_(std::move(keep_alive)), io_(io), tick_(io), last_words_(io), channel_(std::move(channel)) {}

void Pipe::bridge(std::unique_ptr<LocalStream> local, bool receives, DoneHandler done) {
  UDTCAT_INVARIANT(!local_, "a pipe is bridged once");
  local_ = std::move(local);
  receives_ = receives;
  done_ = std::move(done);
  boost::asio::post(io_, lifetime_.guard([this] {
    if (over_) return;
    arm_tick();
    read_on();
    pull();
  }));
}

// ---- Outgoing: source → channel -------------------------------------------------------------------------------------

void Pipe::pull() {
  while (!over_ && outgoing_ == Outgoing::open && !source_waits_ && writes_ < kMaxWrites) send_piece();
}

void Pipe::send_piece() {
  if (room_.size() < kLeastRoomBytes) {
    // Not from a pool: the transport may hold what it has not had acknowledged, within its own memory.
    piece_ = std::make_shared_for_overwrite<std::byte[]>(kPieceBytes);
    room_ = {piece_.get(), kPieceBytes};
  }
  const std::size_t bytes = read_source(room_);
  if (bytes > 0) {
    ++writes_;
    sent_bytes_ += bytes;
    channel_->async_write({room_.first(bytes), piece_},
                          lifetime_.guard([this](const Status& status) { on_sent(status); }));
    room_ = room_.subspan(bytes);
  }
  if (outgoing_ == Outgoing::draining) on_source_end();
}

/// Takes what the source has, up to the room; notes its end.
std::size_t Pipe::read_source(std::span<std::byte> room) {
  std::size_t bytes = 0;
  while (bytes < room.size()) {
    const auto read = local_->read_some(room.subspan(bytes));
    if (read.state == LocalStream::ReadState::data) {
      bytes += read.bytes;
      continue;
    }
    if (read.state == LocalStream::ReadState::would_block) wait_for_source();
    if (read.state == LocalStream::ReadState::end) outgoing_ = Outgoing::draining;
    if (read.state == LocalStream::ReadState::failed) {
      break_off(
          {Errc::local_read_failed, "local read from " + local_->source_name() + " failed", read.error.message()});
      return 0;
    }
    break;
  }
  return bytes;
}

void Pipe::wait_for_source() {
  source_waits_ = true;
  local_->async_wait_readable(lifetime_.guard([this] {
    source_waits_ = false;
    pull();
  }));
}

void Pipe::on_sent(const Status& status) {
  --writes_;
  if (status) return pull();
  note_unsent(status.error());
  outgoing_ = Outgoing::settled;
  settle();
}

void Pipe::on_source_end() {
  if (sent_bytes_ > 0 || !receives_) return drain();
  // An input that is empty from the start, as with </dev/null, is no reason to close: the peer is to be heard.
  core::log().debug("{} is empty: waiting for the peer to close", local_->source_name());
  outgoing_ = Outgoing::settled;
  settle();
}

void Pipe::drain() {
  outgoing_ = Outgoing::draining;
  channel_->async_drained(lifetime_.guard([this](const Status& status) { on_drained(status); }));
}

void Pipe::on_drained(const Status& status) {
  if (over_ || outgoing_ == Outgoing::settled) return;
  outgoing_ = Outgoing::settled;
  if (!status) {
    note_unsent(status.error());
  } else if (incoming_ == Incoming::open) {
    core::log().debug("udp {} has acknowledged all {} bytes", peer().to_string(), sent_bytes_);
    // A peer that has only just met us, and got nothing, may not be ready to hear of a close.
    if (receives_ || sent_bytes_ == 0) return hear_last_words(Clock::now() + kLastWordsMost);
    incoming_ = Incoming::settled;
  }
  settle();
}

/// The peer's close and the failure of what it left unread come in any order; the close is the reason.
void Pipe::note_unsent(Error error) {
  if (!unsent_) unsent_ = std::move(error);
  if (peer_closed_)
    unsent_ = Error{Errc::connection_broken, "send to udp " + peer().to_string(),
                    "it closed before it had acknowledged all of " + local_->source_name()};
}

// ---- Incoming: channel → sink ---------------------------------------------------------------------------------------

void Pipe::read_on() {
  if (over_ || incoming_ != Incoming::open || !reading_.empty()) return;
  auto memory = pieces_.acquire();
  if (!memory) return;  // the consumer is slow; on_written() comes back to it
  reading_ = std::move(*memory);
  channel_->async_read_some(reading_.bytes(),
                            lifetime_.guard([this](const Result<std::size_t>& read) { on_read(read); }));
}

void Pipe::on_read(const Result<std::size_t>& read) {
  core::Buffer memory = std::move(reading_);
  if (over_ || incoming_ != Incoming::open) return;
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
  peer_closed_ = true;
  incoming_ = Incoming::settled;
  if (unsent_) note_unsent(*unsent_);
  if (outgoing_ != Outgoing::open) return settle();
  if (source_has_more()) note_unsent({});
  // The bytes written may have been acknowledged all the same, and then none is lost.
  if (sent_bytes_ > 0) return drain();
  outgoing_ = Outgoing::settled;
  settle();
}

/// An end that only sends has more until its source ends; one that receives too, only if there is something to read
/// now.
bool Pipe::source_has_more() {
  if (writes_ >= kMaxWrites) return true;
  std::byte next{};
  const auto read = local_->read_some({&next, 1});
  return read.state == LocalStream::ReadState::data || (!receives_ && read.state != LocalStream::ReadState::end);
}

void Pipe::hear_last_words(Clock::time_point until) {
  const std::uint64_t heard = channel_->stats().bytes_received;
  last_words_.expires_after(kLastWordsQuiet);
  last_words_.async_wait(lifetime_.guard([this, until, heard](const boost::system::error_code& cancelled) {
    if (cancelled || over_ || incoming_ != Incoming::open) return;
    // A slow consumer keeps us from hearing: that is not the peer's silence.
    const bool quiet = !reading_.empty() && channel_->stats().bytes_received == heard;
    if (!quiet && Clock::now() < until) return hear_last_words(until);
    incoming_ = Incoming::settled;
    settle();
  }));
}

void Pipe::write_on() {
  if (over_ || sink_busy_ || arrived_.empty()) return;
  sink_busy_ = true;
  local_->async_write_some(arrived_.front().rest, lifetime_.guard([this](std::error_code error, std::size_t bytes) {
    on_written(error, bytes);
  }));
}

void Pipe::on_written(std::error_code error, std::size_t bytes) {
  sink_busy_ = false;
  if (over_) return;
  if (error)
    return abort({Errc::local_write_failed, "local write to " + local_->sink_name() + " failed", error.message()});
  consumed_bytes_ += bytes;
  auto& rest = arrived_.front().rest;
  rest = rest.subspan(bytes);
  if (rest.empty()) arrived_.pop_front();
  write_on();
  read_on();
  settle();
}

// ---- The end --------------------------------------------------------------------------------------------------------

void Pipe::arm_tick() {
  tick_.expires_after(connection::kLivenessTick);
  tick_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (cancelled || over_) return;
    arm_tick();
    look_for_the_peer();
  }));
}

/// Not while the consumer holds us up: then what the peer sent before it went is still to be read.
void Pipe::look_for_the_peer() {
  if (incoming_ != Incoming::open || reading_.empty()) return;
  const auto closed_since = channel_->port_closed_since();
  if (!closed_since) return;
  break_off({Errc::peer_lost, "peer " + peer().to_string() + " is lost",
             "its host says that nobody has the port open any more"});
}

/// The bytes that have arrived still go to the consumer, then it is over.
void Pipe::break_off(Error error) {
  if (!error_) error_ = std::move(error);
  outgoing_ = Outgoing::settled;
  incoming_ = Incoming::settled;
  settle();
}

void Pipe::settle() {
  if (over_ || outgoing_ != Outgoing::settled || incoming_ != Incoming::settled) return;
  if (!std::exchange(closed_, true)) channel_->close(kCloseDrain);
  if (sink_busy_ || !arrived_.empty()) return;
  if (error_ || unsent_) {
    local_->abort();
    return end(error_ ? error_ : unsent_);
  }
  sink_busy_ = true;
  local_->async_finish(lifetime_.guard([this](std::error_code error) {
    if (!error) return end(std::nullopt);
    end(Error{Errc::local_write_failed, "local write to " + local_->sink_name() + " failed", error.message()});
  }));
}

void Pipe::abort(const Error& reason) {
  if (over_) return;
  channel_->close({});
  if (local_) local_->abort();
  end(reason);
}

void Pipe::end(std::optional<Error> error) {
  if (std::exchange(over_, true) || !done_) return;
  tick_.cancel();
  last_words_.cancel();
  boost::asio::post(
      io_, lifetime_.guard([done = std::move(done_), outcome = StreamOutcome{std::move(error), sent_bytes_, 0,
                                                                             consumed_bytes_}] { done(outcome); }));
}

ConnectionStats Pipe::stats() {
  const auto channel = channel_->stats();
  ConnectionStats stats;
  stats.bytes_sent = sent_bytes_;
  stats.bytes_received = consumed_bytes_;
  stats.packets_sent = channel.packets_sent;
  stats.packets_lost = channel.packets_lost;
  stats.packets_resent = channel.packets_resent;
  stats.rtt = channel.rtt;
  stats.protection = Protection::clear;
  return stats;
}

}  // namespace udtcat::plain
