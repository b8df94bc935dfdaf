// SPDX-License-Identifier: Apache-2.0
/// Shared by the commands of trees: their words about a transfer, while it runs and at its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "tool/cli/console.hpp"
#include "tool/run/session_run.hpp"
#include "tool/status/progress.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/counters.hpp"

namespace udtcat::trees {

/// Counters that tell of missing names, the first of them by name, each in a line of printable text.
/// tell   is called by the threads of the transfer
[[nodiscard]] std::unique_ptr<TransferCounters> make_counters(std::function<void(const std::string& line)> tell);
/// The same, to the user.
[[nodiscard]] std::unique_ptr<TransferCounters> make_counters(tool::Console& console);

/// The result of a transfer's thread, or that names are missing.
/// outcome   of its stream; none: there is none
[[nodiscard]] Status result_of(const Status& worked, const std::optional<StreamOutcome>& outcome,
                               const TransferCounters& counters);

/// "20000 files, 80.0 MB, of which 12.0 MB went over the path".
[[nodiscard]] std::string sentence_of(const TransferCounters& counters);

/// The part of that behind the number of bytes; empty where all went over the path.
[[nodiscard]] std::string particulars_of(const TransferCounters& counters);

/// The options of a transfer, with the user's home and hash caches.
[[nodiscard]] TransferOptions transfer_options_of(const TreeOptions& options);

/// The role of an end that has dialled the other, or had ssh start it.  `options` outlive it.
[[nodiscard]] TransferRole connector_role(const TreeOptions& options);
/// Ends the run with that, in words where somebody wants them.
void finish_run(tool::SessionRun& run, const TreeOptions& options, const Status& result,
                const TransferCounters& counters);

/// Progress, by the counters.
[[nodiscard]] std::optional<tool::Amount> amount_of(TransferCounters& counters);

}  // namespace udtcat::trees
