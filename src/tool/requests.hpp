/// From options to what the library is asked: addresses, requests, and the words that go with a listener.
#pragma once

#include <udtcat/peering.hpp>

#include "tool/console.hpp"
#include "tool/key_source.hpp"
#include "tool/notices.hpp"
#include "tool/options.hpp"

namespace udtcat::tool {

/// Blocks while the resolver works.  errors: Errc::cannot_resolve
[[nodiscard]] Result<DialRequest> make_dial_request(const Options& options, std::optional<Key> key);
/// At most one address of each family.  errors: Errc::cannot_resolve
[[nodiscard]] Result<ListenRequest> make_listen_request(const Options& options, std::optional<Key> key);
/// As a listener wants them: the first of each family.
[[nodiscard]] std::vector<Endpoint> one_per_family(const std::vector<Endpoint>& addresses);

/// Listens as the options ask, says where, and logs who is turned away. `refusals` must outlive the listener.
/// errors: those of make_listen_request(), listen() and announce_listener()
[[nodiscard]] Result<std::unique_ptr<Listener>> start_listener(boost::asio::io_context& io, const Options& options,
                                                               FoundKey found, RefusalLog& refusals, Console& console,
                                                               Listener::PeerHandler on_peer);

/// Says where a listener can be found; and if nobody has its key yet, the command for the other host and, on the
/// terminal, the key.
/// errors: Errc::bad_argument where there is no terminal to show it on
[[nodiscard]] Status announce_listener(const Options& options, const std::optional<Key>& new_key,
                                       const Listener& listener, Console& console);

}  // namespace udtcat::tool
