// SPDX-License-Identifier: Apache-2.0
/// The far end of a bench, started by ssh.
#pragma once

#include "ssh/far_server.hpp"
#include "tool/cli/console.hpp"
#include "tool/cli/exit_status.hpp"

namespace udtcat::bench {

/// Serves the bench of the peer that asks first, until it has ended.
[[nodiscard]] tool::ExitStatus serve_far_bench(const ssh::FarOptions& options, tool::Console& console);

}  // namespace udtcat::bench
