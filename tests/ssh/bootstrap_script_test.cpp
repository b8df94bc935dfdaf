// SPDX-License-Identifier: Apache-2.0
#include "ssh/bootstrap_script.hpp"

#include <array>
#include <cstdio>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/utsname.h>

#include "ssh/connectivity_checks.hpp"
#include "ssh/greeting.hpp"
#include "ssh/pushed_program.hpp"
#include "support/temp_dir.hpp"
#include "tool/cli/shell_words.hpp"

namespace udtcat::ssh {
namespace {

/// The output of a shell that is given the script, as sshd gives it, behind the script's first line.
/// input   a format of printf(1)
std::string run(const std::string& shell, const std::string& script, const std::string& input = "") {
  const std::string command =
      fmt::format("printf {} | HOME=/nonexistent {} -c {} 2>&1", tool::quoted(input), shell, tool::quoted(script));
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> piece{};
  for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    output.append(piece.data(), got);
  ::pclose(pipe);
  const std::string begun = fmt::format("\n{}\n", kScriptLine);
  return output.starts_with(begun) ? output.substr(begun.size()) : output;
}

/// The digest as that of this machine's program.
std::vector<ProgramDigest> here(const std::string& digest) {
  utsname system{};
  ::uname(&system);
  return {{"Linux elsewhere", std::string(64, 'e')}, {std::string(system.sysname) + ' ' + system.machine, digest}};
}

/// `text` as a format of printf(1) that prints it.
std::string as_format(const std::string& text) {
  std::string format;
  for (const char c : text) format += c == '\\' || c == '%' ? std::string(2, c) : std::string(1, c);
  return format;
}

std::string digest_of(const std::string& program) {
  return run("sh", fmt::format("printf %s {} | sha256sum | cut -c1-64", tool::quoted(program))).substr(0, 64);
}

class BootstrapScripts : public testing::Test {
 protected:
  /// The output where `program` may be pushed, and `input` is what the near end answers.
  [[nodiscard]] std::string pushed(const std::string& digest, const std::string& input, bool push = true) const {
    return run("sh",
               fmt::format(
                   "export XDG_CACHE_HOME={}; {}", cache.path().string(),
                   bootstrap_script({.program = kNone, .options = {"--port=1"}, .pushed = here(digest), .push = push})),
               input);
  }
  /// A program of a digest of `digit` alone, which was used so many days ago.
  [[nodiscard]] std::filesystem::path kept(char digit, int days) const {
    const auto folder = cache.path() / "udtcat" / std::string(64, digit);
    run("sh", fmt::format("mkdir -p {0}; echo x > {0}/udtcat; touch -d '{1} days ago' {0}", folder.string(), days));
    return folder;
  }
  /// The answer that brings `program`, in the escapes of printf(1).
  static std::string answer_with(const std::string& program) {
    const auto bytes = packed(std::as_bytes(std::span(program))).value();
    std::string escaped = fmt::format("PUSH {}\\n", bytes.size());
    for (const std::byte byte : bytes) escaped += fmt::format("\\{:03o}", std::to_integer<unsigned>(byte));
    return escaped;
  }

