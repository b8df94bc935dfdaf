// SPDX-License-Identifier: Apache-2.0
#include "forward/redial.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/duplicate.hpp"
#include "lib/core/log.hpp"
#include "tool/cli/proxy_choice.hpp"
#include "tool/run/endpoint_setup.hpp"

namespace udtcat::forward {

Redial::Redial(boost::asio::io_context& io, const tool::Options& options, std::optional<Credentials> credentials,
               ConnectionHandler on_connection, FailureHandler on_failure)
    : io_(io),
      options_(options),
      credentials_(std::move(credentials)),
      on_connection_(std::move(on_connection)),
      on_failure_(std::move(on_failure)),
      resolver_(io, options.family, {.answer_lasts = {}, .failure_lasts = {}}),
      timer_(io) {}

void Redial::want() {
  if (state_ != State::idle) return;
  if (!lost_soon_) backoff_.reset();
  pause(backoff_.next(random_));
}

void Redial::try_udp() {
  if (udp_dialer_ || addresses_.empty()) return;
  DialRequest request = tool::dial_request(options_, core::duplicate(credentials_));
  request.addresses = addresses_;
  request.transport.kind = TransportKind::native;
  udp_dialer_ = dial(io_, std::move(request), [this](Result<std::unique_ptr<Connection>> connection) {
    const auto done = std::move(udp_dialer_);
    if (connection) return on_connection_(std::move(*connection));
    core::log().debug("{}", connection.error().message());
  });
}

void Redial::retry_soon() {
  if (std::exchange(urgent_, true) || state_ != State::pausing) return;
  pause(kUrgentRedialDelay);
}

void Redial::on_lost(std::chrono::steady_clock::duration life) { lost_soon_ = life < kLongEnough; }

void Redial::cancel() {
  lifetime_.end();
  dialer_.reset();
  udp_dialer_.reset();
  backoff_.reset();
  urgent_ = false;
  state_ = State::idle;
}

void Redial::pause(std::chrono::milliseconds time) {
  state_ = State::pausing;
  timer_.expires_after(urgent_ ? std::min(time, kUrgentRedialDelay) : time);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) look_up();
  }));
}

void Redial::look_up() {
  state_ = State::dialling;
  urgent_ = false;
  ++dials_;
  if (options_.via) return attempt({});
  resolver_.look_up(options_.peer, lifetime_.guard([this](Result<std::vector<Endpoint>> found) {
    if (found) return attempt(std::move(*found));
    if (tool::is_found_by_proxy(options_, options_.peer.host)) return attempt({});
    on_failed({Errc::cannot_resolve, "find host " + options_.peer.host, found.error().cause});
  }));
}

void Redial::attempt(std::vector<Endpoint> addresses) {
  state_ = State::dialling;
  DialRequest request = tool::dial_request(options_, core::duplicate(credentials_));
  request.addresses = addresses_ = std::move(addresses);
  auto place = tool::meeting_place(options_);
  if (!place) return on_failed(place.error());
  request.via = std::move(*place);
  dialer_ = dial(io_, std::move(request),
                 [this](Result<std::unique_ptr<Connection>> connection) { on_dialled(std::move(connection)); });
}

void Redial::on_dialled(Result<std::unique_ptr<Connection>> connection) {
  const auto done = std::move(dialer_);
  if (!connection) return on_failed(connection.error());
  state_ = State::idle;
  urgent_ = false;
  lost_soon_ = false;
  on_connection_(std::move(*connection));
}

void Redial::on_failed(const Error& error) {
  pause(backoff_.next(random_));
  on_failure_(error);
}

}  // namespace udtcat::forward
