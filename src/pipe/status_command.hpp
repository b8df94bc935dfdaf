// SPDX-License-Identifier: Apache-2.0
/// udtcat status: who is connected to the udtcats of this host.
#pragma once

#include "tool/program/command.hpp"

namespace udtcat::pipe {

[[nodiscard]] tool::Command status_command();

}  // namespace udtcat::pipe
