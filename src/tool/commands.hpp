/// The commands of this wing, and those of their parts that other wings use.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <udtcat/bridges.hpp>
#include <udtcat/peering.hpp>

#include "tool/command.hpp"
#include "tool/pipe_options.hpp"

namespace udtcat::tool {

/// The forms of udtcat without a command's word.
[[nodiscard]] Commands commands();

[[nodiscard]] ExitStatus connect_command(const PipeOptions& options, FoundKey key, Console& console);
[[nodiscard]] ExitStatus listen_command(const PipeOptions& options, FoundKey key, Console& console);

/// Make what takes the streams of peers, as make_tcp_service(), or local connections, as make_tcp_forward().
using ServiceMaker = std::function<Result<std::unique_ptr<TcpService>>(
    boost::asio::io_context& io, std::vector<Endpoint> targets, std::string name, TcpService::TroubleHandler)>;
using ForwardMaker = std::function<Result<std::unique_ptr<TcpForward>>(
    boost::asio::io_context& io, Connection&, const std::vector<Endpoint>& locals, TcpForward::TroubleHandler)>;
[[nodiscard]] ExitStatus serve_command(const PipeOptions& options, FoundKey key, Console& console,
                                       const ServiceMaker& make_service = make_tcp_service);
[[nodiscard]] ExitStatus forward_command(const PipeOptions& options, FoundKey key, Console& console,
                                         const ForwardMaker& make_forward = make_tcp_forward);

[[nodiscard]] ExitStatus plain_command(const PipeOptions& options, Console& console);

/// Warns of a protection level that leaves something open.
void warn_of_protection(const Options& options, Console& console);

}  // namespace udtcat::tool
