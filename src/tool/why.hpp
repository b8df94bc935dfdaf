// SPDX-License-Identifier: Apache-2.0
/// Why a transfer is not faster, in a sentence for people.
#pragma once

#include <string>

#include <udtcat/evidence.hpp>

namespace udtcat::tool {

/// "limited by their consumer (a disk, or a program that reads): it takes 812.00 Mbit/s": what limits, the figure that
/// shows it, and what would help, as far as the evidence says.
/// verdict    on `evidence`
/// Docs: udtcat(1), "WHY".
[[nodiscard]] std::string why_text(const Verdict& verdict, const Evidence& evidence);

}  // namespace udtcat::tool
