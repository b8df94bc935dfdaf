// SPDX-License-Identifier: Apache-2.0
#include "forward/peer_log.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "tool/run/warnings.hpp"
#include "tool/status/stats_text.hpp"

namespace udtcat::forward {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Errc kOrdinary = Errc::peer_interrupted;  // the code of an event that is no error
constexpr std::size_t kAtOnce = 4;                  // guess: whoever is started anew while somebody sets it up

std::string name_of(const Connection& connection) {
  const auto identity = connection.peer_identity();
  return identity ? identity->name : connection.peer().host_to_string();
}

/// Kind of event: the peer without port, and come or gone.
std::string kind_of_event(const Error& event) {
  return event.what.substr(0, event.what.rfind(':')) + event.cause.substr(0, event.cause.find(' '));
}

bool is_ordinary(const Status& how) {
  return how || how.error().code == Errc::peer_interrupted || how.error().code == Errc::interrupted;
}

}  // namespace

PeerLog::PeerLog(boost::asio::io_context& io, LineHandler say)
    : log_(
          io,
          [say = std::move(say)](const Endpoint&, const Error& event) {
            if (event.code == kOrdinary) return say(event.message());
            core::log().warn("{}", event.message());
          },
          kind_of_event, kAtOnce) {}

void PeerLog::on_come(const Connection& connection) {
  PresentPeer& present = present_[name_of(connection)];
  if (present.sessions++ > 0) return;
  present.since = Clock::now();
  tell(connection, kOrdinary, "connected");
}

void PeerLog::on_gone(Connection& connection, const Status& how) {
  const auto entry = present_.find(name_of(connection));
  if (entry == present_.end()) return;
  PresentPeer& present = entry->second;
  present.past = sum(present.past, connection.stats());
  const bool ordinary = is_ordinary(how);
  const std::string why = ordinary ? "" : ": " + how.error().message();
  const Errc code = ordinary ? kOrdinary : how.error().code;
  if (--present.sessions > 0) {
    if (!ordinary) tell(connection, code, "one of its sessions is over" + why);
    return;
  }
  const PresentPeer gone = present;
  present_.erase(entry);
  tell(connection, code,
       fmt::format("disconnected after {}, {}{}", tool::clock_text(Clock::now() - gone.since),
                   tool::payload_text(gone.past), why));
}

void PeerLog::tell(const Connection& connection, Errc code, std::string what) {
  log_.report(connection.peer(), {code, tool::peer_text(connection), std::move(what)});
}

}  // namespace udtcat::forward