  static constexpr const char* kNone = "/no/such/udtcat";
  const test::TempDir cache;
};

TEST_F(BootstrapScripts, TellTheFarEndAloneOfTheNearOne) {
  const std::string script = bootstrap_script(
      {.program = "printenv", .command = NearEnd::kVariable, .options = {}, .near_end = "40123 192.0.2.1"});
  for (const char* shell : {"sh", "bash", "tcsh"}) EXPECT_EQ(run(shell, script), "40123 192.0.2.1\n") << shell;
}

TEST_F(BootstrapScripts, RunTheProgramWithItsOptions) {
  for (const char* shell : {"sh", "bash"})
    EXPECT_EQ(run(shell, bootstrap_script({.program = "echo",
                                           .options = {"--port=9000", "a b", "$HOME", "it's", "\"`x`\\"},
                                           .pushed = {}})),
              "rsh-server --port=9000 a b $HOME it's \"`x`\\\n");
}

TEST_F(BootstrapScripts, SayFirstThatTheyHaveBegun) {
  const std::string script = bootstrap_script({.program = "echo", .options = {}, .pushed = {}});
  EXPECT_EQ(run("sh", "echo before; " + script), fmt::format("before\n\n{}\nrsh-server\n", kScriptLine));
}

TEST_F(BootstrapScripts, RunInEachLoginShell) {
  for (const char* shell : {"sh", "bash", "zsh", "fish", "tcsh"})
    EXPECT_EQ(run(shell, bootstrap_script({.program = "echo",
                                           .options = {"--port=9000", "a b", "$HOME", "it's"},
                                           .pushed = here(std::string(64, '0')),
                                           .push = true})),
              "rsh-server --port=9000 a b $HOME it's\n")
        << shell;
}

TEST_F(BootstrapScripts, SayWhatIsMissingAndRunNothing) {
  const std::string output = run("sh", bootstrap_script({.program = kNone, .options = {}, .pushed = {}}));
  EXPECT_THAT(output, testing::MatchesRegex("\nUDTCAT MISSING Linux [^\n]*\n"));
}

TEST_F(BootstrapScripts, RunTheCommandByteForByteWhereTheyAreAnsweredSo) {
  const std::string command =
      " printf '%s|' \"a  b\" 'back\\slash \\0101' \"$((1+1))\" 'new\nline' '\xc3\xbc%' # end\n\n";
  const std::string plain = run("sh", command);
  ASSERT_NE(plain, "");
  for (const char* shell : {"sh", "bash"})
    EXPECT_EQ(run(shell, bootstrap_script({.program = kNone, .options = {}, .pushed = {}}) + " | sed 1,4d",
                  as_format(run_answer(command))),
              plain);
}

// A variable that the login shell exports stays exported when a script assigns to it.
TEST_F(BootstrapScripts, LeaveTheUsersVariablesToHisCommand) {
  std::string exports = "export XDG_CACHE_HOME=relative";
  for (char name = 'a'; name <= 'z'; ++name) exports += fmt::format(" {}={}", name, "mine");
  const std::string command = "env | grep -E '^([a-z]|XDG_CACHE_HOME|udtcat_.*)=' | sort";
  const BootstrapRequest request{.program = kNone, .options = {}, .pushed = here(std::string(64, '0')), .push = false};
  const std::string seen =
      run("sh", exports + "; " + bootstrap_script(request) + " | sed 1,4d", as_format(run_answer(command)));
  EXPECT_EQ(seen, run("sh", exports + "; " + command));
}

TEST_F(BootstrapScripts, TakeAProgramOnceAndRunIt) {
  const std::string program = "#!/bin/sh\necho pushed \"$@\"\n";  // also where it is asked for its version
  EXPECT_TRUE(pushed(digest_of(program), answer_with(program)).ends_with("\npushed rsh-server --port=1\n"));
  EXPECT_EQ(pushed(digest_of(program), ""), "pushed rsh-server --port=1\n") << "it is there now";
  const auto kept = cache.path() / "udtcat" / digest_of(program);
  EXPECT_EQ(std::filesystem::status(kept).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(BootstrapScripts, ChooseTheProgramByTheSystem) {
  const test::TempDir tools;
  tools.write("uname", "#!/bin/sh\necho Linux aarch64\n", 0700);
  const std::string program = "#!/bin/sh\necho pushed\n";
  const auto output = [&](const std::string& system) {
    return run(
        "sh",
        fmt::format("export PATH={}:$PATH XDG_CACHE_HOME={}; {}", tools.path().string(), cache.path().string(),
                    bootstrap_script({.program = kNone,
                                      .options = {},
                                      .pushed = {{"Linux x86_64", std::string(64, '0')}, {system, digest_of(program)}},
                                      .push = true})),
        answer_with(program));
  };
  EXPECT_EQ(output("Linux riscv64"), "\nUDTCAT MISSING Linux aarch64\n") << "none is for that machine";
  EXPECT_TRUE(cache.files().empty());
  EXPECT_EQ(output("Linux aarch64"), "\nUDTCAT MISSING Linux aarch64\npushed\n");
}

TEST_F(BootstrapScripts, RunWhatWasPushedBeforeAlsoWhereNothingIsPushed) {
  const std::string program = "#!/bin/sh\necho pushed \"$@\"\n";
  const std::string missing = pushed(digest_of(program), answer_with(program), false);
  EXPECT_THAT(missing, testing::MatchesRegex("\nUDTCAT MISSING [^\n]*\n")) << "it is not there, and nothing is taken";
  EXPECT_TRUE(cache.files().empty());
  std::ignore = pushed(digest_of(program), answer_with(program));
  EXPECT_EQ(pushed(digest_of(program), "", false), "pushed rsh-server --port=1\n");
  run("sh", fmt::format("echo echo other >> {}/udtcat/{}/udtcat", cache.path().string(), digest_of(program)));
  EXPECT_EQ(pushed(digest_of(program), "", false), missing) << "it is not the one of that name any more";
}

TEST_F(BootstrapScripts, RemoveWhatNobodyHasUsedForAMonthWhereTheyTakeAProgram) {
  const std::string program = "#!/bin/sh\necho pushed \"$@\"\n";
  const auto old = kept('a', 40);
  const auto young = kept('b', 20);
  const auto foreign = kept('z', 40);  // no digest
  const auto full = kept('d', 40);
  run("sh", fmt::format("touch {0}/mine; touch -d '40 days ago' {0}", full.string()));
  EXPECT_TRUE(pushed(digest_of(program), answer_with(program)).ends_with("\npushed rsh-server --port=1\n"));
  EXPECT_FALSE(std::filesystem::exists(old));
  for (const auto& left : {young, foreign}) EXPECT_TRUE(std::filesystem::exists(left / "udtcat")) << left;
  EXPECT_TRUE(std::filesystem::exists(full / "mine")) << "not ours";
}

TEST_F(BootstrapScripts, NoteThatAPushedProgramIsUsed) {
  const std::string program = "#!/bin/sh\necho pushed\n";
  std::ignore = pushed(digest_of(program), answer_with(program));
  const auto folder = (cache.path() / "udtcat" / digest_of(program)).string();
  run("sh", fmt::format("touch -d '40 days ago' {}", folder));
  std::ignore = pushed(digest_of(program), "", false);
  EXPECT_EQ(run("sh", fmt::format("find {} -prune -mtime +30", folder)), "");
}

TEST_F(BootstrapScripts, SayEachSecondHowMuchOfTheProgramIsThereAndThenNoMore) {
  const test::TempDir tools;
  tools.write("gzip", "#!/bin/sh\nPATH=${PATH#*:} gzip -dc | { head -c 5; sleep 1.5; cat; }\n", 0700);
  const std::string program = "#!/bin/sh\nsleep 1.2\nread c </proc/$$/task/$$/children\necho \"children: $c.\"\n";
  for (const char* shell : {"dash", "bash"}) {
    const auto sh = tools.path() / "sh";
    std::filesystem::remove(sh);
    std::filesystem::create_symlink(run("sh", fmt::format("printf %s \"$(command -v {})\"", shell)), sh);
    const test::TempDir own_cache;
    const std::string output =
        run("sh",
            fmt::format(
                "export PATH={}:$PATH XDG_CACHE_HOME={}; {}", tools.path().string(), own_cache.path().string(),
                bootstrap_script({.program = kNone, .options = {}, .pushed = here(digest_of(program)), .push = true})),
            answer_with(program));
    EXPECT_THAT(output, testing::MatchesRegex("\nUDTCAT MISSING [^\n]*\n\nUDTCAT HAVE 5\nchildren: \\.\n")) << shell;
  }
}

TEST_F(BootstrapScripts, LeaveNoProcessWhenTheyAreKilled) {
  const std::string script =
      bootstrap_script({.program = kNone, .options = {}, .pushed = here(std::string(64, '0')), .push = true});
  const std::string output =
      run("sh",
          fmt::format("export XDG_CACHE_HOME={}; {{ cat; sleep 3; }} | timeout --foreground -s KILL 0.5 sh -c {}",
                      cache.path().string(), tool::quoted(script)),
          "PUSH 1000\\n");
  EXPECT_THAT(output, testing::AllOf(testing::HasSubstr("MISSING"), testing::Not(testing::HasSubstr("HAVE"))));
}

/// Proves: rsh.pushed-program-own
TEST_F(BootstrapScripts, TrustNoDirectoryOfAnotherUser) {
  const std::string program = "#!/bin/sh\necho pushed\n";
  const std::string place = (cache.path() / "udtcat" / digest_of(program)).string();
  run("sh", fmt::format("mkdir -p {0} && printf %s {1} > {0}/udtcat && chmod 755 {0}/udtcat && chown 65534 {0}", place,
                        tool::quoted(program)));
  EXPECT_THAT(pushed(digest_of(program), answer_with(program)),
              testing::AllOf(testing::HasSubstr("UDTCAT UNFIT " + place + " is not this user's"),
                             testing::Not(testing::HasSubstr("pushed\n"))));
}

/// Proves: rsh.pushed-program-own
TEST_F(BootstrapScripts, TrustNoDirectoryThatOthersMayChangeUntilTheyPushAgain) {
  const std::string program = "#!/bin/sh\necho pushed \"$@\"\n";
  std::ignore = pushed(digest_of(program), answer_with(program));
  const auto place = cache.path() / "udtcat";
  for (const auto& directory : {place, place / digest_of(program)}) {
    std::filesystem::permissions(directory, std::filesystem::perms::group_write, std::filesystem::perm_options::add);
    EXPECT_THAT(pushed(digest_of(program), "", false), testing::HasSubstr("UDTCAT MISSING")) << directory;
  }
  EXPECT_TRUE(pushed(digest_of(program), answer_with(program)).ends_with("\npushed rsh-server --port=1\n"));
  EXPECT_EQ(pushed(digest_of(program), "", false), "pushed rsh-server --port=1\n");
  std::filesystem::rename(place / digest_of(program), place / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", place / digest_of(program));
  EXPECT_THAT(pushed(digest_of(program), "", false), testing::HasSubstr("UDTCAT MISSING")) << "a link";
}

TEST_F(BootstrapScripts, SayThatAPushedProgramLacksItsLibraries) {
  const std::string program = "#!/bin/sh\necho 'error while loading shared libraries: libx.so.1' >&2\nexit 127\n";
  for (const std::string& input : {answer_with(program), std::string()})
    EXPECT_THAT(pushed(digest_of(program), input),
                testing::EndsWith("\nUDTCAT UNFIT error while loading shared libraries: libx.so.1\n"));
}

/// Proves: rsh.pushed-program-own
TEST_F(BootstrapScripts, RunNoProgramThatIsNotTheAnnouncedOne) {
  const std::string output = pushed(std::string(64, '0'), answer_with("echo bad"));
  EXPECT_THAT(output, testing::HasSubstr("could not put the program"));
  EXPECT_TRUE(cache.files().empty()) << "nothing is left";
}

}  // namespace
}  // namespace udtcat::ssh
