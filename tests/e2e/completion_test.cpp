// SPDX-License-Identifier: Apache-2.0
/// wrappers/completion in its shells: bash, zsh and fish themselves ask the program.
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

constexpr const char* kFolder = UDTCAT_SOURCE_DIR "/wrappers/completion";

/// A folder with a file in it, and udtcat and udr as commands.
class ShellCompletion : public UdtcatTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(bin());
    std::filesystem::create_symlink(UDTCAT_BINARY, bin() / "udtcat");
    std::filesystem::create_symlink(UDTCAT_SOURCE_DIR "/wrappers/udr", bin() / "udr");
    std::filesystem::create_symlink(std::string(kFolder) + "/udtcat.zsh", home_.path() / "_udtcat");
    std::ignore = run_here({"touch", "secret.key"});
  }

  [[nodiscard]] Ran run_here(Arguments argv) const {
    const std::string home = home_.path().string();
    const Ran ran = run({.argv = std::move(argv),
                         .environment = {"PATH=" + bin().string() + ":/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + home,
                                         "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_RUNTIME_DIR=" + home},
                         .working_directory = home_.path()});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    return ran;
  }

  /// The candidates that bash has for the last of these words; bash itself splits a command line at '=' too.
  [[nodiscard]] std::string bash(const std::string& words) const {
    const std::string script = "source " + std::string(kFolder) + "/udtcat.bash; COMP_WORDS=(" + words +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); read -ra specification < <(complete -p "
                               "\"${COMP_WORDS[0]}\"); ${specification[2]} \"${COMP_WORDS[0]}\"; printf '%s\\n' "
                               "\"${COMPREPLY[@]}\"";
    return run_here({"bash", "--norc", "-c", script}).output;
  }
  [[nodiscard]] std::string fish(const std::string& line) const {
    const std::string script = "source " + std::string(kFolder) + "/udtcat.fish; complete --do-complete '" + line + "'";
    return run_here({"fish", "--command", script}).output;
  }
  /// The command lines after a tabulator.
  [[nodiscard]] std::string zsh(Arguments lines) const {
    lines.insert(lines.begin(), {UDTCAT_SOURCE_DIR "/tests/e2e/support/zsh_completes", home_.path().string()});
    return run_here(std::move(lines)).output;
  }

 private:
  [[nodiscard]] std::filesystem::path bin() const { return home_.path() / "bin"; }
};

TEST_F(ShellCompletion, OfBashOffersOptionsValuesFilesAndCommands) {
  EXPECT_EQ(bash("udtcat --send"), "--send-only\n");
  EXPECT_EQ(bash("udtcat --protect pr"), "private\n");
  EXPECT_EQ(bash("udtcat --protect = pr"), "private\n");
  EXPECT_EQ(bash("udtcat host 9 -k sec"), "secret.key\n");
  EXPECT_EQ(bash("udtcat sta"), "status\n");
  EXPECT_THAT(bash("udtcat gridftp ''"), HasSubstr("gateway\n"));
  EXPECT_THAT(bash("udtcat rsh --"), HasSubstr("--require-udp\n"));
  EXPECT_THAT(bash("udr --"), HasSubstr("--require-udp\n"));
  EXPECT_THAT(bash("udr --port 9000 udtc"), HasSubstr("udtcat\n"));
}

TEST_F(ShellCompletion, OfFishOffersThem) {
  EXPECT_EQ(fish("udtcat --send"), "--send-only\n");
  EXPECT_EQ(fish("udtcat --protect pr"), "private\n");
  EXPECT_EQ(fish("udtcat --protect=pr"), "--protect=private\n");
  EXPECT_THAT(fish("udtcat host 9 -k sec"), HasSubstr("secret.key"));
  EXPECT_THAT(fish("udtcat --key-file=sec"), HasSubstr("--key-file=secret.key"));
  EXPECT_THAT(fish("udtcat sta"), HasSubstr("status\n"));
  EXPECT_THAT(fish("udr --requ"), HasSubstr("--require-udp\n"));
  EXPECT_THAT(fish("udr --port 9000 rsync --archi"), HasSubstr("--archive"));
  EXPECT_THAT(fish("udtcat rsh host rsync --archi"), HasSubstr("--archive"));
}

TEST_F(ShellCompletion, OfZshCompletesThem) {
  const Arguments lines{"udtcat --send-",       "udtcat --protect pr",           "udtcat --protect=pr",
                        "udtcat host 9 -k sec", "udtcat --key-file=sec",         "udtcat sta",
                        "udr --requ",           "udr --port 9000 rsync --archiv"};
  EXPECT_EQ(zsh(lines),
            "udtcat --send-only \n"
            "udtcat --protect private \n"
            "udtcat --protect=private \n"
            "udtcat host 9 -k secret.key \n"
            "udtcat --key-file=secret.key \n"
            "udtcat status \n"
            "udr --require-udp \n"
            "udr --port 9000 rsync --archive \n");
}

}  // namespace
}  // namespace udtcat::test::e2e
