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
  std::optional<std::string> list{};                 ///< a file that names them, "-": stdin; none: `paths`
  std::optional<std::vector<std::string>> listed{};  ///< what the list has; none: it has not been read
};

/// Reads the list, and looks at the paths, of which one at least has to be there, before anybody is dialled.
/// errors: those of Source::of_arguments(); Errc::local_read_failed; Errc::bad_argument for a list whose names do not
/// all end with NUL
[[nodiscard]] Result<Selection> ready(Selection selection);
/// The same, where every path has to be there.
[[nodiscard]] Status check(const Selection& selection);
/// Reads the list, if there is one that has not been read.  errors: those of sources and of ready()
[[nodiscard]] Result<Source> source_of(const Selection& selection);

}  // namespace udtcat::trees
