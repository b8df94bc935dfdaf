// SPDX-License-Identifier: Apache-2.0
#include "lib/session/session.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/cores.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"

namespace udtcat::session {

Session::Session(boost::asio::io_context& io, Role role, const NegotiatedParameters& agreed,
                 std::optional<KeySchedule> keys, std::unique_ptr<transport::Channel> first)
    : io_(io), role_(role), agreed_(agreed), keys_(std::move(keys)) {
  // Records may have come with the handshake's last bytes: what came on this channel is not the handshake alone.
  flows_.add(std::move(first));
}

Status Session::check_flow(const FlowName& name) {
  const auto refused = [](const char* why) { return fail(Errc::authentication_failed, "join a session", why); };
  if (name.flow >= agreed_.flows) return refused("so many flows were not agreed on");
  if (state_ != State::running) return refused("the session is closed");
  const Flow* const now = flows_.find(name.flow);
  if (now != nullptr && now->name.attempt >= name.attempt) return refused("that flow has joined already");
  if (now != nullptr && !now->can_be_replaced()) return refused("that flow is there, and cannot be replaced");
  if (!has_room_for_flow()) return refused("too many of its flows were replaced");
  return {};
}

std::shared_ptr<void> Session::place_to_share(const FlowName& name) {
  const Flow* const old = flows_.find(name.flow);
  return old != nullptr && old->place.use_count() == 1 ? old->place : nullptr;
}

void Session::add_flow(std::unique_ptr<transport::Channel> channel, const FlowName& name, std::uint64_t joined_bytes,
                       std::shared_ptr<void> place) {
  UDTCAT_INVARIANT(state_ == State::running, "flows join while the session runs");
  Flow* const old = flows_.find(name.flow);
  if (old != nullptr) old->replaced = true;
  Flow& flow = flows_.add(std::move(channel), name, joined_bytes, std::move(place));
  if (agreed_.protection != Protection::clear) flow.channel->trust_peer();
  if (priority_datagrams_) take_datagrams(flow);
  stats_.flows = std::max(stats_.flows, flows_.usable());
  if (old != nullptr) {
    old->forget_acknowledged();
    for (SentRecord& record : old->sent.take_all()) write_on(flow, std::move(record.bytes), std::move(record.taken));
  }
  reader_->on_joined(flow, old);
}

void Session::on_flow_broken() {
  if (flow_ended_) boost::asio::post(io_, lifetime_.guard(flow_ended_));
}

std::vector<FlowProgress> Session::flow_progress() {
  std::vector<FlowProgress> all;
  for (Flow& flow : flows_) {
    if (flow.replaced) continue;
    const auto written = flow.channel->written().value_or(transport::Channel::Written());
    const transport::ChannelStats stats = flow.channel->stats();
    all.push_back({.name = flow.name,
                   .broken = flow.broken,
                   .awaited = reader_->awaits(flow),
                   .unanswered_since = written.unanswered_since,
                   .acknowledged = written.acknowledged,
                   .received = stats.bytes_received,
                   .rtt = stats.rtt});
  }
  return all;
}

void Session::set_stalled(std::uint8_t flow, bool stalled) {
  if (Flow* const found = flows_.find(flow)) found->stalled = stalled;
}

Status Session::start(std::optional<std::size_t> threads, std::size_t kept_blocks, SendQueueDepth ahead) {
  UDTCAT_INVARIANT(state_ == State::made, "a session starts once");
  UDTCAT_TRY(outgoing_headers_, header_cipher(direction_from(role_)));
  UDTCAT_TRY(auto incoming_headers, header_cipher(direction_from(peer_of(role_))));
  reader_.emplace(io_, flows_, agreed_, std::move(incoming_headers));
  if (join_key_ && flows_.first().can_be_replaced()) reader_->on_flow_ended([this] { on_flow_broken(); });

  if (agreed_.protection != Protection::clear) flows_.trust_peer();

  stats_.threads = thread_count(threads);
  stats_.flows = flows_.size();
  stats_.protection = agreed_.protection;
  if (keys_) {
    stats_.lanes = agreed_.lanes;
    stats_.cipher = agreed_.cipher;
  }
  const std::size_t most_blocks_wanted = kBlocksAhead + 2 * agreed_.flows + 2 * stats_.threads;
  // send() copies what fills little of a buffer, so that the transport keeps no more buffers than so many times its
  // bytes. Further flows have together the first one's window, twice where their number has grown.
  const std::size_t windows = agreed_.flows > 1 ? 3 : 1;
  const std::size_t retained_blocks = windows * retained_limit_bytes() * kSparseShare / agreed_.block_bytes;
  const std::size_t buffer_bytes = buffer_bytes_for(agreed_.block_bytes);
  outgoing_buffers_.emplace(buffer_bytes, most_blocks_wanted + 1 + retained_blocks);
  incoming_buffers_.emplace(buffer_bytes, kept_blocks + most_blocks_wanted + 2);
  std::shared_ptr<CipherThreads> workers;
  if (stats_.threads > 0) {
    UDTCAT_TRY(workers, CipherThreads::of_process(stats_.threads));
  }
  UDTCAT_TRY(lanes_, LanePool::create(
                         io_, {agreed_.protection, agreed_.cipher, agreed_.lanes, std::move(workers), role_},
                         keys_ ? &*keys_ : nullptr, [this](Result<Block> block) { on_sealed(std::move(block)); },
                         [this](Result<Block> block) { on_opened(std::move(block)); }));
  ahead_ = ahead;
  UDTCAT_CHECK(start_priority_datagrams());
  keys_.reset();
  state_ = State::running;
  return {};
}

Status Session::start_priority_datagrams() {
  if (!keys_ || ahead_ == SendQueueDepth::deep) return {};
  UDTCAT_TRY(priority_datagrams_, PriorityDatagrams::create(agreed_, *keys_, role_));
  for (Flow& flow : flows_) take_datagrams(flow);
  return {};
}

void Session::take_datagrams(Flow& flow) {
  flow.channel->on_datagram(lifetime_.guard([this](std::span<const std::byte> bytes) { on_datagram(bytes); }));
}

Result<std::optional<crypto::HeaderCipher>> Session::header_cipher(Direction direction) const {
  if (!keys_) return std::nullopt;
  UDTCAT_TRY(const auto key, keys_->header_key(direction));
  UDTCAT_TRY(auto cipher, crypto::HeaderCipher::create(key));
  return std::optional(std::move(cipher));
}

std::size_t Session::thread_count(std::optional<std::size_t> wanted) const {
  const std::size_t threads = wanted.value_or(core::available_cores());
  // With one core another thread only costs.
  return !keys_ || threads <= 1 ? 0 : std::min(threads, agreed_.lanes);
}

// ---- Outgoing: number, seal, encipher the header, send -------------------------------------------------------------

bool Session::wants_block() const {
  const std::size_t bulk = writing_ - writing_interactive_;
  if (bulk >= blocks_wanted()) return false;
  // Two, so that there is a next one while the last leaves, however slow the path is.
  return ahead_ == SendQueueDepth::deep || bulk < kBlocksAhead || writing_bytes_ < flows_.ahead_bytes();
}

std::size_t Session::next_block_bytes() const {
  if (ahead_ == SendQueueDepth::deep) return agreed_.block_bytes;
  const std::uint64_t worth = flows_.ahead_bytes() / (kBlocksOfAhead * std::max<std::size_t>(flows_.usable(), 1));
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(worth, kMinBlockBytes, agreed_.block_bytes));
}

