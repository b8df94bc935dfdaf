// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/dial_attempts.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "lib/connection/flow_dialing.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"
#include "lib/core/user_text.hpp"
#include "lib/net/http_proxy.hpp"
#include "lib/net/racing.hpp"
#include "lib/transport/local_addresses.hpp"

namespace udtcat::connection {

namespace {

constexpr const char* kNobody = "nobody answered";

bool is_closed_port(const Error& error) {
  return error.code == Errc::cannot_reach &&
         (error.cause == transport::kPortClosed || error.cause == transport::kTcpPortClosed);
}

/// It would say the same to each attempt, and may count them.
bool is_refused_by_proxy(const Error& error) {
  return error.code == Errc::cannot_reach && error.cause.starts_with(net::kProxyRefuses);
}

/// A listener without room may have some soon; the lack of our own resources lasts.
bool worth_another_attempt(Errc code, bool somebody_answered) {
  return code == Errc::cannot_reach || code == Errc::connection_broken ||
         (somebody_answered && code == Errc::out_of_resources);
}

/// Each of them from each address of this host that is of its family, one after the other; where there is none the
/// engine says so.
std::vector<Endpoint> for_each_local(const std::vector<Endpoint>& order, const std::vector<Endpoint>& locals) {
  std::vector<Endpoint> all;
  for (std::size_t turn = 0; turn < locals.size(); ++turn)
    std::ranges::copy_if(order, std::back_inserter(all), [&](const Endpoint& each) {
      return turn < transport::count_of_family(locals, each.family());
    });
  return all.empty() ? order : all;
}

}  // namespace

Attempts::Attempts(boost::asio::io_context& io, const DialRequest& request, transport::PortSecrets secrets, Begin begin,
                   FailureHandler on_failure, std::shared_ptr<transport::Engine> engine)
    : io_(io),
      request_(request),
      begin_(std::move(begin)),
      on_failure_(std::move(on_failure)),
      addresses_(request.addresses),
      first_(io),
      tcp_(io),
      timer_(io),
      tcp_timer_(io),
      deadline_(io) {
  UDTCAT_INVARIANT(!addresses_.empty(), "resolve() gives an address or an error");
  first_.engine = std::move(engine);
  if (request.name)
    resolver_.emplace(io, request.family, net::ResolverTimeouts{.answer_lasts = {}, .failure_lasts = {}});
  boost::asio::post(io_, lifetime_.guard([this, secrets] { start(secrets); }));
}

void Attempts::start(const transport::PortSecrets& secrets) {
  TransportOptions options = share_of_each_flow(request_.transport, request_.session.flows);
  if (request_.name) options.proxied_host = request_.name->host;
  if (!first_.engine) {
    auto engine = transport::make_engine(io_, options, secrets);
    if (!engine) return give_up(engine.error());
    first_.engine = std::move(*engine);
  }
  if (options.kind == TransportKind::automatic) {
    options.kind = TransportKind::tcp;
    auto tcp = transport::make_engine(io_, options, secrets);
    if (tcp)
      tcp_.engine = std::move(*tcp);
    else
      core::log().info("{}; without TCP", tcp.error().message());
  }
  deadline_.expires_after(request_.timeout);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) give_up(unreachable());
  }));
  race();
}

void Attempts::race() {
  raced_ = std::exchange(racing_, {});
  held_.clear();
  order_ = for_each_local(net::in_racing_order(addresses_), request_.transport.local_addresses);
  race_began_ = Clock::now();
  first_.asked = first_.running = tcp_.asked = tcp_.running = 0;
  tcp_began_ = false;
  ask_next(first_);
  if (!races_tcp()) return;
  tcp_timer_.expires_at(race_began_ + kTcpDelay);
  tcp_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) begin_tcp();
  }));
}

void Attempts::ask_next(Transport& transport) {
  if (transport.asked == order_.size()) return;
  const Endpoint address = order_[transport.asked++];
  ask(transport, address);
  if (transport.asked == order_.size()) return;
  transport.timer.expires_after(net::kConnectionAttemptDelay);
  transport.timer.async_wait(lifetime_.guard([this, &transport](const boost::system::error_code& cancelled) {
    if (!cancelled) ask_next(transport);
  }));
}

