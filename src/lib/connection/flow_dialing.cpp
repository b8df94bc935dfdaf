#include "lib/connection/flow_dialing.hpp"

#include <string>
#include <utility>

#include "lib/core/log.hpp"

namespace udtcat::connection {

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
  engine_.async_connect(session_->peer(), kAttemptPatience,
                        lifetime_.guard([this, &attempt](Result<std::unique_ptr<transport::Channel>> channel) {
                          if (!channel) return try_again(attempt, channel.error());
                          attempt.channel = std::move(*channel);
                          say_join(attempt);
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

void FlowDialing::say_join(Attempt& attempt) {
  const auto join = session_->join_key()->join(attempt.flow);
  if (!join) return finish(tl::unexpected(join.error()));
  // A write that fails ends the channel, and the read says so.
  attempt.channel->async_write(core::SharedBytes::adopt(encode(*join)), [](const Status&) {});
  read_exactly(attempt, session::kParameterPrefixBytes, &FlowDialing::on_prefix);
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

}  // namespace udtcat::connection
