#include "lib/connection/awaited_sessions.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace udtcat::connection {

namespace {

tl::unexpected<Error> refused(const char* why) { return fail(Errc::authentication_failed, "join a session", why); }

}  // namespace

AwaitedSessions::AwaitedSessions(boost::asio::io_context& io, CompleteHandler on_complete, LateHandler on_late)
    : io_(io), on_complete_(std::move(on_complete)), on_late_(std::move(on_late)) {}

Status AwaitedSessions::add(std::unique_ptr<session::Session> session) {
  if (awaited_.size() >= kMaxAwaitedSessions)
    return fail(Errc::out_of_resources, "wait for the flows of " + session->peer().to_string(),
                "too many sessions wait for theirs");
  const Place place = awaited_.emplace(awaited_.end(), io_);
  place->session = std::move(session);
  arm(place);
  return {};
}

void AwaitedSessions::arm(Place place) {
  place->deadline.expires_after(kAwaitedFlowsDeadline);
  // Of a place that is gone the wait is cancelled, or about to be called with its lifetime over: the session is asked for by name.
  place->deadline.async_wait(lifetime_.guard([this, session = place->session.get()](const auto& cancelled) {
    if (cancelled) return;
    const auto late = std::find_if(awaited_.begin(), awaited_.end(),
                                   [&](const Awaited& awaited) { return awaited.session.get() == session; });
    if (late == awaited_.end()) return;
    const Endpoint peer = session->peer();
    const std::string there = std::to_string(1 + late->joined.count());
    const std::string agreed = std::to_string(session->agreed().flows);
    awaited_.erase(late);
    on_late_(peer, {Errc::cannot_reach, "wait for the flows of " + peer.to_string(),
                    "only " + there + " of " + agreed + " came in time"});
  }));
}

Status AwaitedSessions::join(const session::Join& join, std::unique_ptr<transport::Channel> channel) {
  const auto meant = std::find_if(awaited_.begin(), awaited_.end(), [&](const Awaited& awaited) {
    return awaited.session->join_key()->is_meant_by(join);
  });
  if (meant == awaited_.end()) return refused("no such session waits for flows");
  if (auto taken = take_in(*meant, join, *channel); !taken) return taken;
  meant->session->add_flow(std::move(channel));
  if (meant->session->join_key() != nullptr) return {};
  auto complete = std::move(meant->session);
  awaited_.erase(meant);
  on_complete_(std::move(complete));
  return {};
}

Status AwaitedSessions::take_in(Awaited& awaited, const session::Join& join, transport::Channel& channel) {
  const session::JoinKey& key = *awaited.session->join_key();
  if (auto proved = key.check(join); !proved) return proved;
  if (join.flow >= awaited.session->agreed().flows) return refused("so many flows were not agreed on");
  if (awaited.joined.test(join.flow)) return refused("that flow is there already");
  const auto joined = key.joined(join.flow);
  if (!joined) return tl::unexpected(joined.error());
  awaited.joined.set(join.flow);
  // A write that fails shows when the session reads.
  channel.async_write(core::SharedBytes::adopt(encode(*joined)), [](const Status&) {});
  return {};
}

}  // namespace udtcat::connection
