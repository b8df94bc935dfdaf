// SPDX-License-Identifier: Apache-2.0
#include "fault/table.hpp"

#include <sstream>

namespace udtcat::fault {

void Table::Counts::add(const Report& report) {
  ++runs;
  struck += report.struck ? 1U : 0U;
  whole += report.whole ? 1U : 0U;
  lies += report.lies.empty() ? 0U : 1U;
  hangs += report.hangs.empty() ? 0U : 1U;
  odd += report.odd.empty() ? 0U : 1U;
}

std::string Table::Counts::cells() const {
  std::ostringstream text;
  for (const unsigned count : {runs, struck, whole, lies, hangs, odd}) text << " | " << count;
  return text.str();
}

void Table::add(const Scenario& scenario, const Report& report) {
  if (!report.ran) {
    ++not_run_;
    return;
  }
  ++runs_[scenario.fault][scenario.product];
  faults_[scenario.fault].add(report);
  products_[scenario.product].add(report);
  total_.add(report);
}

std::vector<Product> Table::untried() const {
  std::vector<Product> found;
  for (const auto& [product, counts] : products_)
    if (counts.whole == 0 || counts.struck == 0) found.push_back(product);
  return found;
}

std::string Table::text() const {
  std::ostringstream text;
  text << "| fault";
  for (const Product product : kProducts) text << " | " << name_of(product);
  text << " | runs | struck before the end | whole | lies | hangs | odd |\n|";
  for (std::size_t column = 0; column < kProducts.size() + 7; ++column) text << " --- |";
  text << '\n';
  for (const auto& [fault, counts] : faults_) {
    text << "| " << name_of(fault);
    for (const Product product : kProducts) {
      const auto& of_fault = runs_.at(fault);
      const auto found = of_fault.find(product);
      text << " | " << (found == of_fault.end() ? 0 : found->second);
    }
    text << counts.cells() << " |\n";
  }
  text << "| all";
  for (const Product product : kProducts) {
    unsigned runs = 0;
    for (const auto& [fault, of_fault] : runs_)
      if (const auto found = of_fault.find(product); found != of_fault.end()) runs += found->second;
    text << " | " << runs;
  }
  text << total_.cells() << " |\n";
  if (not_run_ > 0)
    text << "\nNot run, since the program has no such product, or the user may not be sshd: " << not_run_ << ".\n";
  return text.str();
}

}  // namespace udtcat::fault
