// SPDX-License-Identifier: Apache-2.0
/// A pipe or a forward in sentences, for --check.
#pragma once

#include "pipe/pipe_options.hpp"

namespace udtcat::pipe {

[[nodiscard]] tool::Words mode_summary(const PipeOptions& options);

}  // namespace udtcat::pipe
