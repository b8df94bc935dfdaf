// SPDX-License-Identifier: Apache-2.0
#include "tool/redial.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/core/duplicate.hpp"
#include "tool/requests.hpp"

namespace udtcat::tool {

using boost::asio::ip::udp;

namespace {

bool is_of(const Endpoint& address, AddressFamily family) {
  return family == AddressFamily::any || address.family() == family;
}

}  // namespace

Redial::Redial(boost::asio::io_context& io, const Options& options, std::optional<Credentials> credentials,
               ConnectionHandler on_connection, FailureHandler on_failure)
    : io_(io),
      options_(options),
      credentials_(std::move(credentials)),
      on_connection_(std::move(on_connection)),
      on_failure_(std::move(on_failure)),
      resolver_(io),
      timer_(io) {}

void Redial::want() {
  if (state_ != State::idle) return;
  if (!lost_soon_) pauses_.reset();
  pause(pauses_.next(random_));
}

void Redial::retry_soon() {
  if (std::exchange(urgent_, true) || state_ != State::pausing) return;
  pause(kUrgentRedialPause);
}

void Redial::on_lost(std::chrono::steady_clock::duration life) { lost_soon_ = life < kLongEnough; }

void Redial::cancel() {
  lifetime_.end();
  resolver_.cancel();
  dialer_.reset();
  pauses_.reset();
  urgent_ = false;
  state_ = State::idle;
}

void Redial::pause(std::chrono::milliseconds time) {
  state_ = State::pausing;
  timer_.expires_after(urgent_ ? std::min(time, kUrgentRedialPause) : time);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) look_up();
  }));
}

/// The system's resolver may wait for a server: it does so on a thread of the resolver's own.
void Redial::look_up() {
  state_ = State::dialling;
  urgent_ = false;
  const auto found = [this](const boost::system::error_code& error, const udp::resolver::results_type& results) {
    std::vector<Endpoint> addresses;
    for (const auto& each : results) {
      const udp::endpoint endpoint = each.endpoint();
      const auto address = Endpoint::from_sockaddr(endpoint.data(), endpoint.size());
      if (address && is_of(*address, options_.family)) addresses.push_back(*address);
    }
    if (!addresses.empty()) return attempt(std::move(addresses));
    on_failed(
        {Errc::cannot_resolve, "find host " + options_.peer.host, error ? error.message() : "it has no such address"});
  };
  resolver_.async_resolve(options_.peer.host, std::to_string(options_.peer.port), udp::resolver::numeric_service,
                          lifetime_.guard(found));
}

void Redial::attempt(std::vector<Endpoint> addresses) {
  state_ = State::dialling;
  DialRequest request = dial_request(options_, core::duplicate(credentials_));
  request.addresses = addresses_ = std::move(addresses);
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
  pause(pauses_.next(random_));
  on_failure_(error);
}

}  // namespace udtcat::tool
