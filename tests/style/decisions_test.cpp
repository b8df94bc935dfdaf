// SPDX-License-Identifier: Apache-2.0
/// docs/adr: each decision stands in the index, with the title and the state that it has, and is short.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t kMostLines = 60;    // spec: docs/HACKING.md, Decisions
constexpr std::size_t kNumberDigits = 4;  // "0042-why.md", "# 0042 Time is charged …"

struct Decision {
  std::string file;
  std::string number;
  std::string title;
  bool is_superseded;
  std::size_t lines;
};

std::vector<Decision> read_decisions() {
  std::vector<Decision> decisions;
  for (const auto& file : read_documents()) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    if (!file.path.starts_with("docs/adr/") || name == "README.md" || file.lines.size() < 3) continue;
    const std::string number = name.substr(0, kNumberDigits);
    const std::string& head = file.lines[0];
    const std::string title = head.starts_with("# " + number + " ") ? head.substr(3 + kNumberDigits) : "";
    decisions.push_back({name, number, title, file.lines[2].starts_with("- Status: superseded"), file.lines.size()});
  }
  return decisions;
}

std::vector<std::string> index_rows() {
  for (const auto& file : read_documents())
    if (file.path == "docs/adr/README.md") {
      auto rows = file.lines;
      std::erase_if(rows, [](const auto& line) { return !line.starts_with("| ["); });
      return rows;
    }
  return {};
}

TEST(Decisions, StandInTheirIndexOnceWithTheirTitleAndState) {
  const auto rows = index_rows();
  const auto decisions = read_decisions();
  Offences offences;
  std::set<std::string> numbers;
  for (const Decision& each : decisions) {
    const std::string begin = "| [" + each.number + "](" + each.file + ") | " + each.title + " | ";
    const std::string state = each.is_superseded ? "superseded by " : "accepted";
    if (each.title.empty() ||
        std::ranges::count_if(rows, [&](const auto& row) { return row.starts_with(begin + state); }) != 1)
      offences.push_back("docs/adr/README.md has no row " + begin + state);
    numbers.insert(each.number);
  }
  EXPECT_THAT(offences, IsEmpty());
  EXPECT_THAT(rows, SizeIs(decisions.size()));
  EXPECT_THAT(numbers, SizeIs(decisions.size())) << "two decisions have one number";
}

TEST(Decisions, HaveAPageAtMost) {
  for (const Decision& each : read_decisions()) EXPECT_LE(each.lines, kMostLines) << each.file;
}

}  // namespace
}  // namespace udtcat::style
