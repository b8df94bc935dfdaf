/// What udtcat can be asked to do, one file each. All run to their end and give the exit status.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/bridges.hpp>
#include <udtcat/peering.hpp>

#include "gridftp/command/gridftp_options.hpp"
#include "rsh/command/rsh_options.hpp"
#include "tool/console.hpp"
#include "tool/exit_status.hpp"
#include "tool/key_source.hpp"
#include "tool/options.hpp"

namespace udtcat::tool {

[[nodiscard]] ExitStatus connect_command(const Options& options, FoundKey key, Console& console);
[[nodiscard]] ExitStatus listen_command(const Options& options, FoundKey key, Console& console);

/// What becomes of the streams of peers, and what of local connections: make_tcp_service(), make_tcp_forward() and their like.
using ServiceMaker = std::function<Result<std::unique_ptr<TcpService>>(
    boost::asio::io_context& io, std::vector<Endpoint> targets, std::string name, TcpService::TroubleHandler)>;
using ForwardMaker = std::function<Result<std::unique_ptr<TcpForward>>(
    boost::asio::io_context& io, Connection&, const std::vector<Endpoint>& locals, TcpForward::TroubleHandler)>;
[[nodiscard]] ExitStatus serve_command(const Options& options, FoundKey key, Console& console,
                                       const ServiceMaker& make_service = make_tcp_service);
[[nodiscard]] ExitStatus forward_command(const Options& options, FoundKey key, Console& console,
                                         const ForwardMaker& make_forward = make_tcp_forward);

[[nodiscard]] ExitStatus plain_command(const Options& options, Console& console);
[[nodiscard]] ExitStatus keygen_command(Console& console);

/// core_limit_bytes   what programs that we start may dump
[[nodiscard]] ExitStatus rsh_command(const RshOptions& options, std::optional<crypto::SecretText> environment_key,
                                     std::uint64_t core_limit_bytes, Console& console);
[[nodiscard]] ExitStatus rsh_daemon_command(const RshDaemonOptions& options, FoundKey key, Console& console);
[[nodiscard]] ExitStatus rsh_server_command(const RshServerOptions& options, std::uint64_t core_limit_bytes,
                                            Console& console);

[[nodiscard]] ExitStatus gridftp_command(const GridftpOptions& options, FoundKey key, Console& console);

/// `arguments` without the program and the words gridftp gateway.  errors: Errc::bad_argument
[[nodiscard]] Result<Options> parse_gateway_options(const std::vector<std::string>& arguments);
[[nodiscard]] ExitStatus gateway_command(const Options& options, FoundKey key, Console& console);

}  // namespace udtcat::tool
