// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/flow_dialing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include <udtcat/why_diagnosis.hpp>

#include "lib/connection/dial_attempts.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/transport/local_addresses.hpp"

namespace udtcat::connection {

namespace {

constexpr auto kDiagnosedSpan = std::chrono::milliseconds(1000);  // guess: enough packets for a diagnosis

}  // namespace

FlowDialing::FlowDialing(boost::asio::io_context& io, transport::Engine& engine, session::Session& session,
                         const Settings& settings, StatsSource stats)
    : io_(io),
      engine_(engine),
      session_(session),
      settings_(settings),
      stats_(std::move(stats)),
      attempts_(session.agreed().flows),
      turns_(session.agreed().flows),
      tick_(io) {
  session_.on_flow_ended(lifetime_.guard([this] {
    for (const session::FlowProgress& flow : session_.flow_progress())
      if (flow.broken) replace(flow.name.flow);
    on_traffic();
  }));
  const std::size_t least = std::clamp<std::size_t>(settings_.addresses, 1, session_.agreed().flows);
  if (!settings_.flows) growth_.emplace(session_.agreed().flows, least);
  want(settings_.flows.value_or(least));
}

void FlowDialing::on_traffic() {
  if (ticking_ || (!growth_ && wanted_ == 1)) return;
  arm();
}

void FlowDialing::set_asked(bool asked) {
  asked_ = asked;
  if (asked) on_traffic();
}

void FlowDialing::arm() {
  ticking_ = true;
  tick_.expires_after(FlowGrowth::kLookEvery);
  tick_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) look();
  }));
}

void FlowDialing::look() {
  ticking_ = false;
  const auto now = Clock::now();
  const std::uint64_t bytes = session_.stats().bytes_carried;
  const auto flows = session_.flow_progress();
  if (session_.can_replace_flows()) replace_lost(flows);
  if (growth_) {
    const auto usable = static_cast<std::size_t>(
        std::ranges::count_if(flows, [](const session::FlowProgress& flow) { return !flow.broken; }));
    want(growth_->look(now, {.bytes = bytes, .policed = is_policed(), .flows = usable}));
  }
  // Where nothing moves and no answer is due there is nothing to see, until on_traffic().
  const bool is_idle =
      bytes == looked_at_bytes_ &&
      std::ranges::none_of(flows, [](const auto& flow) { return flow.unanswered_since.has_value(); }) &&
      (flows.size() == 1 || !asked_);
  looked_at_bytes_ = bytes;
  if (!is_idle) arm();
}

void FlowDialing::replace_lost(std::span<const session::FlowProgress> flows) {
  for (const session::FlowProgress& flow : flows)
    if (flow.broken) replace(flow.name.flow);
  const auto silent = watch_.look(Clock::now(), flows);
  for (const session::FlowProgress& flow : flows) {
    const bool is_silent = std::ranges::find(silent, flow.name.flow) != silent.end();
    session_.set_stalled(flow.name.flow, is_silent || flow.name.flow >= wanted_);
    if (is_silent) replace(flow.name.flow);
  }
  use_every_address(flows);
}

/// An address without a flow, since its uplink was lost or a dial by it was, takes one of an address that has several.
void FlowDialing::use_every_address(std::span<const session::FlowProgress> flows) {
  if (settings_.addresses < 2) return;
  std::vector<std::vector<std::uint8_t>> flows_of(settings_.addresses);
  for (const session::FlowProgress& flow : flows)
    if (!flow.broken && flow.name.flow < wanted_)
      flows_of[turns_[flow.name.flow] % settings_.addresses].push_back(flow.name.flow);
  std::vector<std::uint8_t>& most =
      *std::ranges::max_element(flows_of, {}, [](const auto& each) { return each.size(); });
  if (most.size() < 2 || std::ranges::none_of(flows_of, [](const auto& each) { return each.empty(); })) {
    returns_at_.reset();
    return;
  }
  std::erase_if(most, [this](std::uint8_t flow) { return is_dialling(flow); });
  if (most.empty() || !may_return()) return;
  do returned_to_ = (returned_to_ + 1) % settings_.addresses;
  while (!flows_of[returned_to_].empty());
  begin(most.back(), returned_to_, true);
}

