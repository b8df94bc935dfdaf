// SPDX-License-Identifier: Apache-2.0
/// Shared by the commands of trees: their words about a transfer, while it runs and at its end.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "tool/cli/console.hpp"
#include "tool/run/session_run.hpp"
#include "tool/status/progress.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/tally.hpp"

namespace udtcat::trees {

/// A tally whose troubles are told to the user, the first of them by name.
[[nodiscard]] std::unique_ptr<Tally> make_tally(tool::Console& console);

/// The result of a transfer's thread, and the names that it could not have.
/// outcome   of its stream; none: there is none
[[nodiscard]] Status result_of(const Status& worked, const std::optional<StreamOutcome>& outcome, const Tally& tally);

/// "20000 files, 80.0 MB, of which 12.0 MB went over the path".
[[nodiscard]] std::string sentence_of(const Tally& tally);

/// The wishes of the options, and where the user's books are.
[[nodiscard]] Wishes wishes_of(const TreeOptions& options);

/// The role of an end that has dialled the other, or had ssh start it.  `options` outlive it.
[[nodiscard]] TransferRole connector_role(const TreeOptions& options);
/// Ends the run with that, in words where somebody wants them.
void finish_run(tool::SessionRun& run, const TreeOptions& options, const Status& result, const Tally& tally);

/// Progress of the tally's files.
[[nodiscard]] std::optional<tool::Amount> amount_of(Tally& tally);

}  // namespace udtcat::trees
