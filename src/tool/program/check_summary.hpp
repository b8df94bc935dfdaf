// SPDX-License-Identifier: Apache-2.0
/// A command line in sentences, for --check. Nothing is opened but files, and nobody is asked.
#pragma once

#include <string>
#include <string_view>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "tool/cli/options.hpp"
#include "tool/identity/credential_lookup.hpp"

namespace udtcat::tool {

/// "tcp 127.0.0.1:5432", "udp port 9000 of every address".
[[nodiscard]] std::string local_address_text(std::string_view protocol, const HostPort& local, AddressFamily family);

/// The key: where it is, and, if that is a file or the environment, that it is one.
/// errors: those of find_credentials()
[[nodiscard]] Result<std::string> key_summary(const Options& options, KeyCandidates candidates);

/// Names, protection, limits and who sees figures: the options that every command has.
/// errors: those of find_own_group()
[[nodiscard]] Result<Words> session_summary(const Options& options);

}  // namespace udtcat::tool
