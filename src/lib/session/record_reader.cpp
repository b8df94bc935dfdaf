// SPDX-License-Identifier: Apache-2.0
#include "lib/session/record_reader.hpp"

#include <algorithm>
#include <string>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"

namespace udtcat::session {

RecordReader::RecordReader(boost::asio::io_context& io, Flows& flows, const NegotiatedParameters& agreed,
                           std::optional<crypto::HeaderCipher> headers)
    : flows_(flows), agreed_(agreed), headers_(std::move(headers)), several_(flows.size() > 1), grace_(io) {}

void RecordReader::async_read(core::Buffer memory, Handler handler) {
  UDTCAT_INVARIANT(!handler_, "the session reads one record at a time");
  handler_ = std::move(handler);
  if (failure_) return give_up(*failure_);
  reading_ = Block{std::move(memory), next_, 0};
  const auto idle = [this] { return std::ranges::find(flows_, Flow::Incoming::idle, &Flow::incoming); };
  // Each time from the beginning: a header that is there already may end another flow.
  for (auto flow = idle(); flow != flows_.end(); flow = idle()) read_header(*flow);
  if (several_) remove_replaced();
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
  if (failure_ || flow.removed) return;
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
  const bool is_allowed = several_ ? number >= flow.least_in && number < next_ + kMaxAhead : number == next_;
  if (header->protection != agreed_.protection || header->lane != lane_of(number, agreed_.lanes) || !is_allowed)
    return refuse("its header is not the next one");
  if (header->payload_bytes > agreed_.block_bytes) return refuse("its length is not allowed");
  flow.least_in = number + 1;
  if (!flow.first_in) flow.first_in = number;
  flow.in_hand = *header;
  return {};
}

/// Begins to read the body of the next record, if its header is there and a handler waits for it.
bool RecordReader::take_next() {
  const auto next = std::find_if(flows_.begin(), flows_.end(), [this](const Flow& flow) {
    return flow.incoming == Flow::Incoming::in_hand && flow.in_hand.number == next_;
  });
  if (next == flows_.end()) return false;
  if (handler_ && body_flow_ == nullptr) read_body(*next);
  return true;
}

bool RecordReader::may_bring_next(const Flow& flow) const {
  if (body_flow_ != nullptr) return body_flow_ == &flow;
  return flow.incoming != Flow::Incoming::in_hand || flow.in_hand.number == next_;
}

bool RecordReader::awaits(const Flow& flow) const {
  if (!handler_ || failure_ || !may_bring_next(flow)) return false;
  return std::none_of(flows_.begin(), flows_.end(), [&](const Flow& other) {
    return &other != &flow && !other.stalled && other.incoming != Flow::Incoming::ended && may_bring_next(other);
  });
}

std::uint64_t RecordReader::received_bytes() {
  std::uint64_t sum = gone_bytes_;
  for (Flow& flow : flows_) {
    if (may_bring_next(flow)) flow.received_bytes = flow.channel->stats().bytes_received - flow.joined_bytes;
    sum += flow.received_bytes;
  }
  return sum;
}

void RecordReader::go_on() {
  if (several_) {
    remove_replaced();
    for (Flow& flow : flows_)
      if (flow.incoming == Flow::Incoming::in_hand && flow.in_hand.number < wanted()) pass_over(flow);
  }
  if (body_flow_ != nullptr || take_next()) return;
  const auto is = [this](auto... states) {
    return std::all_of(flows_.begin(), flows_.end(),
                       [=](const Flow& flow) { return ((flow.incoming == states) || ...); });
  };
  using enum Flow::Incoming;
  const bool may_be_replaced = flow_ended_ && flows_.usable() > 0;
  if (is(ended) || (!may_be_replaced && ended_ && is(in_hand, ended))) give_up(*ended_);
}

void RecordReader::read_body(Flow& flow) {
  reading_.number = next_;
  reading_.payload_bytes = flow.in_hand.payload_bytes;
  std::copy(flow.header.begin(), flow.header.end(), reading_.header().begin());
  ++next_;
  body_flow_ = &flow;
  flow.incoming = Flow::Incoming::body;
  const auto room = reading_.body_and_next_header(agreed_.protection);
  const std::size_t body_bytes = room.size() - kRecordHeaderBytes;
  flow.channel->async_read_least(room, body_bytes,
                                 lifetime_.guard([this, &flow, room, body_bytes](const Result<std::size_t>& read) {
                                   body_flow_ = nullptr;
                                   if (!read) {
                                     --next_;
                                     on_ended(flow, read.error());
                                     if (!flow_ended_ && !failure_) give_up(read.error());
                                     return;
                                   }
                                   flow.incoming = Flow::Incoming::idle;
                                   if (failure_) return;
                                   flow.header_bytes = *read - body_bytes;
                                   std::ranges::copy(room.subspan(body_bytes, flow.header_bytes), flow.header.begin());
                                   finish(std::move(reading_));
                                 }));
}

/// The record in hand has come by another flow: its body is read, and opened by nobody.
void RecordReader::pass_over(Flow& flow) {
  flow.incoming = Flow::Incoming::repeated;
  flow.repeated.resize(flow.in_hand.payload_bytes + tag_bytes(agreed_.protection));
  const auto on_read = [this, &flow](const Status& status) {
    if (flow.removed) return;
    flow.repeated = {};
    if (!status) return on_ended(flow, status.error());
    flow.incoming = Flow::Incoming::idle;
    if (!failure_ && handler_) read_header(flow);
  };
  if (flow.repeated.empty())
    return boost::asio::post(grace_.get_executor(), lifetime_.guard([on_read] { on_read({}); }));
  flow.channel->async_read(flow.repeated, lifetime_.guard(on_read));
}

void RecordReader::on_joined(Flow& flow, Flow* old) {
  several_ = true;
  if (failure_) return;
  // A channel on which nothing has come was an attempt that came to nothing.
  if (old != nullptr && (old->incoming == Flow::Incoming::ended ||
                         (old->can_be_replaced() && old->channel->close_if_silent_since(old->joined_bytes))))
    remove(*old);
  const bool none_ended = std::none_of(flows_.begin(), flows_.end(),
                                       [](const Flow& each) { return each.incoming == Flow::Incoming::ended; });
  grace_.cancel();
  if (none_ended)
    ended_.reset();
  else
    arm_grace();
  if (handler_) read_header(flow);
}

/// Takes flows out that were replaced, once the one in their place has shown that it has all that they may still bring.
void RecordReader::remove_replaced() {
  for (auto each = flows_.begin(); each != flows_.end();) {
    Flow& old = *each++;
    if (!old.replaced) continue;
    const bool is_needless = std::any_of(flows_.begin(), flows_.end(), [&](const Flow& other) {
      return other.name.flow == old.name.flow && other.name.attempt > old.name.attempt && other.first_in &&
             *other.first_in <= wanted();
    });
    if (is_needless) remove(old);
  }
}

void RecordReader::remove(Flow& flow) {
  flow.removed = true;
  gone_bytes_ += flow.received_bytes;
  const bool fills_memory = body_flow_ == &flow || flow.incoming == Flow::Incoming::repeated;
  if (body_flow_ == &flow) {
    body_flow_ = nullptr;
    --next_;
  }
  flows_.remove(flow);
  // A channel that still fills our memory goes at once: none of its handlers is running. Of others one may be.
  if (fills_memory) flow.channel.reset();
  boost::asio::post(grace_.get_executor(), lifetime_.guard([this] { flows_.forget_removed(); }));
}

void RecordReader::stop() {
  handler_ = nullptr;
  give_up({Errc::connection_broken, "read record " + std::to_string(next_), "the session is closed"});
}

void RecordReader::on_ended(Flow& flow, const Error& error) {
  flow.incoming = Flow::Incoming::ended;
  if (failure_ || flow.removed) return;
  if (flow.replaced) {
    remove(flow);
    return go_on();
  }
  if (!ended_) {
    ended_ = error;
    arm_grace();
  }
  flow.broken = true;
  if (flow_ended_) flow_ended_();
  go_on();
}

void RecordReader::arm_grace() {
  grace_.expires_after(kFlowGrace);
  grace_.async_wait(lifetime_.guard([this, armed_at = next_](const boost::system::error_code& cancelled) {
    if (!cancelled && !failure_) on_grace_over(armed_at);
  }));
}

void RecordReader::on_grace_over(BlockNumber armed_at) {
  if (!ended_) return;  // another flow has come in its place meanwhile
  // Not over while no record is asked for, or records still come: the peer's CLOSE may be among them.
  if (!handler_ || body_flow_ != nullptr || next_ != armed_at) return arm_grace();
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
