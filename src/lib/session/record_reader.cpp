// SPDX-License-Identifier: Apache-2.0
#include "lib/session/record_reader.hpp"

#include <algorithm>
#include <string>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"

namespace udtcat::session {

RecordReader::RecordReader(boost::asio::io_context& io, Flows& flows, const NegotiatedParameters& agreed,
                           std::optional<crypto::HeaderCipher> headers)
    : flows_(flows), agreed_(agreed), headers_(std::move(headers)), grace_(io) {}

void RecordReader::async_read(core::Buffer memory, Handler handler) {
  UDTCAT_INVARIANT(!handler_, "the session reads one record at a time");
  handler_ = std::move(handler);
  if (failure_) return give_up(*failure_);
  reading_ = Block{std::move(memory), next_, 0};
  for (Flow& flow : flows_)
    if (flow.incoming == Flow::Incoming::idle) read_header(flow);
  std::ignore = take_next();  // else a header has yet to come: the flow of the last record, at least, was idle
}

/// Reads the bytes of the header that have not come with the body before.
void RecordReader::read_header(Flow& flow) {
  flow.incoming = Flow::Incoming::header;
  const auto rest = std::span(flow.header).subspan(std::exchange(flow.header_bytes, 0));
  if (rest.empty()) return on_header(flow);
  flow.channel->async_read(rest, lifetime_.guard([this, &flow](const Status& status) {
    if (!status) return on_ended(flow, status.error());
    on_header(flow);
  }));
}

void RecordReader::on_header(Flow& flow) {
  if (failure_) return;
  if (auto checked = check_header(flow); !checked) return give_up(checked.error());
  flow.incoming = Flow::Incoming::in_hand;
  go_on();
}

/// The header's known fields are compared: a mismatch is not from the peer.
Status RecordReader::check_header(Flow& flow) {
  if (headers_)
    if (auto deciphered = headers_->decipher(flow.header); !deciphered) return deciphered;
  const auto header = decode_record_header(flow.header);
  if (!header) return refuse(header.error().cause);
  const BlockNumber number = header->number;
  // The records before it on this flow were handed on, so that next_ is not below its least.
  if (header->protection != agreed_.protection || header->lane != lane_of(number, agreed_.lanes) || number < next_ ||
      number - flow.least_in >= kMaxFlowStep || shown_by_another(flow, number))
    return refuse("its header is not the next one");
  if (header->payload_bytes > agreed_.block_bytes) return refuse("its length is not allowed");
  flow.least_in = number + 1;
  flow.in_hand = *header;
  return {};
}

bool RecordReader::shown_by_another(const Flow& flow, BlockNumber number) const {
  return std::any_of(flows_.begin(), flows_.end(), [&](const Flow& other) {
    return &other != &flow && other.incoming == Flow::Incoming::in_hand && other.in_hand.number == number;
  });
}

/// Begins to read the body of the next record, if its header is there and a handler waits for it.
bool RecordReader::take_next() {
  const auto next = std::find_if(flows_.begin(), flows_.end(), [this](const Flow& flow) {
    return flow.incoming == Flow::Incoming::in_hand && flow.in_hand.number == next_;
  });
  if (next == flows_.end()) return false;
  if (handler_ && !reading_body_) read_body(*next);
  return true;
}

bool RecordReader::may_bring_next(const Flow& flow) const {
  if (reading_body_) return flow.incoming == Flow::Incoming::body;
  return flow.incoming != Flow::Incoming::in_hand || flow.in_hand.number == next_;
}

std::uint64_t RecordReader::received_bytes() {
  std::uint64_t sum = 0;
  for (Flow& flow : flows_) {
    if (may_bring_next(flow)) flow.received_bytes = flow.channel->stats().bytes_received;
    sum += flow.received_bytes;
  }
  return sum;
}

void RecordReader::go_on() {
  if (reading_body_ || take_next()) return;
  const auto is = [this](auto... states) {
    return std::all_of(flows_.begin(), flows_.end(),
                       [=](const Flow& flow) { return ((flow.incoming == states) || ...); });
  };
  using enum Flow::Incoming;
  // All flows have a later number in hand, and numbers rise: the next one cannot come any more.
  if (is(in_hand)) return give_up(refuse("its header is not the next one").value());
  if (is(in_hand, ended)) give_up(*ended_);
}

void RecordReader::read_body(Flow& flow) {
  reading_.payload_bytes = flow.in_hand.payload_bytes;
  std::copy(flow.header.begin(), flow.header.end(), reading_.header().begin());
  ++next_;
  reading_body_ = true;
  flow.incoming = Flow::Incoming::body;
  const auto room = reading_.body_and_next_header(agreed_.protection);
  const std::size_t body_bytes = room.size() - kRecordHeaderBytes;
  flow.channel->async_read_least(room, body_bytes,
                                 lifetime_.guard([this, &flow, room, body_bytes](const Result<std::size_t>& read) {
                                   reading_body_ = false;
                                   flow.incoming = read ? Flow::Incoming::idle : Flow::Incoming::ended;
                                   if (failure_) return;
                                   if (!read) return give_up(read.error());
                                   flow.header_bytes = *read - body_bytes;
                                   std::ranges::copy(room.subspan(body_bytes, flow.header_bytes), flow.header.begin());
                                   finish(std::move(reading_));
                                 }));
}

void RecordReader::stop() {
  handler_ = nullptr;
  give_up({Errc::connection_broken, "read record " + std::to_string(next_), "the session is closed"});
}

void RecordReader::on_ended(Flow& flow, const Error& error) {
  flow.incoming = Flow::Incoming::ended;
  if (failure_) return;
  if (!ended_) {
    ended_ = error;
    arm_grace();
  }
  go_on();
}

void RecordReader::arm_grace() {
  grace_.expires_after(kFlowGrace);
  grace_.async_wait(lifetime_.guard([this, armed_at = next_](const boost::system::error_code& cancelled) {
    if (!cancelled && !failure_) on_grace_over(armed_at);
  }));
}

void RecordReader::on_grace_over(BlockNumber armed_at) {
  // Not over while no record is asked for, or records still come: the peer's CLOSE may be among them.
  if (!handler_ || reading_body_ || next_ != armed_at) return arm_grace();
  give_up(*ended_);
}

tl::unexpected<Error> RecordReader::refuse(std::string why) const {
  return fail(headers_ ? Errc::tampered : Errc::protocol_violated, "read record " + std::to_string(next_),
              std::move(why));
}

void RecordReader::give_up(Error error) {
  if (!failure_) failure_ = std::move(error);
  grace_.cancel();
  boost::asio::post(grace_.get_executor(), lifetime_.guard([this] {
    if (handler_) finish(tl::unexpected(*failure_));
  }));
}

void RecordReader::finish(Result<Block> outcome) {
  const Handler handler = std::exchange(handler_, nullptr);
  handler(std::move(outcome));
}

}  // namespace udtcat::session