void Attempts::ask(Transport& transport, const Endpoint& address) {
  const bool by_tcp = &transport == &tcp_;
  core::log().debug("trying {}{}", by_tcp || request_.transport.kind == TransportKind::tcp ? "tcp " : "",
                    address.to_string());
  ++transport.running;
  const std::size_t index = racing_.size();
  ProofHandler hold;
  if (by_tcp)
    hold = lifetime_.guard([this, index](Clock::duration round_trip, std::function<void()> go_on) {
      this->hold(index, round_trip, std::move(go_on));
    });
  else if (races_tcp() && request_.credentials)  // at clear nothing is proved
    hold = lifetime_.guard([this, index](Clock::duration /*round_trip*/, const std::function<void()>& go_on) {
      racing_[index].has_proved = true;
      go_on();
    });
  racing_.push_back({&transport, address, Clock::now(), nullptr});
  racing_.back().attempt =
      begin_(*transport.engine, address,
             lifetime_.guard([this, index](const std::optional<Error>& error, bool somebody_answered) {
               if (error) return on_failed(index, *error, somebody_answered);
               on_won(index);
             }),
             std::move(hold));
}

/// Where UDP is answered within kTcpDelay, the path has carried both ways, and no SYN leaves.
void Attempts::begin_tcp() {
  if (tcp_began_) return;
  const auto patient_until = race_began_ + kAnsweredPatience;
  if (!is_over(first_) && first_.engine->is_answered() && Clock::now() < patient_until) {
    tcp_timer_.expires_at(patient_until);
    tcp_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) begin_tcp();
    }));
    return;
  }
  tcp_timer_.cancel();
  tcp_began_ = true;
  ask_next(tcp_);
}

/// One lost datagram is no reason for TCP: UDP has the time in which its second one would be answered.
void Attempts::hold(std::size_t index, Clock::duration round_trip, std::function<void()> go_on) {
  const Entry& held = racing_[index];
  held_.push_back({index, std::move(go_on)});
  if (held_.size() > 1) return;
  const auto now = Clock::now();
  auto until = std::max(race_began_, held.began - kTcpDelay) + kUdpRepeats + 2 * round_trip + kHoldSlack;
  // A listener that was just starting has had its TCP port open a moment after its UDP port was found closed.
  if (is_over(first_)) {
    ask(first_, Endpoint(held.address));
    until = now + 2 * round_trip + kHoldSlack;
  }
  release_at(until, true);
}

void Attempts::release_at(Clock::time_point at, bool may_wait_longer) {
  tcp_timer_.expires_at(std::min(at, deadline_.expiry() - kUdpRepeats));
  tcp_timer_.async_wait(lifetime_.guard([this, at, may_wait_longer](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    const bool is_answered = first_.running > 0 && first_.engine->is_answered();
    if (may_wait_longer && is_answered) return release_at(at + kAnsweredPatience, false);
    release();
  }));
}

/// TCP has won: the others go first, so that no listener has two sessions. Or it has found a final error.
/// has_waited   for an attempt by UDP that has proved the key, and has come to nothing
void Attempts::release(bool has_waited) {
  tcp_timer_.cancel();
  if (!held_.empty() && has_proved_by_udp() && !has_waited) {
    tcp_timer_.expires_at(std::min(Clock::now() + kAttemptPatience, deadline_.expiry() - kUdpRepeats));
    return tcp_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) release(true);
    }));
  }
  if (held_.empty()) {
    if (final_error_) race_over();
    return;
  }
  const Proof winner = std::move(held_.front());
  held_.clear();
  for (std::size_t i = 0; i < racing_.size(); ++i)
    if (i != winner.index) racing_[i].attempt.reset();
  first_.timer.cancel();
  tcp_.timer.cancel();
  first_.asked = tcp_.asked = order_.size();
  first_.running = 0;
  tcp_.running = 1;
  winner.go_on();
}

void Attempts::on_won(std::size_t winner) {
  winner_ = racing_[winner].transport->engine;
  for (Transport* const each : {&first_, &tcp_}) {
    each->timer.cancel();
    each->asked = order_.size();
    each->running = 0;
  }
  tcp_timer_.cancel();
  tcp_began_ = true;
  held_.clear();
  for (std::size_t i = 0; i < racing_.size(); ++i)
    if (i != winner) racing_[i].attempt.reset();
}

