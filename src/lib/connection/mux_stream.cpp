// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/mux_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <udtcat/units.hpp>

#include "lib/connection/local_io.hpp"
#include "lib/core/invariant.hpp"

namespace udtcat::connection {
namespace {

tl::unexpected<Error> violation(StreamId id, const char* why) {
  return fail(Errc::protocol_violated, "stream " + std::to_string(id), why);
}

constexpr std::string_view kCommand = "command: ";  // spec: stream.md §3

/// The peer says "command: ended with status 1" of a command that it ran for the stream.
Error failed_there(Errc code, const char* what, std::string_view text) {
  if (!text.starts_with(kCommand)) return {code, what, std::string(text)};
  const std::string_view how = text.substr(kCommand.size());
  if (how == std::generic_category().message(EPIPE))
    return {code, "", "the command there left its input before it had read all"};
  return {code, "", fmt::format("the command there {}", how)};
}

/// The peer's words for what became of the stream at its end.
Error error_of(const Reset& reset) {
  switch (reset.cause) {
    case ResetCause::read_failed:
      return failed_there(Errc::remote_read_failed, "remote read failed", reset.text);
    case ResetCause::write_failed:
      return failed_there(Errc::remote_write_failed, "remote write failed", reset.text);
    case ResetCause::connect_failed:
      return {Errc::remote_connect_failed, "remote connect failed", reset.text};
    case ResetCause::refused:
      return {Errc::stream_refused, "the other end refused the stream", reset.text};
    case ResetCause::interrupted:
      break;
  }
  return {Errc::peer_interrupted, "the other end was interrupted", reset.text};
}

}  // namespace

MuxStream::MuxStream(StreamId id, StreamHost& host, std::uint64_t send_window_bytes, std::uint64_t receive_window_bytes,
                     WindowBudget& budget)
    : id_(id), host_(host), send_credit_(send_window_bytes), receive_credit_(receive_window_bytes, budget) {}

void MuxStream::attach(std::unique_ptr<LocalStream> local) {
  UDTCAT_INVARIANT(!local_, "a stream is opened or accepted once");
  local_ = std::move(local);
  host_.source_ready(*this);
  write_on();
}

// ---- Outgoing: source → block ------------------------------------------------------------------------------------

bool MuxStream::can_fill() const {
  return !over_ && !is_cut() && local_ && outgoing_ == Outgoing::open && send_credit_.available_bytes() > 0;
}

std::size_t MuxStream::fill(std::span<std::byte> room) {
  UDTCAT_INVARIANT(room.size() >= kMinFillBytes && can_fill(), "the block writer asks first");
  constexpr std::size_t kFinBytes = kFrameHeaderBytes + sizeof(std::uint64_t);
  auto body = room.subspan(kFrameHeaderBytes, room.size() - kFrameHeaderBytes - kFinBytes);
  body = body.first(std::min<std::uint64_t>(body.size(), send_credit_.available_bytes()));
  const auto [bytes, state, error] = read_source(*local_, body);
  if (state == LocalStream::ReadState::failed) {
    // The reset says how far the stream came: the bytes before the failure are dropped.
    fail_locally(ResetCause::read_failed, error);
    return 0;
  }
  if (state == LocalStream::ReadState::would_block) wait_for_source();
  if (state == LocalStream::ReadState::end) outgoing_ = Outgoing::finished;
  std::size_t used = 0;
  if (bytes > 0) {
    write_data_header(room.first<kFrameHeaderBytes>(), id_, bytes);
    used = kFrameHeaderBytes + bytes;
    send_credit_.on_sent(bytes);
    host_.count_sent(bytes);
  }
  if (outgoing_ == Outgoing::finished) {
    std::vector<std::byte> fin;
    append_frame(fin, {id_, Fin{send_credit_.sent_bytes()}});
    std::ranges::copy(fin, room.subspan(used).begin());
    used += fin.size();
  }
  note_credit();
  return used;
}

void MuxStream::note_credit() {
  const bool starved = !over_ && !is_cut() && outgoing_ == Outgoing::open && send_credit_.available_bytes() == 0;
  if (std::exchange(starved_, starved) != starved) host_.note_starved(starved);
}

void MuxStream::wait_for_source() {
  outgoing_ = Outgoing::waiting;
  local_->async_wait_readable(lifetime_.guard([this] {
    outgoing_ = Outgoing::open;
    note_credit();
    if (!over_) host_.source_ready(*this);
  }));
}

Status MuxStream::on_credit(std::uint64_t limit_bytes) {
  if (!send_credit_.on_grant(limit_bytes)) return violation(id_, "its credit shrank");
  note_credit();
  if (can_fill()) host_.source_ready(*this);
  return {};
}

Status MuxStream::on_receipt(std::uint64_t total_bytes) {
  if (outgoing_ != Outgoing::finished) return violation(id_, "a receipt for a stream that had not ended");
  if (total_bytes != send_credit_.sent_bytes()) return violation(id_, "a receipt over another number of bytes");
  outgoing_ = Outgoing::receipted;
  receipted_bytes_ = total_bytes;
  if (local_) local_->receipted();
  end_when_receipted();
  return {};
}

// ---- Incoming: block → sink --------------------------------------------------------------------------------------

Status MuxStream::on_frame(const Frame& frame, core::Buffer& block) {
  if (is_cut()) return {};
  if (const auto* data = std::get_if<Data>(&frame.body)) {
    const auto bytes = unseen(data->bytes);
    if (bytes.empty()) return {};
    // At most one piece can fill half of the block.
    if (!block.empty() && bytes.size() >= block.bytes().size() / 2) return on_data({std::move(block), {}, bytes});
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    const std::span<const std::byte> rest(copy);
    return on_data({core::Buffer(), std::move(copy), rest});
  }
  if (const auto* fin = std::get_if<Fin>(&frame.body)) return on_fin(fin->total_bytes);
  if (const auto* receipt = std::get_if<Receipt>(&frame.body)) return on_receipt(receipt->total_bytes);
  if (const auto* grant = std::get_if<CreditGrant>(&frame.body)) return on_credit(grant->limit_bytes);
  on_reset(std::get<Reset>(frame.body));
  return {};
}

Status MuxStream::on_data(Slice slice) {
  if (incoming_ != Incoming::open) return violation(id_, "data after its end");
  if (!receive_credit_.on_received(slice.rest.size())) return violation(id_, "more data than its credit");
  keep(std::move(slice));
  write_on();
  return {};
}

Status MuxStream::on_early(const Early& early) {
  if (incoming_ != Incoming::open || early.offset != receive_credit_.received_bytes()) return {};
  early_bytes_ += early.bytes.size();
  std::vector<std::byte> copy(early.bytes.begin(), early.bytes.end());
  const std::span<const std::byte> rest(copy);
  return on_data({core::Buffer(), std::move(copy), rest});
}

std::span<const std::byte> MuxStream::unseen(std::span<const std::byte> bytes) {
  const auto seen = static_cast<std::size_t>(std::min<std::uint64_t>(early_bytes_, bytes.size()));
  early_bytes_ -= seen;
  return bytes.subspan(seen);
}

/// Behind what waits already; a small piece joins the small one before it, unless that is being written.
void MuxStream::keep(Slice slice) {
  constexpr std::size_t kGatherBytes = 64 * kKiB;  // guess: a write of this size is no longer small
  const bool last_is_idle = arrived_.size() > 1 || (arrived_.size() == 1 && !writing_);
  if (!last_is_idle || !slice.memory.empty() || !arrived_.back().memory.empty() ||
      arrived_.back().copy.size() + slice.copy.size() > kGatherBytes)
    return arrived_.push_back(std::move(slice));
  Slice& last = arrived_.back();
  const std::size_t written = last.copy.size() - last.rest.size();
  last.copy.insert(last.copy.end(), slice.copy.begin(), slice.copy.end());
  last.rest = std::span<const std::byte>(last.copy).subspan(written);
}

Status MuxStream::on_fin(std::uint64_t total_bytes) {
  if (incoming_ != Incoming::open) return violation(id_, "a second end");
  if (total_bytes != receive_credit_.received_bytes() || early_bytes_ > 0)
    return violation(id_, "its end names another number of bytes than arrived");
  incoming_ = Incoming::finished;
  write_on();
  return {};
}

void MuxStream::write_on() {
  if (over_ || !local_ || writing_) return;
  if (arrived_.empty()) return finish_sink();
  writing_ = true;
  host_.note_consuming(true);
  local_->async_write_some(arrived_.front().rest, lifetime_.guard([this](std::error_code error, std::size_t bytes) {
    on_written(error, bytes);
  }));
}

void MuxStream::on_written(std::error_code error, std::size_t bytes) {
  writing_ = false;
  if (over_) return;
  host_.note_consuming(false);
  if (error) return fail_locally(ResetCause::write_failed, error);
  Slice& slice = arrived_.front();
  slice.rest = slice.rest.subspan(bytes);
  if (slice.rest.empty()) arrived_.pop_front();
  host_.count_consumed(bytes);
  const auto limit = receive_credit_.on_consumed(bytes, host_.now(), host_.rtt());
  if (limit && incoming_ == Incoming::open) host_.send({id_, CreditGrant{*limit}});
  write_on();
}

void MuxStream::finish_sink() {
  if (is_cut()) return end(cut_by_);
  if (incoming_ != Incoming::finished) return;
  incoming_ = Incoming::draining;
  host_.note_consuming(true);
  local_->async_finish(lifetime_.guard([this](std::error_code error) { on_drained(error); }));
}

void MuxStream::on_drained(std::error_code error) {
  if (over_) return;
  if (error) return fail_locally(ResetCause::write_failed, error);
  incoming_ = Incoming::receipted;
  host_.note_consuming(false);
  host_.send({id_, Receipt{receive_credit_.received_bytes()}});
  end_when_receipted();
}

// ---- The end --------------------------------------------------------------------------------------------------------

void MuxStream::end_when_receipted() {
  if (outgoing_ == Outgoing::receipted && incoming_ == Incoming::receipted) end(std::nullopt);
}

/// The consumer gets all that a command wrote before it failed, as from a local one. A socket that fails takes all
/// with it.
void MuxStream::on_reset(const Reset& reset) {
  Error error = error_of(reset);
  const bool of_command = reset.cause == ResetCause::read_failed && reset.text.starts_with(kCommand);
  const bool unwritten = incoming_ == Incoming::open && !arrived_.empty();
  if (!of_command || !unwritten) return end(std::move(error));
  cut_by_ = std::move(error);
  incoming_ = Incoming::cut;
  note_credit();
}

void MuxStream::reset(ResetCause cause, Error error) {
  if (over_) return;
  host_.send({id_, Reset{cause, 0, error.message()}});
  end(std::move(error));
}

/// Names the side and the cause at both ends.
void MuxStream::fail_locally(ResetCause cause, std::error_code error) {
  const bool reading = cause == ResetCause::read_failed;
  const std::string where = reading ? local_->source_name() : local_->sink_name();
  host_.send({id_, Reset{cause, static_cast<std::uint32_t>(error.value()), where + ": " + error.message()}});
  end(reading ? local_read_failed(*local_, error) : local_write_failed(*local_, error));
}

void MuxStream::fail(Error error) { end(std::move(error)); }

void MuxStream::end(std::optional<Error> error) {
  if (over_) return;
  over_ = true;
  note_credit();
  if (writing_ || incoming_ == Incoming::draining) host_.note_consuming(false);
  if (error && local_) local_->abort();
  host_.stream_over(*this, StreamOutcome{std::move(error), send_credit_.sent_bytes(), receipted_bytes_,
                                         receive_credit_.consumed_bytes()});
}

}  // namespace udtcat::connection