std::optional<Block> Session::empty_block() {
  auto memory = outgoing_buffers_->acquire();
  if (!memory) {
    flows_.forget_acknowledged();
    memory = outgoing_buffers_->acquire();
  }
  if (!memory) return std::nullopt;
  return Block{std::move(*memory)};
}

void Session::async_write(Block block, WriteHandler handler, Content content) {
  block.number = next_out_++;
  encode(RecordHeader{agreed_.protection, lane_of(block.number, agreed_.lanes),
                      static_cast<std::uint32_t>(block.payload_bytes), block.number},
         block.header());
  ++writing_;
  if (content == Content::interactive) ++writing_interactive_;
  writing_bytes_ += block.payload_bytes;
  ++stats_.blocks_sent;
  being_sealed_.push_back({block.payload_bytes, std::move(handler), content});
  lanes_->seal(std::move(block));
}

void Session::on_sealed(Result<Block> sealed) {
  const PendingWrite pending = std::move(being_sealed_.front());
  being_sealed_.pop_front();
  Status made = sealed ? Status() : tl::unexpected(sealed.error());
  if (made && outgoing_headers_) made = outgoing_headers_->encipher(sealed->header());
  if (made) return send(std::move(*sealed), pending);
  finish(pending, made);
}

void Session::finish(const PendingWrite& pending, const Status& status) {
  --writing_;
  if (pending.content == Content::interactive) --writing_interactive_;
  writing_bytes_ -= pending.payload_bytes;
  pending.handler(status);
}

void Session::send(Block block, PendingWrite pending) {
  const auto record = block.record(agreed_.protection);
  const std::size_t count = record.size();
  const bool sparse = count < block.memory.bytes().size() / kSparseShare;
  auto bytes = sparse ? core::SharedBytes::adopt({record.begin(), record.end()})
                      : core::SharedBytes(record, std::make_shared<Block>(std::move(block)));
  write_on(flows_.choose(), std::move(bytes),
           [this, pending = std::move(pending)](const Status& status) { finish(pending, status); });
}

