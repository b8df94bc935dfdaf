// SPDX-License-Identifier: Apache-2.0
/// A remote command by sshd: one that publishes its input, or one that writes.
#include <csignal>
#include <fstream>

#include "fault/products.hpp"

namespace udtcat::fault {

namespace {

/// sshd is there before and afterwards: the far end is a child of its own.
class RshCase final : public Case {
 public:
  RshCase(Stage& stage, const Scenario& scenario, unsigned number)
      : Case(stage, scenario, number), writes_(scenario.bytes_back > 0) {
    write_content(directory_ / "source", writes_ ? back_ : out_);
    script_ = directory_ / "script";
    std::ofstream(script_) << command() << '\n';
  }

  void send_signal(Side side, int signal) override {
    if (side == Side::near) return Case::send_signal(side, signal);
    pid_t far_end = 0;
    std::ifstream(directory_ / "parent") >> far_end;
    if (far_end > 1) ::kill(far_end, signal);
  }

 protected:
  /// spec: udtcat-rsh(1), EXIT STATUS: the command's, which is 1 only where the disk is full; 255.
  [[nodiscard]] bool documented(Side side, int status) const override {
    return Case::documented(side, status) ||
           (side == Side::near && (status == 255 || (status == 1 && scenario_.fault == Fault::full_disk)));
  }

  void tie(Side side, Life& life, test::Command& command) override {
    if (side == Side::far) return;
    if (!writes_) command.in = test::open_for_reading(directory_ / "source");
    if (writes_) take_into(life, command, scenario_.fault == Fault::full_disk);
  }

  void settle(Report& report) override { wait_for_command(directory_ / "pid", report); }

  void check_promises(Report& report) override {
    expect_whole_file(directory_ / "final", out_, report);
    for (const Life& life : lives(Side::near)) {
      const auto came = taken(life, report);
      if (writes_) expect_beginning(came, back_, "the near stdout", report);
      if (status_of(life) != 0) continue;
      if (writes_ ? !equals(came, back_) : !std::filesystem::exists(directory_ / "final"))
        report.lies.emplace_back("the command's 0, and not all has come");
    }
  }

  [[nodiscard]] std::string command() const {
    return writes_ ? "echo $PPID > " + directory_.string() + "/parent; echo $$ > " + directory_.string() +
                         "/pid; cat " + directory_.string() + "/source"
                   : publishing_command(directory_, target_directory());
  }

  [[nodiscard]] Arguments arguments(Side side) override {
    if (side == Side::far) return {};
    Arguments words{"rsh", "--require-udp", "--port",
                    std::to_string(9000 + 100 * number_) + "-" + std::to_string(9099 + 100 * number_)};
    const Arguments options = session(side);
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"-F", stage_.ssh().ssh_config(), "-o", "ConnectTimeout=4", "-o", "ServerAliveInterval=1",
                               "-o", "ServerAliveCountMax=3", "far", "sh " + script_.string()});
    return words;
  }
  [[nodiscard]] bool serves(Side) const override { return false; }

 private:
  const bool writes_;  ///< or reads
  std::filesystem::path script_;
};

}  // namespace

std::unique_ptr<Case> make_rsh_case(Stage& stage, const Scenario& scenario, unsigned number) {
  return std::make_unique<RshCase>(stage, scenario, number);
}

}  // namespace udtcat::fault
