// SPDX-License-Identifier: Apache-2.0
#include "meet/place_session.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/ip_prefix.hpp"
#include "tool/run/warnings.hpp"

namespace udtcat::meet {

namespace {

/// With one key for all, peers are told apart by their hosts.
PeerLedger::Peer ledger_name(const Connection& connection) {
  const auto identity = connection.peer_identity();
  return identity ? identity->key.to_string() : fmt::format("{:x}", core::host_of(connection.peer()));
}

}  // namespace

PlaceSession::PlaceSession(PlaceState& place, std::unique_ptr<Connection> connection, std::function<void()> on_closed)
    : place_(place),
      connection_(std::move(connection)),
      peer_{*connection_, ledger_name(*connection_), tool::peer_text(*connection_)},
      used_at_(std::chrono::steady_clock::now()) {
  connection_->on_stream([this](StreamId id) {
    if (streams_.size() >= 2 * kMaxOpenStreams) forget_ended();
    streams_.push_back(std::make_unique<ClientStream>(place_, peer_, connection_->accept_stream(id)));
  });
  connection_->on_closed(
      lifetime_.guard([on_closed = std::move(on_closed)](const Status& /*all are alike*/) { on_closed(); }));
}

void PlaceSession::sweep(TimePoint now) {
  forget_ended();
  if (!streams_.empty()) used_at_ = now;
  if (now - used_at_ >= place_.limits.session_idle) connection_->close();
}

void PlaceSession::forget_ended() {
  std::erase_if(streams_, [](const auto& each) { return each->is_over(); });
}

}  // namespace udtcat::meet