/// Where an address has no flow: after a pause, which is longer each time, and short again after a while without.
bool FlowDialing::may_return() {
  const auto now = Clock::now();
  if (!returns_at_) {
    if (now - returned_at_ > kMostReturnPause) {
      return_pause_ = kLeastReturnPause;
      return_failures_ = 0;
    }
    returns_at_ = now + return_pause_;
  }
  if (now < *returns_at_) return false;
  returned_at_ = now;
  return_pause_ = std::min<Clock::duration>(2 * return_pause_, kMostReturnPause);
  returns_at_ = now + return_pause_;
  return true;
}

bool FlowDialing::is_policed() {
  const auto now = Clock::now();
  lately_.emplace_back(now, stats_());
  while (now - lately_.front().first > kDiagnosedSpan && lately_.size() > 2) lately_.pop_front();
  return diagnose(since(lately_.front().second, lately_.back().second)).limit == Limit::policer;
}

void FlowDialing::want(std::size_t flows) {
  const std::size_t most = std::min(flows, session_.agreed().flows);
  const std::size_t before = std::exchange(wanted_, most);
  for (std::size_t flow = std::min(before, most); flow < std::max(before, most); ++flow) {
    const auto number = static_cast<std::uint8_t>(flow);
    if (flow >= wanted_) {
      session_.set_stalled(number, true);  // it brings nothing: it rests
    } else if (attempts_[flow] == 0) {
      begin(number, number);
    } else {
      session_.set_stalled(number, false);
    }
  }
}

/// Doubled with each attempt that came to nothing: another path's round trip may be longer than the first one's.
FlowDialing::Clock::duration FlowDialing::patience(const Dial& dial) const {
  const auto rtt = session_.stats().rtt.value_or(std::chrono::microseconds(0));
  const auto least = std::max<Clock::duration>(kLeastFlowPatience, kFlowSilenceRtts * rtt);
  return std::max(least, std::min<Clock::duration>(least * (1U << std::min(dial.failures, 8U)), kMostFlowPatience));
}

bool FlowDialing::is_dialling(std::uint8_t flow) const {
  return std::ranges::any_of(dials_, [&](const Dial& dial) { return dial.name.flow == flow; });
}

void FlowDialing::begin(std::uint8_t flow, std::size_t turn, bool returns) {
  if (!session_.can_replace_flows() && attempts_[flow] > 0) return;
  if (is_dialling(flow) || !session_.has_room_for_flow()) return;
  session_.expect_flows();
  Dial& dial = dials_.emplace_back(io_, flow, turn);
  dial.returns = returns;
  if (returns) dial.failures = std::min(return_failures_, kMostReturnPatience);
  connect(dial);
}

void FlowDialing::connect(Dial& dial) {
  dial.name.attempt = ++attempts_[dial.name.flow];
  dial.input.clear();
  dial.lifetime.end();
  const auto join = session_.join_key()->join(dial.name);
  if (!join) return try_again(dial, join.error());
  const std::size_t others = std::max<std::size_t>(wanted_, 2) - 1;
  const transport::Engine::FlowSettings settings{.memory_bytes = settings_.memory_bytes / others, .turn = dial.turn};
  engine_.async_connect_flow(
      session_.peer(), core::SharedBytes::adopt(encode(*join)),
      std::chrono::ceil<std::chrono::milliseconds>(patience(dial)), settings,
      lifetime_.guard(dial.lifetime.guard([this, &dial](Result<std::unique_ptr<transport::Channel>> channel) {
        if (!channel) return try_again(dial, channel.error());
        dial.channel = std::move(*channel);
        watch_answer(dial);
        read_exactly(dial, session::kParameterPrefixBytes, &FlowDialing::on_prefix);
      })));
}

