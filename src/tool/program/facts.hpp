// SPDX-License-Identifier: Apache-2.0
/// A command line in sentences, for --check. Nothing is opened but files, and nobody is asked.
#pragma once

#include <string>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "tool/cli/options.hpp"
#include "tool/identity/key_source.hpp"

namespace udtcat::tool {

/// "tcp 127.0.0.1:5432", "udp port 9000 of every address".
[[nodiscard]] std::string place_text(const char* protocol, const HostPort& local, AddressFamily family);

/// The key: where it is, and, if that is a file or the environment, that it is one.
/// errors: those of find_credentials()
[[nodiscard]] Result<std::string> key_fact(const Options& options, KeysAtHand at_hand);

/// Names, protection and limits: the options that every command has.
[[nodiscard]] Words session_facts(const Options& options);

}  // namespace udtcat::tool