void Attempts::on_failed(std::size_t index, const Error& error, bool somebody_answered) {
  Transport& transport = *racing_[index].transport;
  const bool had_proved = std::exchange(racing_[index].has_proved, false);
  std::erase_if(held_, [index](const Proof& each) { return each.index == index; });
  if (&transport == &tcp_)
    note_tcp(error, somebody_answered);
  else
    note(error, somebody_answered);
  --transport.running;
  if (transport.asked < order_.size()) {
    transport.timer.cancel();
    return ask_next(transport);
  }
  if (had_proved && !held_.empty()) return release_at(Clock::now(), true);
  if (transport.running > 0) return;
  if (&transport == &tcp_) return on_tcp_over();
  on_udp_over();
}

void Attempts::on_udp_over() {
  if (!races_tcp() || (final_error_ && held_.empty())) return race_over();
  if (!tcp_began_) return begin_tcp();
  if (!held_.empty()) return release_at(Clock::now(), false);  // not from inside the attempt that has failed
  if (is_over(tcp_)) race_over();
}

/// A final error by TCP counts when UDP has had the time that a proof by TCP would give it: the port may be that of
/// another program.
void Attempts::on_tcp_over() {
  if (is_over(first_)) return race_over();
  if (!final_error_) return;
  const auto took = Clock::now() - racing_.back().began;
  release_at(race_began_ + kUdpRepeats + took + kHoldSlack, true);
}

void Attempts::note(const Error& error, bool somebody_answered) {
  core::log().debug("{}", error.message());
  if (somebody_answered || !somebody_answered_) last_error_ = error;
  somebody_answered_ = somebody_answered_ || somebody_answered;
  heard_only_closed_ports_ = heard_only_closed_ports_ && is_closed_port(error);
  if (error.code == Errc::authentication_failed)
    final_error_ = keys_differ(error.cause);
  else if (is_refused_by_proxy(error) || !worth_another_attempt(error.code, somebody_answered))
    final_error_ = error;
}

/// Only a udtcat that means it ends the attempts: another program may have the TCP port.
void Attempts::note_tcp(const Error& error, bool somebody_answered) {
  if (error.code == Errc::authentication_failed || error.code == Errc::parameters_refused ||
      (error.code == Errc::out_of_resources && somebody_answered))
    return note(error, somebody_answered);
  core::log().debug("{}", error.message());
  tcp_error_ = error;
  proxy_refuses_ = proxy_refuses_ || is_refused_by_proxy(error);
  heard_only_closed_ports_ = heard_only_closed_ports_ && is_closed_port(error);
}

void Attempts::try_again_after(const Error& error) {
  note(error, true);
  race_over();
}

void Attempts::race_over() {
  tcp_timer_.cancel();
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
  const bool only_tcp = request_.transport.kind == TransportKind::tcp;
  std::string cause = last_error_ ? last_error_->cause : kNobody;
  if (last_error_ && last_error_->code == Errc::out_of_resources)
    cause = last_error_->message();
  else if (somebody_answered_)
    cause = "somebody answered, but: " + last_error_->message() +
            "; is it a udtcat without --plain that waits for one peer more?";
  const std::string number = request_.addresses.empty() ? "" : std::to_string(request_.addresses.front().port());
  const std::string port = (only_tcp ? " TCP port " : " UDP port ") + number;
  std::string by_tcp = tcp_error_ ? "; by TCP: " + tcp_error_->cause : "";
  if (cause == transport::kPortClosed && tcp_error_ && is_closed_port(*tcp_error_))
    by_tcp = ", nor on that TCP port (connection refused)";
  if (cause == kNobody && !number.empty())
    cause += fmt::format(" at{}: nothing listens there, or a firewall drops {} on the way{}", port,
                         only_tcp         ? "TCP"
                         : by_tcp.empty() ? "UDP"
                                          : "it",
                         by_tcp);
  else if (cause == core::errno_text(EPERM) && !number.empty())
    cause += ": a firewall of this host refuses" + port + by_tcp;
  else if (cause == core::errno_text(EHOSTUNREACH) && !number.empty())
    cause += "; where TCP gets there, a firewall refuses" + port + by_tcp;
  else
    cause += by_tcp;
  return {Errc::cannot_reach, "reach " + request_.peer_name + " for " + std::to_string(waited.count()) + " s", cause};
}

void Attempts::finish() {
  lifetime_.end();
  deadline_.cancel();
  timer_.cancel();
  first_.timer.cancel();
  tcp_.timer.cancel();
  tcp_timer_.cancel();
  resolver_.reset();
}

void Attempts::give_up(const Error& error) {
  finish();
  on_failure_(Error(error));  // a copy: the call may destroy us
}

}  // namespace udtcat::connection
