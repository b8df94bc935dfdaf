#include "tool/requests.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "tool/invitation.hpp"
#include "tool/terminal_prompt.hpp"

namespace udtcat::tool {

std::vector<Endpoint> one_per_family(const std::vector<Endpoint>& addresses) {
  std::vector<Endpoint> chosen;
  for (const Endpoint& address : addresses) {
    const bool known = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const Endpoint& other) { return other.family() == address.family(); });
    if (!known) chosen.push_back(address);
  }
  return chosen;
}

Result<DialRequest> make_dial_request(const Options& options, std::optional<Key> key) {
  auto addresses = resolve(options.peer, options.family);
  if (!addresses) return tl::unexpected(std::move(addresses.error()));
  return DialRequest{.addresses = std::move(*addresses),
                     .peer_name = to_string(options.peer),
                     .timeout = options.connect_timeout,
                     .closed_port_patience = options.closed_port_patience,
                     .key = std::move(key),
                     .session = options.session,
                     .transport = options.transport};
}

Result<ListenRequest> make_listen_request(const Options& options, std::optional<Key> key) {
  const auto addresses = resolve(options.local, options.family);
  if (!addresses) return tl::unexpected(addresses.error());
  return ListenRequest{.locals = one_per_family(*addresses),
                       .key = std::move(key),
                       .session = options.session,
                       .transport = options.transport};
}

Result<std::unique_ptr<Listener>> start_listener(boost::asio::io_context& io, const Options& options, FoundKey found,
                                                 RefusalLog& refusals, Console& console,
                                                 Listener::PeerHandler on_peer) {
  std::optional<Key> announced;
  if (found.generated) announced = found.key->duplicate();
  auto request = make_listen_request(options, std::move(found.key));
  if (!request) return tl::unexpected(std::move(request.error()));
  auto listener = listen(io, std::move(*request), std::move(on_peer),
                         [&refusals](const Endpoint& peer, const Error& why) { refusals.add(peer, why); });
  if (!listener) return listener;
  if (auto announcing = announce_listener(options, announced, **listener, console); !announcing)
    return tl::unexpected(std::move(announcing.error()));
  return listener;
}

Status announce_listener(const Options& options, const std::optional<Key>& new_key, const Listener& listener,
                         Console& console) {
  const auto locals = listener.local_endpoints();
  std::string where;
  for (const Endpoint& local : locals) where += (where.empty() ? "" : " and ") + local.to_string();
  const std::string listening = "listening on " + where;
  if (!new_key) {
    // A port that the system chose is known to nobody else.
    if (options.local.port == 0)
      console.line("udtcat: " + listening);
    else
      core::log().info("{}", listening);
    return {};
  }
  // Without a terminal there will be no listener, and nothing to invite anybody to.
  const core::SecretText text(new_key->reveal_text());
  if (auto shown = show_on_terminal("Key, shown only here: ", text); !shown) return shown;
  console.line(fmt::format("udtcat: {}; run on the other host, where it asks for the key:", listening));
  const std::uint16_t port = locals.empty() ? options.local.port : locals.front().port();
  console.line(invitation(options, advertised_host(locals, interface_addresses()), port));
  return {};
}

}  // namespace udtcat::tool
