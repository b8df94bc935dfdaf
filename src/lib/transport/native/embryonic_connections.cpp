// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/embryonic_connections.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/user_text.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::transport::native {

void EmbryonicConnections::add(const OpenRequest& request, std::chrono::milliseconds patience, Handler handler) {
  const TimePoint now = clock_now();
  const std::uint32_t id = request.local_id;
  attempts_.emplace(id, std::make_unique<Attempt>(io_, ActiveOpen(now, request), now + patience, std::move(handler)));
  boost::asio::post(io_, lifetime_.guard([this, id] { run(id); }));
}

void EmbryonicConnections::run(std::uint32_t local_id) {
  const auto found = attempts_.find(local_id);
  if (found == attempts_.end()) return;
  Attempt& attempt = *found->second;
  const TimePoint now = clock_now();
  if (now >= attempt.give_up_at) return fail_with(attempt, attempt.likely_cause);
  if (auto packet = attempt.open.poll_transmit(now)) {
    const auto sent = port_.send(std::move(*packet), attempt.open.request().peer);
    if (sent.state == net::SendState::failed) return fail_with(attempt, core::errno_text(sent.errno_value));
  }
  attempt.timer.expires_at(std::min(attempt.open.deadline(), attempt.give_up_at));
  attempt.timer.async_wait(lifetime_.guard([this, local_id](const boost::system::error_code& error) {
    if (!error) run(local_id);
  }));
}

bool EmbryonicConnections::handle_packet(TimePoint now, std::uint32_t local_id, std::span<const std::byte> packet,
                                         const Endpoint& from) {
  const auto found = attempts_.find(local_id);
  if (found == attempts_.end()) return false;
  Attempt& attempt = *found->second;
  if (from != attempt.open.request().peer) return true;
  attempt.is_answered = true;
  attempt.open.handle(now, packet);
  if (attempt.open.state() == ActiveOpen::State::refused)
    fail_with(attempt, kTurnedAway);
  else if (attempt.open.state() == ActiveOpen::State::done)
    finish(local_id, &port_.connect(now, attempt.open.settings()));
  else
    run(local_id);
  return true;
}

void EmbryonicConnections::handle_path_error(const net::PathError& error) {
  std::vector<Attempt*> refused;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt->open.request().peer != error.peer) continue;
    // Another ICMP error may pass: it is named only if the attempt fails in the end.
    if (error.port_unreachable)
      refused.push_back(attempt.get());
    else
      attempt->likely_cause = core::errno_text(error.errno_value);
  }
  for (const Attempt* const attempt : refused) fail_with(*attempt, kPortClosed);
}

void EmbryonicConnections::handle_check(const Endpoint& from) {
  std::vector<std::uint32_t> checked;
  for (const auto& [id, attempt] : attempts_)
    if (attempt->open.request().peer == from && attempt->open.repeat_once(clock_now())) checked.push_back(id);
  for (const std::uint32_t id : checked) run(id);
}

void EmbryonicConnections::fail_with(const Attempt& attempt, std::string cause) {
  const OpenRequest& request = attempt.open.request();
  finish(request.local_id, fail(Errc::cannot_reach, "connect udp " + request.peer.to_string(), std::move(cause)));
}

void EmbryonicConnections::finish(std::uint32_t local_id, Result<UdtLink*> result) {
  const auto attempt = attempts_.extract(local_id);
  boost::asio::post(io_, lifetime_.guard([handler = std::move(attempt.mapped()->handler), result = std::move(result)] {
    handler(result);
  }));
}

}  // namespace udtcat::transport::native
