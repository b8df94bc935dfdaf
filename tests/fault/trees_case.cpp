// SPDX-License-Identifier: Apache-2.0
/// A directory sent to a receiver that waits, or fetched from a sender that serves.
#include <array>

#include "fault/products.hpp"

namespace udtcat::fault {

namespace {

class TreesCase final : public Case {
 public:
  TreesCase(Stage& stage, const Scenario& scenario, unsigned number)
      : Case(stage, scenario, number), is_fetched_(scenario.product == Product::receive) {
    std::filesystem::create_directories(from() / "tree");
    std::filesystem::create_directories(into());
    for (const Part& part : parts()) write_content(from() / "tree" / part.name, part.content);
  }

 protected:
  [[nodiscard]] Arguments arguments(Side side) override {
    const bool is_sender = is_fetched_ == (side == Side::far);
    Arguments words{is_sender ? "send" : "receive"};
    if (is_sender && is_fetched_) words.insert(words.end(), {"--serve", from().string()});
    if (is_sender && !is_fetched_) words.push_back((from() / "tree").string());
    if (!is_sender && is_fetched_) words.emplace_back("tree");
    const Arguments where = side == Side::near ? dialled() : waits();
    words.insert(words.end(), where.begin(), where.end());
    if (!is_sender) words.insert(words.end(), {"--into", into().string()});
    const Arguments options = session(side);
    words.insert(words.end(), options.begin(), options.end());
    if (is_sender) limit_rate(words);
    return words;
  }

  void check_promises(Report& report) override {
    const auto tree = into() / "tree";
    for (const Part& part : parts()) {
      expect_whole_file(tree / part.name, part.content, report);
      expect_whole_file(from() / "tree" / part.name, part.content, report);
      for (const Life& life : lives(Side::near))
        if (status_of(life) == 0 && !std::filesystem::exists(tree / part.name))
          report.lies.push_back("a 0 without " + part.name);
    }
  }

 private:
  struct Part {
    std::string name;
    Content content;
  };

  /// The content in files, the last with the most, and one that is empty.
  [[nodiscard]] std::vector<Part> parts() const {
    constexpr std::array<std::size_t, 3> kShares{100, 10, 4};  // of the rest, a hundredth first
    const Content& all = is_fetched_ ? back_ : out_;
    std::vector<Part> made{{.name = "empty", .content = {}}};
    auto at = all.begin();
    for (const std::size_t share : kShares) {
      const auto end = at + (all.end() - at) / static_cast<std::ptrdiff_t>(share);
      made.push_back({.name = "of-" + std::to_string(share), .content = Content(at, end)});
      at = end;
    }
    made.push_back({.name = "rest", .content = Content(at, all.end())});
    return made;
  }
  [[nodiscard]] std::filesystem::path from() const { return directory_ / "from"; }
  [[nodiscard]] std::filesystem::path into() const { return target_directory() / "into"; }

  const bool is_fetched_;
};

}  // namespace

std::unique_ptr<Case> make_trees_case(Stage& stage, const Scenario& scenario, unsigned number) {
  return std::make_unique<TreesCase>(stage, scenario, number);
}

}  // namespace udtcat::fault
