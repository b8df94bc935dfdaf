// SPDX-License-Identifier: Apache-2.0
/// The outcome of a run.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace udtcat::fault {

/// Empty lists: what was promised was kept.
struct Report {
  std::vector<std::string> lies = {};   ///< success, or an end of file, was seen where bytes were missing or wrong
  std::vector<std::string> hangs = {};  ///< beyond the documented times
  std::vector<std::string> odd = {};    ///< a status that is not documented, a crash
  bool struck = false;                  ///< the fault came before the end
  bool whole = false;                   ///< every end that had to learn of success did
  std::chrono::milliseconds after{0};   ///< from the fault to the end of it all
  bool ran = true;                      ///< false: the program under test has no such product
  std::string ends = {};                ///< what every process was told, how it ended and what it said

  [[nodiscard]] bool held() const { return lies.empty() && hangs.empty() && odd.empty(); }
};

}  // namespace udtcat::fault
