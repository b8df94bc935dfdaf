// SPDX-License-Identifier: Apache-2.0
/// A pipe, with what it gives to and takes from its ends' standard streams, and one whose far end is a command.
#include "fault/products.hpp"

namespace udtcat::fault {

namespace {

class PipeCase : public Case {
 public:
  using Case::Case;

 protected:
  [[nodiscard]] bool serves(Side) const override { return false; }

  [[nodiscard]] Arguments arguments(Side side) override {
    Arguments words = side == Side::near ? dialled() : waits();
    if (side == Side::far) words.insert(words.end(), {"--accept-timeout", "8s"});
    const Arguments options = session(side);
    words.insert(words.end(), options.begin(), options.end());
    if (!given(side).empty()) limit_rate(words);
    return words;
  }

  void tie(Side side, Life& life, test::Command& command) override {
    give_from(life, command, given(side));
    take_into(life, command, scenario_.fault == Fault::full_disk && side == scenario_.victim);
  }

  void check_promises(Report& report) override {
    for (const Side side : {Side::near, Side::far}) {
      bool all_came = false;
      const Content& expected = given(other(side));
      for (const Life& life : lives(side)) {
        const auto came = taken(life, report);
        expect_beginning(came, expected, side == Side::near ? "the near stdout" : "the far stdout", report);
        all_came = all_came || equals(came, expected);
        if (status_of(life) == 0 && !equals(came, expected))
          report.lies.push_back("a receiver ended with 0 and " + std::to_string(came.bytes) + " of " +
                                std::to_string(expected.size()) + " bytes");
      }
      for (const Life& life : lives(other(side)))
        if (status_of(life) == 0 && !all_came) report.lies.emplace_back("a sender ended with 0, and not all has come");
    }
  }

 private:
  [[nodiscard]] static Side other(Side side) { return side == Side::near ? Side::far : Side::near; }
  [[nodiscard]] const Content& given(Side side) const { return side == Side::near ? out_ : back_; }
};

/// A command takes what comes, and publishes it; another may make what is sent.
class ExecCase final : public PipeCase {
 public:
  ExecCase(Stage& stage, const Scenario& scenario, unsigned number)
      : PipeCase(stage, scenario, number), receiver_(back_.empty() ? Side::far : Side::near) {
    write_content(directory_ / "source", content());
  }

 protected:
  [[nodiscard]] Arguments arguments(Side side) override {
    Arguments words = PipeCase::arguments(side);
    if (side == receiver_) words.insert(words.end(), {"--recv-only", "--exec", receiving_command()});
    if (side != receiver_ && scenario_.command_sends)
      words.insert(words.end(), {"--send-only", "--exec", sending_command()});
    return words;
  }

  void tie(Side side, Life& life, test::Command& command) override {
    if (side != receiver_ && !scenario_.command_sends) give_from(life, command, content());
  }

  void settle(Report& report) override { wait_for_command(directory_ / "pid", report); }

  void check_promises(Report& report) override {
    const bool published = std::filesystem::exists(directory_ / "final");
    expect_whole_file(directory_ / "final", content(), report);
    if (published && scenario_.command_sends && scenario_.command_fails)
      report.lies.emplace_back("published what a command sent that failed");
    for (const Side side : {Side::near, Side::far})
      for (const Life& life : lives(side))
        if (status_of(life) == 0 && (!published || scenario_.command_fails))
          report.lies.emplace_back("an end ended with 0 without its command's");
  }

 private:
  [[nodiscard]] const Content& content() const { return receiver_ == Side::far ? out_ : back_; }
  [[nodiscard]] std::string receiving_command() const {
    const bool fails = scenario_.command_fails && !scenario_.command_sends;
    return publishing_command(directory_, target_directory()) + (fails ? "; exit 3" : "");
  }
  [[nodiscard]] std::string sending_command() const {
    return "cat " + (directory_ / "source").string() + (scenario_.command_fails ? "; exit 3" : "");
  }

  const Side receiver_;
};

}  // namespace

std::unique_ptr<Case> make_pipe_case(Stage& stage, const Scenario& scenario, unsigned number) {
  if (scenario.product == Product::pipe) return std::make_unique<PipeCase>(stage, scenario, number);
  return std::make_unique<ExecCase>(stage, scenario, number);
}

}  // namespace udtcat::fault
