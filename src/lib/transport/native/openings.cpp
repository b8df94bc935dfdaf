// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/openings.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/user_text.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::transport::native {

void Openings::add(const OpenRequest& request, std::chrono::milliseconds patience, Handler handler) {
  const TimePoint now = clock_now();
  const std::uint32_t id = request.local_id;
  openings_.emplace(id, std::make_unique<Opening>(io_, ActiveOpen(now, request), now + patience, std::move(handler)));
  boost::asio::post(io_, lifetime_.guard([this, id] { run(id); }));
}

void Openings::run(std::uint32_t local_id) {
  const auto found = openings_.find(local_id);
  if (found == openings_.end()) return;
  Opening& opening = *found->second;
  const TimePoint now = clock_now();
  if (now >= opening.give_up_at) return fail_with(opening, opening.likely_cause);
  if (auto packet = opening.open.poll_transmit(now)) {
    const auto sent = port_.send(std::move(*packet), opening.open.request().peer);
    if (sent.state == net::SendState::failed) return fail_with(opening, core::errno_text(sent.errno_value));
  }
  opening.timer.expires_at(std::min(opening.open.deadline(), opening.give_up_at));
  opening.timer.async_wait(lifetime_.guard([this, local_id](const boost::system::error_code& error) {
    if (!error) run(local_id);
  }));
}

bool Openings::handle_packet(TimePoint now, std::uint32_t local_id, std::span<const std::byte> packet,
                             const Endpoint& from) {
  const auto found = openings_.find(local_id);
  if (found == openings_.end()) return false;
  Opening& opening = *found->second;
  if (from != opening.open.request().peer) return true;
  opening.open.handle(now, packet);
  if (opening.open.state() == ActiveOpen::State::refused)
    fail_with(opening, kTurnedAway);
  else if (opening.open.state() == ActiveOpen::State::done)
    finish(local_id, &port_.connect(now, opening.open.settings()));
  else
    run(local_id);
  return true;
}

void Openings::handle_path_error(const net::PathError& error) {
  std::vector<Opening*> refused;
  for (const auto& [id, opening] : openings_) {
    if (opening->open.request().peer != error.peer) continue;
    // An error of the path may pass: it counts only where nothing better is known in the end.
    if (error.port_unreachable)
      refused.push_back(opening.get());
    else
      opening->likely_cause = core::errno_text(error.errno_value);
  }
  for (const Opening* const opening : refused) fail_with(*opening, kPortClosed);
}

void Openings::fail_with(const Opening& opening, std::string cause) {
  const OpenRequest& request = opening.open.request();
  finish(request.local_id, fail(Errc::cannot_reach, "connect udp " + request.peer.to_string(), std::move(cause)));
}

void Openings::finish(std::uint32_t local_id, Result<UdtLink*> result) {
  const auto opening = openings_.extract(local_id);
  boost::asio::post(io_, lifetime_.guard([handler = std::move(opening.mapped()->handler), result = std::move(result)] {
    handler(result);
  }));
}

}  // namespace udtcat::transport::native
