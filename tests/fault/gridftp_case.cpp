// SPDX-License-Identifier: Apache-2.0
/// A file from and to our GridFTP server, dialogue and data in sessions.
#include "fault/products.hpp"

namespace udtcat::fault {

namespace {

class GridftpCase final : public Case {
 public:
  GridftpCase(Stage& stage, const Scenario& scenario, unsigned number)
      : Case(stage, scenario, number), is_get_(scenario.product == Product::get) {
    std::filesystem::create_directories(served());
    std::filesystem::create_directories(here());
    write_content((is_get_ ? served() : here()) / "source", content());
  }

 protected:
  [[nodiscard]] Arguments arguments(Side side) override {
    Arguments words{"gridftp"};
    if (side == Side::far) {
      words.insert(words.end(),
                   {"serve", "--root", served().string(), "-l", Path::kFarAddress + (":" + port()), "--auth", "key"});
    } else {
      words.insert(words.end(), {is_get_ ? "get" : "put", "-p", std::to_string(scenario_.flows), "--retries", "1"});
    }
    const Arguments options = session(side);
    words.insert(words.end(), options.begin(), options.end());
    if (is_get_ == (side == Side::far)) limit_rate(words);
    const std::string url = std::string("udtcat://") + Path::kFarAddress + ":" + port() + "/";
    if (side == Side::near && is_get_) words.insert(words.end(), {url + "source", (here() / "final").string()});
    if (side == Side::near && !is_get_) words.insert(words.end(), {(here() / "source").string(), url + "final"});
    return words;
  }

  void check_promises(Report& report) override {
    const auto final_file = (is_get_ ? here() : served()) / "final";
    expect_whole_file(final_file, content(), report);
    for (const Life& life : lives(Side::near))
      if (status_of(life) == 0 && !std::filesystem::exists(final_file))
        report.lies.emplace_back("a 0 without the file");
  }

 private:
  [[nodiscard]] const Content& content() const { return is_get_ ? back_ : out_; }
  [[nodiscard]] std::filesystem::path served() const { return (is_get_ ? directory_ : target_directory()) / "served"; }
  [[nodiscard]] std::filesystem::path here() const { return (is_get_ ? target_directory() : directory_) / "here"; }

  const bool is_get_;
};

}  // namespace

std::unique_ptr<Case> make_gridftp_case(Stage& stage, const Scenario& scenario, unsigned number) {
  return std::make_unique<GridftpCase>(stage, scenario, number);
}

}  // namespace udtcat::fault
