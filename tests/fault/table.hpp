// SPDX-License-Identifier: Apache-2.0
/// Runs counted by what was tried and what came of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fault/report.hpp"
#include "fault/scenario.hpp"

namespace udtcat::fault {

/// Threads: unsynchronised.
class Table {
 public:
  void add(const Scenario& scenario, const Report& report);
  /// Markdown: a row for each fault, with the runs of each product.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] unsigned runs() const { return total_.runs; }
  [[nodiscard]] bool all_held() const { return total_.lies + total_.hangs + total_.odd == 0; }
  /// Products that ran and never ended well, or never were struck: whose every session fails holds every promise.
  [[nodiscard]] std::vector<Product> untried() const;

 private:
  struct Counts {
    unsigned runs = 0;
    unsigned struck = 0;  ///< before they were over
    unsigned whole = 0;   ///< the near end, or both TCP neighbours, ended well
    unsigned lies = 0;
    unsigned hangs = 0;
    unsigned odd = 0;
    void add(const Report& report);
    [[nodiscard]] std::string cells() const;
  };

  std::map<Fault, std::map<Product, unsigned>> runs_;
  std::map<Fault, Counts> faults_;
  std::map<Product, Counts> products_;
  Counts total_;
  unsigned not_run_ = 0;
};

}  // namespace udtcat::fault
