// SPDX-License-Identifier: Apache-2.0
/// The files that a user gives a sender.
#pragma once

#include <functional>
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

/// The same, before anybody is dialled: with the names of the list, and with paths of which one at least is there.
/// tell   of each path that is not there, while others are
/// errors: those of Source::of_arguments(); Errc::local_read_failed; Errc::bad_argument for a list whose names do not
/// all end with NUL
[[nodiscard]] Result<Selection> ready(Selection selection, const std::function<void(const Error&)>& tell);
/// Reads the list, if there is one that has not been read.  errors: those of sources and of ready()
[[nodiscard]] Result<Source> source_of(const Selection& selection);

}  // namespace udtcat::trees
