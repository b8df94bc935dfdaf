// SPDX-License-Identifier: Apache-2.0
/// The files that a user gives a sender.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "trees/source.hpp"

namespace udtcat::trees {

struct Selection {
  std::vector<std::string> paths{};
  std::optional<std::string> list{};  ///< a file that names them, "-": stdin; none: `paths`
};

/// Whether the paths can be sent, before anybody is dialled.  errors: those of Source::of_arguments()
[[nodiscard]] Status check_selection(const Selection& selection);
/// Reads the list, if there is one.
/// errors: those of sources; Errc::local_read_failed; Errc::bad_argument for a list whose names do not end with NUL
[[nodiscard]] Result<Source> source_of(const Selection& selection);

}  // namespace udtcat::trees
