// SPDX-License-Identifier: Apache-2.0
/// A path that is measured, by a listener that goes on waiting for its pipe.
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "fault/products.hpp"

namespace udtcat::fault {

namespace {

class BenchCase final : public Case {
 public:
  using Case::Case;

  [[nodiscard]] std::uint64_t progress() const override { return stage_.path().bytes(); }

 protected:
  [[nodiscard]] Arguments arguments(Side side) override {
    Arguments words;
    if (side == Side::near) words = {"bench", "--json", "--seconds", "1"};
    const Arguments where = side == Side::near ? dialled() : waits();
    words.insert(words.end(), where.begin(), where.end());
    const Arguments options = session(side);
    words.insert(words.end(), options.begin(), options.end());
    limit_rate(words);
    return words;
  }

  void tie(Side side, Life& life, test::Command& command) override {
    if (side == Side::far) return;
    life.out_file = directory_ / ("report-" + std::to_string(lives(Side::near).size()));
    command.out = test::open_for_writing(life.out_file);
  }

  /// 0 says that both ways were measured.
  void check_promises(Report& report) override {
    for (const Life& life : lives(Side::near)) {
      if (status_of(life) != 0) continue;
      const auto told = nlohmann::json::parse(test::read_file(life.out_file), nullptr, false);
      for (const char* way : {"out", "back"})
        if (!told.is_object() || !told.contains(way) || told.at(way).is_null())
          report.lies.push_back(std::string("a 0 without what was measured ") + way);
    }
  }
};

}  // namespace

std::unique_ptr<Case> make_bench_case(Stage& stage, const Scenario& scenario, unsigned number) {
  return std::make_unique<BenchCase>(stage, scenario, number);
}

}  // namespace udtcat::fault
