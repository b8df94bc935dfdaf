// SPDX-License-Identifier: Apache-2.0
/// A pipe or a forward in sentences, for --check.
#pragma once

#include "tool/pipe_options.hpp"

namespace udtcat::tool {

[[nodiscard]] Words form_facts(const PipeOptions& options);

}  // namespace udtcat::tool
