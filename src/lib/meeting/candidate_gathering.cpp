// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/candidate_gathering.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/log.hpp"
#include "lib/net/interface_addresses.hpp"

namespace udtcat::meeting {

namespace {

constexpr std::chrono::seconds kGatheringPatience{1};  // guess: without it an end may still be reached by its host's
constexpr std::size_t kMaxServerReflexive = 3;         // guess: one of each family, and another server's

}  // namespace

CandidateGathering::CandidateGathering(boost::asio::io_context& io, BindingClient& client, std::vector<Endpoint> locals,
                                       std::vector<HostPort> stun)
    : client_(client),
      locals_(std::move(locals)),
      stun_(std::move(stun)),
      resolver_(io, AddressFamily::any),
      timer_(io) {}

void CandidateGathering::gather(const std::optional<Endpoint>& place, Handler handler) {
  asking_.end();
  mapped_.clear();
  handler_ = std::move(handler);
  place_answers_ = false;
  waiting_for_ = (place ? 1 : 0) + stun_.size();
  timer_.expires_after(waiting_for_ > 0 ? kGatheringPatience : std::chrono::seconds(0));
  timer_.async_wait(asking_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) finish();
  }));
  if (place) ask(*place, true);
  for (const HostPort& each : stun_)
    resolver_.look_up(each, asking_.guard([this](const Result<std::vector<Endpoint>>& found) {
      if (!found) core::log().warn("{}", found.error().message());
      if (!found) return answered();
      const auto usable = std::ranges::find_if(*found, [this](const Endpoint& server) {
        return std::ranges::find(locals_, server.family(), &Endpoint::family) != locals_.end();
      });
      if (usable == found->end()) return answered();
      ask(*usable, false);
    }));
}

void CandidateGathering::ask(const Endpoint& server, bool is_place) {
  client_.ask(server, std::nullopt, asking_.guard([this, server, is_place](const std::optional<Endpoint>& mapped) {
    // A server that lies would have the other end send to hosts of its own.
    if (mapped && (net::is_global_unicast(*mapped) || server.is_loopback())) mapped_.push_back(*mapped);
    if (is_place) place_answers_ = mapped.has_value();
    answered();
  }));
}

void CandidateGathering::answered() {
  if (--waiting_for_ == 0) finish();
}

void CandidateGathering::finish() {
  asking_.end();
  timer_.cancel();
  is_place_reached_ = place_answers_;
  std::vector<Candidate> seen;
  for (const Endpoint& each : mapped_)
    if (seen.size() < kMaxServerReflexive) seen.push_back({Candidate::Kind::server_reflexive, each});
  std::vector<Candidate> candidates;
  for (const Endpoint& each : net::interface_addresses()) {
    const auto local = std::ranges::find_if(locals_, [&](const Endpoint& it) {
      return it.family() == each.family() && (it.is_wildcard() || it.with_port(0) == each.with_port(0));
    });
    if (local == locals_.end() || !net::is_global_unicast(each)) continue;
    if (candidates.size() + seen.size() == Candidate::kMaxCount) break;
    candidates.push_back({Candidate::Kind::host, each.with_port(local->port())});
  }
  for (const Candidate& each : seen)
    if (std::ranges::find(candidates, each.address, &Candidate::address) == candidates.end())
      candidates.push_back(each);
  std::exchange(handler_, nullptr)(std::move(candidates));
}

}  // namespace udtcat::meeting
