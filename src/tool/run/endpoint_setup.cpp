// SPDX-License-Identifier: Apache-2.0
#include "tool/run/endpoint_setup.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <udtcat/ticket.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/net/interface_addresses.hpp"
#include "tool/cli/proxy_choice.hpp"
#include "tool/cli/shell_words.hpp"
#include "tool/cli/terminal_prompt.hpp"
#include "tool/identity/credential_lookup.hpp"

namespace udtcat::tool {

namespace {

/// The names as options of the other end: our --as is its --peer.
std::string names_text(const SessionOptions& session) {
  std::string text;
  if (!session.expected_peer.empty()) text += " --as " + quoted(session.expected_peer);
  if (!session.own_name.empty()) text += " --peer " + quoted(session.own_name);
  return text;
}

/// The place proves nothing that anybody depends on (docs/spec/meet.md §1): whatever key it has, it will do.
class AnyPlace final : public KnownPeers {
 public:
  [[nodiscard]] Result<std::string> recognise(const PublicKey& /*key*/,
                                              std::string_view /*application*/) const override {
    return "the meeting place";
  }
};

Result<Credentials> credentials_of_place(const std::string& path) {
  UDTCAT_TRY(SecretKey secret, secret_key_from_file(path));
  if (auto* const pair = std::get_if<KeyPair>(&secret))
    return PairCredentials{std::make_shared<const KeyPair>(std::move(*pair)), std::make_shared<AnyPlace>()};
  return Credentials(std::get<Key>(std::move(secret)));
}

}  // namespace

Result<std::shared_ptr<const MeetingPlace>> meeting_place(const Options& options) {
  if (!options.via) return nullptr;
  auto place = std::make_shared<MeetingPlace>();
  place->at = *options.via;
  place->family = options.family;
  place->stun = options.stun;
  place->of_ticket = options.ticket.key != nullptr;
  if (options.via_key_file) {
    UDTCAT_TRY(place->credentials, credentials_of_place(*options.via_key_file));
  }
  return place;
}

std::vector<Endpoint> one_per_family(const std::vector<Endpoint>& addresses) {
  std::vector<Endpoint> chosen;
  for (const Endpoint& address : addresses) {
    const bool known = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const Endpoint& other) { return other.family() == address.family(); });
    if (!known) chosen.push_back(address);
  }
  return chosen;
}

DialRequest dial_request(const Options& options, std::optional<Credentials> credentials) {
  SessionOptions session = options.session;
  if (credentials && credentials->pair() != nullptr)
    session.expected_peer.clear();  // a name of ours, which the peer need not know
  return {.addresses = {},
          .name = options.peer,
          .family = options.family,
          .peer_name = to_string(options.peer),
          .timeout = options.connect_timeout,
          .closed_port_patience = options.closed_port_patience,
          .credentials = std::move(credentials),
          .session = std::move(session),
          .transport = options.transport};
}

Result<DialRequest> make_dial_request(const Options& options, std::optional<Credentials> credentials) {
  DialRequest request = dial_request(options, std::move(credentials));
  UDTCAT_TRY(request.via, meeting_place(options));
  if (request.via) return request;
  auto found = resolve(options.peer, options.family);
  if (!found && !is_found_by_proxy(options, options.peer.host)) return tl::unexpected(found.error());
  if (found) request.addresses = std::move(*found);
  return request;
}

Result<ListenRequest> make_listen_request(const Options& options, std::optional<Credentials> credentials) {
  UDTCAT_TRY(const auto addresses, resolve(options.local, options.family));
  ListenRequest request{.locals = one_per_family(addresses),
                        .credentials = std::move(credentials),
                        .session = options.session,
                        .transport = options.transport,
                        .limits = options.limits,
                        .further = options.further};
  UDTCAT_TRY(request.via, meeting_place(options));
  if (options.transport.single_use) request.limits.peers = request.limits.sessions_per_peer = 1;
  return request;
}

