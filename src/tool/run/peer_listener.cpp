// SPDX-License-Identifier: Apache-2.0
#include "tool/run/peer_listener.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/run/endpoint_setup.hpp"

namespace udtcat::tool {

Result<std::unique_ptr<PeerListener>> PeerListener::start(SessionRun& run, const Options& options,
                                                          FoundCredentials found, Listener::PeerHandler on_peer,
                                                          Severity severity) {
  std::optional<Key> announced;
  if (found.generated) announced = found.credentials->shared()->duplicate();
  run.keep_current(found.peers);
  UDTCAT_TRY(ListenRequest request, make_listen_request(options, std::move(found.credentials)));
  std::unique_ptr<PeerListener> made(new PeerListener(run.io(), options.transport.kind));
  UDTCAT_TRY(made->listener_,
             listen(run.io(), std::move(request), std::move(on_peer),
                    [&log = made->refusals_](const Endpoint& peer, const Error& why) { log.add(peer, why); }));
  if (const auto without_tcp = made->listener_->tcp_failure())
    core::log().warn("{}; peers come by UDP only, which some networks drop (--no-tcp: do not try)",
                     without_tcp->message());
  UDTCAT_CHECK(announce_listener(options, announced, *made->listener_, run.console(), severity));
  return made;
}

std::vector<std::string> PeerListener::names() const {
  std::vector<std::string> names;
  for (const Endpoint& local : listener_->local_endpoints())
    names.push_back(fmt::format("{} {}", protocol_, local.to_string()));
  for (const Endpoint& local : listener_->tcp_endpoints()) names.push_back("tcp " + local.to_string());
  return names;
}

std::string PeerListener::addresses() const {
  std::string text;
  for (const std::string& name : names()) text += (text.empty() ? "" : " and ") + name;
  return text;
}

void PeerListener::add_to(ProcessSnapshot& snapshot) const {
  snapshot.refused = refusals_.snapshots();
  for (std::string& name : names()) snapshot.listening.push_back(std::move(name));
}

}  // namespace udtcat::tool
