// SPDX-License-Identifier: Apache-2.0
/// Whether the options ask for a key pair, which one, and for which peers.
#pragma once

#include <udtcat/key_pair.hpp>
#include <udtcat/result.hpp>

#include "tool/cli/options.hpp"
#include "tool/identity/credential_lookup.hpp"

namespace udtcat::tool {

/// An option that was written and needs a key pair; null: there is none.
[[nodiscard]] const char* pair_option(const Options& options);

/// Whether an option asks for a key pair, or the peers file has a line of the listener that a connector dials.
/// errors: Errc::bad_argument for a peers file that cannot be used
[[nodiscard]] Result<bool> asks_for_pair(const Options& options);

/// "FILE has no line NAME", where a connector's --peer is a name that the peers file lacks; else empty.
[[nodiscard]] std::string unlisted_peer(const Options& options);

/// The user's own key pair, in his configuration directory.
/// errors: Errc::bad_argument, saying how to make one; those of KeyPair::from_file()
[[nodiscard]] Result<KeyPair> user_key_pair();

/// The pair with the peers that the options name.
/// errors: Errc::bad_argument: a listener without a peers file, a connector without its listener's key
[[nodiscard]] Result<FoundCredentials> with_peers(const Options& options, KeyPair own);

}  // namespace udtcat::tool
