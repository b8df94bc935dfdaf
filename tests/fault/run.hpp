// SPDX-License-Identifier: Apache-2.0
/// One run: a scenario played to its end and judged.
#pragma once

#include "fault/report.hpp"
#include "fault/scenario.hpp"
#include "fault/stage.hpp"

namespace udtcat::fault {

[[nodiscard]] Report play(Stage& stage, const Scenario& scenario);

}  // namespace udtcat::fault
