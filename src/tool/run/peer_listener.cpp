// SPDX-License-Identifier: Apache-2.0
#include "tool/run/peer_listener.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "tool/run/endpoint_setup.hpp"

namespace udtcat::tool {

Result<std::unique_ptr<PeerListener>> PeerListener::start(SessionRun& run, const Options& options,
                                                          FoundCredentials found, Listener::PeerHandler on_peer) {
  std::optional<Key> announced;
  if (found.generated) announced = found.credentials->shared()->duplicate();
  run.keep_current(found.peers);
  UDTCAT_TRY(ListenRequest request, make_listen_request(options, std::move(found.credentials)));
  std::unique_ptr<PeerListener> made(new PeerListener(run.io(), options.transport.kind));
  UDTCAT_TRY(made->listener_,
             listen(run.io(), std::move(request), std::move(on_peer),
                    [&log = made->refusals_](const Endpoint& peer, const Error& why) { log.add(peer, why); }));
  UDTCAT_CHECK(announce_listener(options, announced, *made->listener_, run.console()));
  return made;
}

std::string PeerListener::addresses() const {
  std::string text;
  for (const Endpoint& local : listener_->local_endpoints())
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ", protocol_, local.to_string());
  return text;
}

void PeerListener::add_to(ProcessSnapshot& snapshot) const {
  snapshot.refused = refusals_.snapshots();
  for (const Endpoint& local : listener_->local_endpoints())
    snapshot.listening.push_back(fmt::format("{} {}", protocol_, local.to_string()));
}

}  // namespace udtcat::tool
