/// What udtcat can be asked to do, one file each. All run to their end and give the exit status.
#pragma once

#include <cstdint>
#include <optional>

#include <udtcat/peering.hpp>

#include "cli/console.hpp"
#include "cli/exit_status.hpp"
#include "cli/gridftp_options.hpp"
#include "cli/key_source.hpp"
#include "cli/options.hpp"
#include "cli/rsh_options.hpp"

namespace udtcat::cli {

[[nodiscard]] ExitStatus connect_command(const Options& options, FoundKey key, Console& console);
[[nodiscard]] ExitStatus listen_command(const Options& options, FoundKey key, Console& console);
[[nodiscard]] ExitStatus serve_command(const Options& options, FoundKey key, Console& console);
[[nodiscard]] ExitStatus forward_command(const Options& options, FoundKey key, Console& console);
[[nodiscard]] ExitStatus plain_command(const Options& options, Console& console);
[[nodiscard]] ExitStatus keygen_command(Console& console);

/// core_limit_bytes   what programs that we start may dump
[[nodiscard]] ExitStatus rsh_command(const RshOptions& options, std::optional<crypto::SecretText> environment_key,
                                     std::uint64_t core_limit_bytes, Console& console);
[[nodiscard]] ExitStatus rsh_daemon_command(const RshDaemonOptions& options, FoundKey key, Console& console);
[[nodiscard]] ExitStatus rsh_server_command(const RshServerOptions& options, std::uint64_t core_limit_bytes,
                                            Console& console);

[[nodiscard]] ExitStatus gridftp_command(const GridftpOptions& options, Console& console);

}  // namespace udtcat::cli