std::string advertised_host(const std::vector<Endpoint>& locals, const std::vector<Endpoint>& interfaces) {
  for (const Endpoint& local : locals)
    if (!local.is_wildcard()) return local.host_to_string();
  const auto bound = [&](AddressFamily family) {
    return std::any_of(locals.begin(), locals.end(), [&](const Endpoint& local) { return local.family() == family; });
  };
  for (const Endpoint& address : interfaces)
    if (net::is_global_unicast(address) && bound(address.family())) return address.host_to_string();
  return bound(AddressFamily::ipv4) ? "127.0.0.1" : "::1";
}

std::string advertised_address(const Endpoint& local) {
  return to_string(HostPort{advertised_host({local}, net::interface_addresses()), local.port()});
}

namespace {

/// The options in which both ends must agree.
std::string agreed_options(const Options& options) {
  const SessionOptions& session = options.session;
  std::string agreed = names_text(session);
  if (session.protection != Protection::private_) agreed += fmt::format(" --protect {}", to_string(session.protection));
  if (session.cipher) agreed += fmt::format(" --cipher {}", to_string(*session.cipher));
  if (!session.sends) agreed += " --send-only";
  if (!session.receives) agreed += " --recv-only";
  if (options.via_key_file) agreed += " --via-key FILE";
  return agreed;
}

/// The only place of the key is the command: it is not asked for.
void announce_ticket(const Options& options, Key key, Console& console) {
  const Ticket ticket{*options.via, std::move(key)};
  const std::string file =
      options.via_key_file ? fmt::format("; FILE there has the key of {}", to_string(*options.via)) : "";
  console.line(
      fmt::format("udtcat: a ticket, good for one transfer and for whoever is first; run on the other host{}:", file));
  const core::SecretText command(fmt::format(fmt::runtime(options.counterpart),
                                             fmt::arg("ticket", ticket.reveal_text()),
                                             fmt::arg("options", agreed_options(options))));
  console.line(command.view());
}

}  // namespace

std::string counterpart_command(const Options& options, const std::string& host, std::uint16_t port) {
  return fmt::format(fmt::runtime(options.counterpart), fmt::arg("host", host), fmt::arg("port", port),
                     fmt::arg("names", names_text(options.session)), fmt::arg("options", agreed_options(options)));
}

std::string counterpart_hint(const std::vector<Endpoint>& locals) {
  const bool is_local = std::ranges::all_of(locals, &Endpoint::is_loopback);
  return fmt::format("run on {}, where it asks for the key (-k {}: even if it finds another):",
                     is_local ? "this host, as no other reaches it" : "the other host", kTerminal);
}

Status announce_listener(const Options& options, const std::optional<Key>& new_key, const Listener& listener,
                         Console& console, Severity severity) {
  const auto locals = listener.local_endpoints();
  std::string where;
  for (const Endpoint& local : locals) where += (where.empty() ? "" : " and ") + local.to_string();
  const std::string listening =
      "listening on " + where + (options.via ? ", for whoever asks at " + to_string(*options.via) : "");
  if (!new_key) {
    LogEvent event{.kind = EventKind::listening, .message = listening, .address = where};
    // The user cannot know a port that the system chose.
    if (options.local.port == 0) {
      console.event(event);
    } else {
      event.severity = severity;
      log_event(event);
    }
    return {};
  }
  if (options.ticket.made) {
    announce_ticket(options, new_key->duplicate(), console);
    return {};
  }
  // First: without a terminal to show the key on there is no listener.
  const core::SecretText text(new_key->reveal_text());
  UDTCAT_CHECK(show_on_terminal("Key, shown only here: ", text));
  console.line(fmt::format("udtcat: {}; {}", listening, counterpart_hint(locals)));
  const std::uint16_t port = locals.empty() ? options.local.port : locals.front().port();
  console.line(counterpart_command(options, advertised_host(locals, net::interface_addresses()), port));
  return {};
}

}  // namespace udtcat::tool
