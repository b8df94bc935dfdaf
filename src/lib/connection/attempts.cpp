// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/attempts.hpp"

#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/connection/joining_flows.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"

namespace udtcat::connection {

namespace {

/// A listener without room may have some soon; the lack of our own resources lasts.
bool worth_another_attempt(Errc code, bool somebody_answered) {
  return code == Errc::cannot_reach || code == Errc::connection_broken ||
         (somebody_answered && code == Errc::out_of_resources);
}

}  // namespace

Attempts::Attempts(boost::asio::io_context& io, const DialRequest& request, transport::PortSecrets secrets,
                   FirstWords first_words, ChannelHandler on_channel, FailureHandler on_failure)
    : io_(io),
      request_(request),
      first_words_(std::move(first_words)),
      on_channel_(std::move(on_channel)),
      on_failure_(std::move(on_failure)),
      pause_(io),
      deadline_(io) {
  UDTCAT_INVARIANT(!request_.addresses.empty(), "resolve() gives an address or an error");
  boost::asio::post(io_, lifetime_.guard([this, secrets] { start(secrets); }));
}

void Attempts::start(const transport::PortSecrets& secrets) {
  auto engine = transport::make_engine(io_, share_of_each_flow(request_.transport, request_.session.flows), secrets);
  if (!engine) return give_up(engine.error());
  engine_ = std::move(*engine);
  deadline_.expires_after(request_.timeout);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) give_up(unreachable());
  }));
  attempt();
}

void Attempts::attempt() {
  const Endpoint& address = request_.addresses[attempts_++ % request_.addresses.size()];
  core::log().debug("trying {}", address.to_string());
  auto words = first_words_ ? first_words_() : core::SharedBytes();
  if (!words) return give_up(words.error());
  engine_->async_connect(address, std::move(*words), kAttemptPatience,
                         lifetime_.guard([this](Result<std::unique_ptr<transport::Channel>> channel) {
                           if (!channel) return on_failed(channel.error(), false);
                           on_channel_(std::move(*channel));
                         }));
}

void Attempts::on_failed(const Error& error, bool somebody_answered) {
  core::log().debug("{}", error.message());
  if (somebody_answered || !somebody_answered_) last_error_ = error;
  somebody_answered_ = somebody_answered_ || somebody_answered;
  if (error.code == Errc::authentication_failed) return give_up(keys_differ(error.cause));
  if (!worth_another_attempt(error.code, somebody_answered)) return give_up(error);
  heard_only_closed_ports_ =
      heard_only_closed_ports_ && error.code == Errc::cannot_reach && error.cause == transport::kPortClosed;
  if (heard_only_closed_ports_ && attempts_ >= request_.addresses.size() &&
      Clock::now() - started_ >= request_.closed_port_patience)
    return give_up(unreachable());
  pause_.expires_after(kRetryPause);
  pause_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) attempt();
  }));
}

Error Attempts::keys_differ(const std::string& cause) const {
  return {Errc::authentication_failed, "connect to " + request_.peer_name,
          cause.empty() ? "the peer does not hold our key; both ends need the same one" : cause};
}

Error Attempts::unreachable() const {
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_);
  std::string cause = last_error_ ? last_error_->cause : "nobody answered";
  if (last_error_ && last_error_->code == Errc::out_of_resources)
    cause = last_error_->message();
  else if (somebody_answered_)
    cause = "somebody answered, but: " + last_error_->message() +
            "; is it a udtcat without --plain that waits for one peer more?";
  return {Errc::cannot_reach, "reach " + request_.peer_name + " for " + std::to_string(waited.count()) + " s", cause};
}

void Attempts::finish() {
  lifetime_.end();
  deadline_.cancel();
  pause_.cancel();
}

void Attempts::give_up(const Error& error) {
  finish();
  on_failure_(Error(error));  // a copy: the call may destroy us
}

}  // namespace udtcat::connection
