// SPDX-License-Identifier: Apache-2.0
/// Dial and listen requests made of options, and the messages of a listener about its address and key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/credentials.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/peering.hpp>

#include "tool/cli/console.hpp"
#include "tool/cli/options.hpp"

namespace udtcat::tool {

/// Null where the options name none. Blocks while it reads the key.  errors: those of secret_key_from_file()
[[nodiscard]] Result<std::shared_ptr<const MeetingPlace>> meeting_place(const Options& options);
/// The request without addresses and meeting place.
[[nodiscard]] DialRequest dial_request(const Options& options, std::optional<Credentials> credentials);
/// Blocks while the resolver works.  errors: Errc::cannot_resolve
[[nodiscard]] Result<DialRequest> make_dial_request(const Options& options, std::optional<Credentials> credentials);
/// Listens at one address of each family at most.  errors: Errc::cannot_resolve
[[nodiscard]] Result<ListenRequest> make_listen_request(const Options& options, std::optional<Credentials> credentials);
/// The first address of each family.
[[nodiscard]] std::vector<Endpoint> one_per_family(const std::vector<Endpoint>& addresses);

/// Says where a listener can be found; and if nobody has its key yet, the command for the other host and, on the
/// terminal, the key. A ticket has both, and is part of the command.
/// severity   of saying where, unless the system chose the port, which is always said
/// errors: Errc::bad_argument where there is no terminal to show it on
[[nodiscard]] Status announce_listener(const Options& options, const std::optional<Key>& new_key,
                                       const Listener& listener, Console& console, Severity severity = Severity::info);

/// An address under which another host may find one that is bound to `locals`: the bound one unless it is the
/// wildcard, else the first global unicast address among `interfaces` of a family that is bound, else loopback.
[[nodiscard]] std::string advertised_host(const std::vector<Endpoint>& locals, const std::vector<Endpoint>& interfaces);
/// "HOST:PORT" likewise, of this host's interfaces.
[[nodiscard]] std::string advertised_address(const Endpoint& local);

/// The command that a listener which made a key asks its user to run on the other host. It has no key in it: shells
/// remember commands, and journals keep what services print.
/// returns  as "udtcat 192.0.2.1 9000", with the options in which both ends must agree: Options::counterpart, filled in
[[nodiscard]] std::string counterpart_command(const Options& options, const std::string& host, std::uint16_t port);

/// The sentence before counterpart_command(), for a listener with a new key at `locals`. It names the terminal for -k,
/// since any other key that the other host has would be used without a question.
[[nodiscard]] std::string counterpart_hint(const std::vector<Endpoint>& locals);

}  // namespace udtcat::tool
