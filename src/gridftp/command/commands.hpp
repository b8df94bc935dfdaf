// SPDX-License-Identifier: Apache-2.0
/// udtcat gridftp: a peer of Globus' servers and clients, and a gateway between them.
#pragma once

#include "tool/program/command.hpp"

namespace udtcat::gridftp {

[[nodiscard]] tool::Commands commands();

}  // namespace udtcat::gridftp
