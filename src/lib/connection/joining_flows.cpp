// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/joining_flows.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/connection/dial_attempts.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::connection {

// ---- The connector --------------------------------------------------------------------------------------------------

FlowDialing::FlowDialing(boost::asio::io_context& io, transport::Engine& engine,
                         std::unique_ptr<session::Session> session, Handler handler)
    : io_(io), engine_(engine), handler_(std::move(handler)), session_(std::move(session)), deadline_(io) {
  deadline_.expires_after(kFlowsPatience);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled)
      finish(fail(Errc::cannot_reach, "open more flows to " + session_->peer().to_string(), "not finished in time"));
  }));
  for (std::size_t i = 0; i < kFlowsDialedAtOnce; ++i) begin_next();
}

void FlowDialing::begin_next() {
  if (next_flow_ >= session_->agreed().flows) return;
  connect(attempts_.emplace_back(io_, static_cast<std::uint8_t>(next_flow_++)));
}

void FlowDialing::connect(Attempt& attempt) {
  const auto join = session_->join_key()->join(attempt.flow);
  // Posted: begin_next() may be the constructor's.
  if (!join)
    return boost::asio::post(io_, lifetime_.guard([this, error = join.error()] { finish(tl::unexpected(error)); }));
  engine_.async_connect(session_->peer(), core::SharedBytes::adopt(encode(*join)), kAttemptPatience,
                        lifetime_.guard([this, &attempt](Result<std::unique_ptr<transport::Channel>> channel) {
                          if (!channel) return try_again(attempt, channel.error());
                          attempt.channel = std::move(*channel);
                          read_exactly(attempt, session::kParameterPrefixBytes, &FlowDialing::on_prefix);
                        }));
}

/// Only a connect: a join that broke may have been taken, and a flow joins once.
void FlowDialing::try_again(Attempt& attempt, const Error& error) {
  core::log().debug("flow {}: {}", attempt.flow, error.message());
  attempt.pause.expires_after(kRetryPause);
  attempt.pause.async_wait(lifetime_.guard([this, &attempt](const boost::system::error_code& cancelled) {
    if (!cancelled) connect(attempt);
  }));
}

/// Appends `bytes` to the attempt's input and goes on with `next`.
void FlowDialing::read_exactly(Attempt& attempt, std::size_t bytes, void (FlowDialing::*next)(Attempt&)) {
  if (bytes == 0) return (this->*next)(attempt);
  const std::size_t before = attempt.input.size();
  attempt.input.resize(before + bytes);
  attempt.channel->async_read(std::span(attempt.input).subspan(before),
                              lifetime_.guard([this, &attempt, next](const Status& status) {
                                if (!status) return finish(tl::unexpected(status.error()));
                                (this->*next)(attempt);
                              }));
}

void FlowDialing::on_prefix(Attempt& attempt) {
  const auto message_bytes = session::parameter_message_bytes(attempt.input);
  if (!message_bytes) return finish(tl::unexpected(message_bytes.error()));
  read_exactly(attempt, *message_bytes - attempt.input.size(), &FlowDialing::on_joined);
}

void FlowDialing::on_joined(Attempt& attempt) {
  const auto joined = session::decode_joined(attempt.input);
  if (!joined) return finish(tl::unexpected(joined.error()));
  if (auto proved = session_->join_key()->check(*joined, attempt.flow); !proved)
    return finish(tl::unexpected(proved.error()));
  session_->add_flow(std::move(attempt.channel));
  attempts_.remove_if([&](const Attempt& each) { return &each == &attempt; });
  if (session_->join_key() == nullptr) return finish(std::move(session_));
  begin_next();
}

void FlowDialing::finish(Result<std::unique_ptr<session::Session>> result) {
  lifetime_.end();
  deadline_.cancel();
  const Handler handler = std::move(handler_);
  handler(std::move(result));
}

// ---- The listener ---------------------------------------------------------------------------------------------------

namespace {

tl::unexpected<Error> refused(const char* why) { return fail(Errc::authentication_failed, "join a session", why); }

}  // namespace

AwaitedSessions::AwaitedSessions(boost::asio::io_context& io, CompleteHandler on_complete, LateHandler on_late)
    : io_(io), on_complete_(std::move(on_complete)), on_late_(std::move(on_late)) {}

Status AwaitedSessions::add(std::unique_ptr<session::Session> session) {
  if (awaited_.size() >= kMaxAwaitedSessions)
    return fail(Errc::out_of_resources, "wait for the flows of " + session->peer().to_string(),
                "too many sessions wait for theirs");
  const Entry entry = awaited_.emplace(awaited_.end(), io_);
  entry->session = std::move(session);
  arm(entry);
  return {};
}

void AwaitedSessions::arm(Entry entry) {
  entry->deadline.expires_after(kAwaitedFlowsDeadline);
  // The entry may be gone when this is called: it is looked up by its session.
  entry->deadline.async_wait(lifetime_.guard([this, session = entry->session.get()](const auto& cancelled) {
    if (cancelled) return;
    const auto late = std::find_if(awaited_.begin(), awaited_.end(),
                                   [&](const Awaited& awaited) { return awaited.session.get() == session; });
    if (late == awaited_.end()) return;
    const Endpoint peer = session->peer();
    const std::string there = std::to_string(1 + late->joined.count());
    const std::string agreed = std::to_string(session->agreed().flows);
    awaited_.erase(late);
    on_late_(peer, {Errc::cannot_reach, "wait for the flows of " + peer.to_string(),
                    "only " + there + " of " + agreed + " came in time"});
  }));
}

Status AwaitedSessions::join(const session::Join& join, std::unique_ptr<transport::Channel> channel) {
  const auto meant = std::find_if(awaited_.begin(), awaited_.end(), [&](const Awaited& awaited) {
    return awaited.session->join_key()->is_meant_by(join);
  });
  if (meant == awaited_.end()) return refused("no such session waits for flows");
  UDTCAT_CHECK(take_in(*meant, join, *channel));
  meant->session->add_flow(std::move(channel));
  if (meant->session->join_key() != nullptr) return {};
  auto complete = std::move(meant->session);
  awaited_.erase(meant);
  on_complete_(std::move(complete));
  return {};
}

Status AwaitedSessions::take_in(Awaited& awaited, const session::Join& join, transport::Channel& channel) {
  const session::JoinKey& key = *awaited.session->join_key();
  UDTCAT_CHECK(key.check(join));
  if (join.flow >= awaited.session->agreed().flows) return refused("so many flows were not agreed on");
  if (awaited.joined.test(join.flow)) return refused("that flow is there already");
  UDTCAT_TRY(const auto joined, key.joined(join.flow));
  awaited.joined.set(join.flow);
  // A write that fails shows when the session reads.
  channel.async_write(core::SharedBytes::adopt(encode(joined)), [](const Status&) {});
  return {};
}

TransportOptions share_of_each_flow(TransportOptions whole, std::optional<std::size_t> flows) {
  if (whole.rate.unlimited() || !flows) return whole;
  const std::uint64_t parts = std::clamp<std::size_t>(*flows, 1, kMaxFlows);
  // At least a byte per second: none at all would mean no limit.
  whole.rate = BitRate::from_bits_per_second(std::max<std::uint64_t>(whole.rate.bits_per_second() / parts, 8));
  return whole;
}

}  // namespace udtcat::connection
