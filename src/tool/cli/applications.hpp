// SPDX-License-Identifier: Apache-2.0
/// The applications of our commands' sessions (SessionOptions::application), by which a key may serve several.
#pragma once

#include <string_view>

#include <udtcat/options.hpp>

namespace udtcat::tool {

// spec: docs/spec/handshake.md §4
inline constexpr const char* kPipe = "pipe";        // one stream, each end's stdin and stdout
inline constexpr const char* kForward = "forward";  // local connections to services of either end
inline constexpr const char* kRsh = "rsh";          // remote commands
inline constexpr const char* kGridftp = "gridftp";  // control connections of GridFTP
inline constexpr const char* kGateway = "gateway";  // control and data connections of GridFTP, between two gateways
inline constexpr const char* kDriver = "driver";    // data connections of GridFTP, ours and the XIO driver's
inline constexpr const char* kBench = "bench";      // nothing but to measure the path and the two ends
inline constexpr const char* kTrees = "trees";      // files and directories
inline constexpr const char* kMeet = "meet";        // registrations and asks, of a meeting place

/// SessionOptions::commands_of.
[[nodiscard]] ApplicationCommands commands_of(std::string_view application);

}  // namespace udtcat::tool
