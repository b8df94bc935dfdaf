// SPDX-License-Identifier: Apache-2.0
#include "rsh/bootstrap_script.hpp"

#include <array>
#include <cstdio>
#include <span>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "rsh/pushed_program.hpp"
#include "support/temp_dir.hpp"
#include "tool/shell_words.hpp"

namespace udtcat::rsh {
namespace {

/// The output of a shell that is given the script, as sshd gives it.  input   a format of printf(1)
std::string run(const std::string& shell, const std::string& script, const std::string& input = "") {
  const std::string command =
      fmt::format("printf {} | HOME=/nonexistent {} -c {} 2>&1", tool::quoted(input), shell, tool::quoted(script));
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> piece{};
  for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    output.append(piece.data(), got);
  ::pclose(pipe);
  return output;
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
  [[nodiscard]] std::string pushed(const std::string& digest, const std::string& input) const {
    return run("sh",
               fmt::format("export XDG_CACHE_HOME={}; {}", cache.path().string(),
                           bootstrap_script({.program = kNone, .options = {"--port=1"}, .pushed_sha256 = digest})),
               input);
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

TEST_F(BootstrapScripts, RunTheProgramWithItsOptions) {
  for (const char* shell : {"sh", "bash"})
    EXPECT_EQ(run(shell, bootstrap_script({.program = "echo",
                                           .options = {"--port=9000", "a b", "$HOME", "it's", "\"`x`\\"},
                                           .pushed_sha256 = {}})),
              "rsh-server --port=9000 a b $HOME it's \"`x`\\\n");
}

TEST_F(BootstrapScripts, SayWhatIsMissingAndRunNothingUnasked) {
  const std::string output = run("sh", bootstrap_script({.program = kNone, .options = {}, .pushed_sha256 = {}}));
  EXPECT_THAT(output, testing::MatchesRegex("\nUDTCAT MISSING Linux [^\n]*\n"));
}

TEST_F(BootstrapScripts, RunTheCommandByteForByteWhereTheyAreAnsweredSo) {
  const std::string command =
      " printf '%s|' \"a  b\" 'back\\slash \\0101' \"$((1+1))\" 'new\nline' '\xc3\xbc%' # end\n\n";
  const std::string plain = run("sh", command);
  ASSERT_NE(plain, "");
  for (const char* shell : {"sh", "bash"})
    EXPECT_EQ(run(shell, bootstrap_script({.program = kNone, .options = {}, .pushed_sha256 = {}}) + " | sed 1,2d",
                  as_format(run_answer(command))),
              plain);
}

TEST_F(BootstrapScripts, TakeAProgramOnceAndRunIt) {
  const std::string program = "#!/bin/sh\necho pushed \"$@\"\n";  // also where it is asked for its version
  EXPECT_TRUE(pushed(digest_of(program), answer_with(program)).ends_with("\npushed rsh-server --port=1\n"));
  EXPECT_EQ(pushed(digest_of(program), ""), "pushed rsh-server --port=1\n") << "it is there now";
  const auto kept = cache.path() / "udtcat" / digest_of(program);
  EXPECT_EQ(std::filesystem::status(kept).permissions(), std::filesystem::perms::owner_all);
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
            fmt::format("export PATH={}:$PATH XDG_CACHE_HOME={}; {}", tools.path().string(), own_cache.path().string(),
                        bootstrap_script({.program = kNone, .options = {}, .pushed_sha256 = digest_of(program)})),
            answer_with(program));
    EXPECT_THAT(output, testing::MatchesRegex("\nUDTCAT MISSING [^\n]*\n\nUDTCAT HAVE 5\nchildren: \\.\n")) << shell;
  }
}

TEST_F(BootstrapScripts, LeaveNobodyWhoSpeaksWhenTheyAreKilled) {
  const std::string script = bootstrap_script({.program = kNone, .options = {}, .pushed_sha256 = std::string(64, '0')});
  const std::string output =
      run("sh",
          fmt::format("export XDG_CACHE_HOME={}; {{ cat; sleep 3; }} | timeout --foreground -s KILL 0.5 sh -c {}",
                      cache.path().string(), tool::quoted(script)),
          "PUSH 1000\\n");
  EXPECT_THAT(output, testing::AllOf(testing::HasSubstr("MISSING"), testing::Not(testing::HasSubstr("HAVE"))));
}

TEST_F(BootstrapScripts, TrustNoDirectoryOfAnotherUser) {
  const std::string program = "#!/bin/sh\necho pushed\n";
  const std::string place = (cache.path() / "udtcat" / digest_of(program)).string();
  run("sh", fmt::format("mkdir -p {0} && printf %s {1} > {0}/udtcat && chmod 755 {0}/udtcat && chown 65534 {0}", place,
                        tool::quoted(program)));
  EXPECT_THAT(pushed(digest_of(program), answer_with(program)),
              testing::AllOf(testing::HasSubstr("UDTCAT UNFIT " + place + " is not this user's"),
                             testing::Not(testing::HasSubstr("pushed\n"))));
}

TEST_F(BootstrapScripts, SayThatAPushedProgramLacksItsLibraries) {
  const std::string program = "#!/bin/sh\necho 'error while loading shared libraries: libx.so.1' >&2\nexit 127\n";
  for (const std::string& input : {answer_with(program), std::string()})
    EXPECT_THAT(pushed(digest_of(program), input),
                testing::EndsWith("\nUDTCAT UNFIT error while loading shared libraries: libx.so.1\n"));
}

TEST_F(BootstrapScripts, RunNoProgramThatIsNotTheAnnouncedOne) {
  const std::string output = pushed(std::string(64, '0'), answer_with("echo bad"));
  EXPECT_THAT(output, testing::HasSubstr("could not put the program"));
  EXPECT_TRUE(cache.files().empty()) << "nothing is left";
}

}  // namespace
}  // namespace udtcat::rsh