void Session::write_on(Flow& flow, core::SharedBytes record, std::function<void(Status)> taken) {
  const std::size_t count = record.size();
  flow.forget_acknowledged();
  flow.untaken_bytes += count;
  flow.written_bytes += count;
  const std::uint64_t place = flow.sent.add({record, flow.written_bytes, std::move(taken)});
  flow.channel->async_write(std::move(record), lifetime_.guard([this, &flow, place, count](const Status& status) {
    on_taken(flow, place, count, status);
  }));
}

void Session::on_taken(Flow& flow, std::uint64_t place, std::size_t count, const Status& status) {
  if (status) flow.untaken_bytes -= count;
  if (!status && !std::exchange(flow.broken, true)) on_flow_broken();
  const auto taken = flow.sent.take_handler(place);
  if (!taken) return;  // it went out by another flow
  // A flow that has ended leaves its records to the one that comes in its place.
  const bool is_kept = join_key_ && flow.can_be_replaced() && flows_.usable() > 0;
  taken(is_kept ? Status() : status);
}

std::size_t Session::priority_room_bytes() {
  if (!priority_datagrams_ || state_ != State::running) return 0;
  return flows_.first().channel->datagram_room_bytes() < kPriorityRecordBytes ? 0 : kMaxPriorityBytes;
}

void Session::send_priority_datagram(std::span<const std::byte> payload) {
  if (const auto record = priority_datagrams_->seal(payload)) flows_.first().channel->send_datagram(*record);
}

void Session::on_datagram(std::span<const std::byte> bytes) {
  if (state_ != State::running || !priority_handler_) return;
  if (const auto payload = priority_datagrams_->open(bytes)) priority_handler_(*payload);
}

// ---- Incoming: read records ahead, open, hand on in order ----------------------------------------------------------

void Session::async_read(ReadHandler handler) {
  UDTCAT_INVARIANT(!read_handler_, "blocks are asked for one at a time");
  read_handler_ = std::move(handler);
  read_on();
  if (!handing_on_ && (!opened_.empty() || read_error_)) boost::asio::post(io_, lifetime_.guard([this] { hand_on(); }));
}

void Session::read_on() {
  if (reading_ || read_error_ || opening_ + opened_.size() >= blocks_wanted()) return;
  auto memory = incoming_buffers_->acquire();
  if (!memory) return;  // the caller keeps all of it, and calls this when it has given some back
  reading_ = true;
  reader_->async_read(std::move(*memory), [this](Result<Block> record) { on_record(std::move(record)); });
}

void Session::on_record(Result<Block> record) {
  reading_ = false;
  if (!record) {
    if (!read_error_) read_error_ = std::move(record.error());
    return hand_on();
  }
  ++opening_;
  lanes_->open(std::move(*record));
  read_on();
}

void Session::on_opened(Result<Block> opened) {
  --opening_;
  if (!opened && !read_error_) read_error_ = opened.error();
  const bool follows_an_error = !opened_.empty() && !opened_.back();
  if (!follows_an_error) opened_.push_back(std::move(opened));
  hand_on();
  read_on();
}

/// Blocks that were read before an error are delivered first: the peer's CLOSE may be among them.
void Session::hand_on() {
  if (std::exchange(handing_on_, true)) return;  // called from the handler below, which asks for the next
  while (read_handler_) {
    if (opened_.empty() && read_error_ && opening_ == 0) opened_.push_back(tl::unexpected(*read_error_));
    if (opened_.empty()) break;
    const ReadHandler handler = std::exchange(read_handler_, nullptr);
    if (!opened_.front()) {
      handler(tl::unexpected(opened_.front().error()));
    } else {
      Result<Block> next = std::move(opened_.front());
      opened_.pop_front();
      ++stats_.blocks_received;
      handler(std::move(next));
    }
  }
  handing_on_ = false;
}

// ---- The whole -----------------------------------------------------------------------------------------------------

ConnectionStats Session::stats() {
  if (state_ == State::closed) return stats_;
  static_cast<TransportStats&>(stats_) = flows_.stats();
  return stats_;
}

void Session::add_end_stats(EndStats& end) const {
  if (state_ == State::closed) {
    end = last_end_stats_;
    return;
  }
  flows_.add_end_stats(end);
  if (lanes_) lanes_->add_end_stats(end);
}

void Session::close(std::chrono::milliseconds drain) {
  std::ignore = stats();  // the last that the channels say
  add_end_stats(last_end_stats_);
  state_ = State::closed;
  read_handler_ = nullptr;
  if (!read_error_) read_error_ = Error{Errc::connection_broken, "read a block", "the session is closed"};
  reader_->stop();
  flows_.close(drain);
}

}  // namespace udtcat::session
