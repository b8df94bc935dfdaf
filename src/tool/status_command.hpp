// SPDX-License-Identifier: Apache-2.0
/// udtcat status: who is connected to the udtcats of this host.
#pragma once

#include "tool/command.hpp"

namespace udtcat::tool {

[[nodiscard]] Command status_command();

}  // namespace udtcat::tool
