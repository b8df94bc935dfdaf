// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/dial_attempts.hpp"

#include <cerrno>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/connection/joining_flows.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"
#include "lib/core/user_text.hpp"
#include "lib/net/racing.hpp"

namespace udtcat::connection {

namespace {

constexpr const char* kNobody = "nobody answered";

/// A listener without room may have some soon; the lack of our own resources lasts.
bool worth_another_attempt(Errc code, bool somebody_answered) {
  return code == Errc::cannot_reach || code == Errc::connection_broken ||
         (somebody_answered && code == Errc::out_of_resources);
}

}  // namespace

Attempts::Attempts(boost::asio::io_context& io, const DialRequest& request, transport::PortSecrets secrets, Begin begin,
                   FailureHandler on_failure, std::shared_ptr<transport::Engine> engine)
    : io_(io),
      request_(request),
      begin_(std::move(begin)),
      on_failure_(std::move(on_failure)),
      engine_(std::move(engine)),
      addresses_(request.addresses),
      timer_(io),
      deadline_(io) {
  UDTCAT_INVARIANT(!addresses_.empty(), "resolve() gives an address or an error");
  if (request.name)
    resolver_.emplace(io, request.family, net::ResolverTimeouts{.answer_lasts = {}, .failure_lasts = {}});
  boost::asio::post(io_, lifetime_.guard([this, secrets] { start(secrets); }));
}

void Attempts::start(const transport::PortSecrets& secrets) {
  if (!engine_) {
    auto engine = transport::make_engine(io_, share_of_each_flow(request_.transport, request_.session.flows), secrets);
    if (!engine) return give_up(engine.error());
    engine_ = std::move(*engine);
  }
  deadline_.expires_after(request_.timeout);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) give_up(unreachable());
  }));
  race();
}

void Attempts::race() {
  raced_ = std::exchange(racing_, {});
  order_ = net::in_racing_order(addresses_);
  asked_ = running_ = 0;
  ask_next();
}

void Attempts::ask_next() {
  if (asked_ == order_.size()) return;
  const Endpoint address = order_[asked_++];
  core::log().debug("trying {}", address.to_string());
  ++running_;
  racing_.push_back(
      begin_(*engine_, address,
             lifetime_.guard([this, index = racing_.size()](const std::optional<Error>& error, bool somebody_answered) {
               if (error) return on_failed(*error, somebody_answered);
               on_won(index);
             })));
  if (asked_ == order_.size()) return;
  timer_.expires_after(net::kConnectionAttemptDelay);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) ask_next();
  }));
}

void Attempts::on_won(std::size_t winner) {
  timer_.cancel();
  asked_ = order_.size();
  running_ = 0;
  for (std::size_t i = 0; i < racing_.size(); ++i)
    if (i != winner) racing_[i].reset();
}

void Attempts::on_failed(const Error& error, bool somebody_answered) {
  note(error, somebody_answered);
  --running_;
  if (asked_ < order_.size()) {
    timer_.cancel();
    return ask_next();
  }
  if (running_ == 0) race_over();
}

void Attempts::note(const Error& error, bool somebody_answered) {
  core::log().debug("{}", error.message());
  if (somebody_answered || !somebody_answered_) last_error_ = error;
  somebody_answered_ = somebody_answered_ || somebody_answered;
  heard_only_closed_ports_ =
      heard_only_closed_ports_ && error.code == Errc::cannot_reach && error.cause == transport::kPortClosed;
  if (error.code == Errc::authentication_failed)
    final_error_ = keys_differ(error.cause);
  else if (!worth_another_attempt(error.code, somebody_answered))
    final_error_ = error;
}

void Attempts::try_again_after(const Error& error) {
  note(error, true);
  race_over();
}

void Attempts::race_over() {
  if (final_error_) return give_up(*final_error_);
  if (heard_only_closed_ports_ && Clock::now() - started_ >= request_.closed_port_patience)
    return give_up(unreachable());
  look_up();
  timer_.expires_after(kRetryPause);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) race();
  }));
}

/// The listener may have moved to another address. A resolver that is slow, or fails, holds no race up.
void Attempts::look_up() {
  if (!resolver_ || std::exchange(looking_up_, true)) return;
  resolver_->look_up(*request_.name, lifetime_.guard([this](Result<std::vector<Endpoint>> found) {
    looking_up_ = false;
    if (found) addresses_ = std::move(*found);
  }));
}

Error Attempts::keys_differ(const std::string& cause) const {
  return {Errc::authentication_failed, "connect to " + request_.peer_name,
          cause.empty() ? "the peer does not hold our key; both ends need the same one" : cause};
}

Error Attempts::unreachable() const {
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_);
  std::string cause = last_error_ ? last_error_->cause : kNobody;
  if (last_error_ && last_error_->code == Errc::out_of_resources)
    cause = last_error_->message();
  else if (somebody_answered_)
    cause = "somebody answered, but: " + last_error_->message() +
            "; is it a udtcat without --plain that waits for one peer more?";
  const std::string port =
      request_.addresses.empty() ? "" : " UDP port " + std::to_string(request_.addresses.front().port());
  if (cause == kNobody && !port.empty())
    cause += " at" + port + ": nothing listens there, or a firewall drops UDP on the way";
  else if (cause == core::errno_text(EPERM) && !port.empty())
    cause += ": a firewall of this host refuses" + port;
  else if (cause == core::errno_text(EHOSTUNREACH) && !port.empty())
    cause += "; where TCP gets there, a firewall refuses" + port;
  return {Errc::cannot_reach, "reach " + request_.peer_name + " for " + std::to_string(waited.count()) + " s", cause};
}

void Attempts::finish() {
  lifetime_.end();
  deadline_.cancel();
  timer_.cancel();
  resolver_.reset();
}

void Attempts::give_up(const Error& error) {
  finish();
  on_failure_(Error(error));  // a copy: the call may destroy us
}

}  // namespace udtcat::connection
