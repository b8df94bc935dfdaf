// SPDX-License-Identifier: Apache-2.0
#include "forward/peer_log.hpp"

#include <utility>

#include <fmt/format.h>

#include "tool/run/transfer_event.hpp"
#include "tool/run/warnings.hpp"
#include "tool/status/stats_text.hpp"

namespace udtcat::forward {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kAtOnce = 4;  // guess: one that is started anew while somebody sets it up

std::string name_of(const Connection& connection) {
  const auto identity = connection.peer_identity();
  return identity ? identity->name : connection.peer().host_to_string();
}

bool is_ordinary(const Status& how) {
  return how || how.error().code == Errc::peer_interrupted || how.error().code == Errc::interrupted;
}

}  // namespace

PeerLog::PeerLog(boost::asio::io_context& io) : log_(io, kAtOnce) {}

void PeerLog::on_come(const Connection& connection) {
  PresentPeer& present = present_[name_of(connection)];
  if (present.sessions++ > 0) return;
  present.since = Clock::now();
  tool::LogEvent event = tool::peer_event(tool::EventKind::peer_up, connection);
  event.message = tool::peer_text(connection) + ": connected";
  log_.report("up " + name_of(connection), event);
}

void PeerLog::on_gone(Connection& connection, const Status& how) {
  const auto entry = present_.find(name_of(connection));
  if (entry == present_.end()) return;
  PresentPeer& present = entry->second;
  present.past = sum(present.past, connection.stats());
  const bool ordinary = is_ordinary(how);
  const std::string why = ordinary ? "" : ": " + how.error().message();
  const tool::Severity severity = ordinary ? tool::Severity::notice : tool::Severity::warning;
  if (--present.sessions > 0) {
    if (ordinary) return;
    tool::LogEvent lost = tool::peer_event(tool::EventKind::session_lost, connection);
    lost.severity = severity;
    lost.message = tool::peer_text(connection) + ": one of its sessions is over" + why;
    lost.result = how.error().message();
    return log_.report("lost " + name_of(connection), lost);
  }
  const PresentPeer gone = present;
  present_.erase(entry);
  tool::LogEvent event = tool::peer_event(tool::EventKind::peer_gone, connection);
  event.severity = severity;
  event.duration = Clock::now() - gone.since;
  event.result = how ? tool::kComplete : how.error().message();
  tool::add_bytes(event, gone.past);
  event.message = fmt::format("{}: disconnected after {}, {}{}", tool::peer_text(connection),
                              tool::clock_text(*event.duration), tool::payload_text(gone.past), why);
  log_.report("gone " + name_of(connection), event);
}

}  // namespace udtcat::forward