/// By another attempt, from the next address: the one before may have been taken, where its answers alone are lost.
void FlowDialing::try_again(Dial& dial, const Error& error) {
  core::log().debug("flow {}, attempt {}: {}", dial.name.flow, dial.name.attempt, error.message());
  dial.lifetime.end();
  ++dial.failures;
  const bool may_have_joined = std::exchange(dial.channel, nullptr) != nullptr;
  const bool has_left = error.code != Errc::cannot_bind;
  if (may_have_joined ? !session_.can_replace_flows() : dial.returns && !has_left) {
    dials_.remove_if([&](const Dial& each) { return &each == &dial; });
    return;
  }
  if (dial.returns) ++return_failures_;
  dial.turn = std::exchange(dial.returns, false) ? turns_[dial.name.flow] : dial.turn + 1;
  dial.timer.expires_after(dial.pause);
  const bool is_refused = may_have_joined && !session_.has_flow(dial.name.flow);
  const auto most = is_refused ? kMostRefusedFlowPause : kMostFlowPause;
  dial.pause = std::clamp<Clock::duration>(2 * dial.pause, kRetryPause, most);
  dial.timer.async_wait(lifetime_.guard(dial.lifetime.guard([this, &dial](const boost::system::error_code& cancelled) {
    if (!cancelled) connect(dial);
  })));
}

/// Where nothing has come on it, nothing was acknowledged: it can be given up, and no record is lost.
void FlowDialing::watch_answer(Dial& dial) {
  // Where a flow cannot be replaced its first channel is its only one.
  if (!session_.can_replace_flows()) return;
  dial.timer.expires_after(patience(dial));
  dial.timer.async_wait(lifetime_.guard(dial.lifetime.guard([this, &dial](const boost::system::error_code& cancelled) {
    if (cancelled || dial.channel == nullptr) return;
    if (dial.channel->stats().bytes_received > 0) return watch_answer(dial);
    try_again(dial, {Errc::cannot_reach, "join the session", "no answer came"});
  })));
}

/// Appends `bytes` to the input and goes on with `next`.
void FlowDialing::read_exactly(Dial& dial, std::size_t bytes, void (FlowDialing::*next)(Dial&)) {
  if (bytes == 0) return (this->*next)(dial);
  const std::size_t before = dial.input.size();
  dial.input.resize(before + bytes);
  dial.channel->async_read(std::span(dial.input).subspan(before),
                           lifetime_.guard(dial.lifetime.guard([this, &dial, next](const Status& status) {
                             if (!status) return try_again(dial, status.error());
                             (this->*next)(dial);
                           })));
}

void FlowDialing::on_prefix(Dial& dial) {
  const auto message_bytes = session::parameter_message_bytes(dial.input);
  if (!message_bytes) return try_again(dial, message_bytes.error());
  read_exactly(dial, *message_bytes - dial.input.size(), &FlowDialing::on_joined);
}

void FlowDialing::on_joined(Dial& dial) {
  const auto joined = session::decode_joined(dial.input);
  if (!joined) return try_again(dial, joined.error());
  if (auto proved = session_.join_key()->check(*joined, dial.name); !proved) return try_again(dial, proved.error());
  const session::FlowName name = dial.name;
  turns_[name.flow] = dial.turn;
  const std::size_t joined_bytes = dial.input.size();
  auto channel = std::move(dial.channel);
  dials_.remove_if([&](const Dial& each) { return &each == &dial; });
  session_.add_flow(std::move(channel), name, joined_bytes);
  session_.set_stalled(name.flow, name.flow >= wanted_);
  on_traffic();
}

std::optional<std::size_t> flows_wanted(const SessionTuning& session, const TransportOptions& transport) {
  if (session.flows || transport.rate.unlimited()) return session.flows;
  const auto& locals = transport.local_addresses;
  const std::size_t most = std::max(transport::count_of_family(locals, AddressFamily::ipv4),
                                    transport::count_of_family(locals, AddressFamily::ipv6));
  return most > 1 ? std::optional(std::min(most, kMaxFlows)) : std::nullopt;
}

TransportOptions share_of_each_flow(TransportOptions whole, std::optional<std::size_t> flows) {
  if (whole.rate.unlimited() || !flows) return whole;
  const std::uint64_t parts = std::clamp<std::size_t>(*flows, 1, kMaxFlows);
  // At least a byte per second: none at all would mean no limit.
  whole.rate = BitRate::from_bits_per_second(std::max<std::uint64_t>(whole.rate.bits_per_second() / parts, 8));
  return whole;
}

}  // namespace udtcat::connection
