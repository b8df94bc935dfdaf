// SPDX-License-Identifier: Apache-2.0
#include "rsh/bootstrap_script.hpp"

#include <array>
#include <cstdio>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temp_dir.hpp"
#include "tool/shell_words.hpp"

namespace udtcat::rsh {
namespace {

/// The output of a shell that is given the script, as sshd gives it.
std::string run(const std::string& shell, const std::string& script, const std::string& input = "") {
  const std::string command =
      fmt::format("printf %s {} | HOME=/nonexistent {} -c {} 2>&1", tool::quoted(input), shell, tool::quoted(script));
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> piece{};
  for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    output.append(piece.data(), got);
  ::pclose(pipe);
  return output;
}

TEST(BootstrapScripts, RunTheProgramWithItsOptions) {
  for (const char* shell : {"sh", "bash"})
    EXPECT_EQ(
        run(shell, bootstrap_script(
                       {.program = "echo", .options = {"--port=9000", "a b", "$HOME", "it's", "\"`x`\\"}, .push = {}})),
        "rsh-server --port=9000 a b $HOME it's \"`x`\\\n");
}

TEST(BootstrapScripts, SayWhatIsMissing) {
  const std::string output = run("sh", bootstrap_script({.program = "/no/such/udtcat", .options = {}, .push = {}}));
  EXPECT_TRUE(output.starts_with("\nUDTCAT MISSING Linux ")) << output;
}

TEST(BootstrapScripts, TakeAProgramAndRunIt) {
  const std::string program = "#!/bin/sh\necho pushed \"$@\"\n";  // also where it is asked for its version
  const test::TempDir cache;
  // sha256sum of the program above
  const std::string digest =
      run("sh", fmt::format("printf %s {} | sha256sum | cut -c1-64", tool::quoted(program))).substr(0, 64);
  const BootstrapRequest request{.program = "/no/such/udtcat",
                                 .options = {"--port=1"},
                                 .push = PushedProgram{.size_bytes = program.size(), .sha256_hex = digest}};
  const std::string script =
      fmt::format("export XDG_CACHE_HOME={}; {}", cache.path().string(), bootstrap_script(request));
  EXPECT_TRUE(run("sh", script, program).ends_with("pushed rsh-server --port=1\n"));
  EXPECT_EQ(run("sh", script), "pushed rsh-server --port=1\n") << "it is there now";
}

TEST(BootstrapScripts, SayThatAPushedProgramLacksItsLibraries) {
  const std::string program = "#!/bin/sh\necho 'error while loading shared libraries: libx.so.1' >&2\nexit 127\n";
  const test::TempDir cache;
  const std::string digest =
      run("sh", fmt::format("printf %s {} | sha256sum | cut -c1-64", tool::quoted(program))).substr(0, 64);
  const BootstrapRequest request{.program = "/no/such/udtcat",
                                 .options = {},
                                 .push = PushedProgram{.size_bytes = program.size(), .sha256_hex = digest}};
  const std::string script =
      fmt::format("export XDG_CACHE_HOME={}; {}", cache.path().string(), bootstrap_script(request));
  for (const std::string& input : {program, std::string()}) {
    const std::string output = run("sh", script, input);
    EXPECT_NE(output.find("does not run here: error while loading shared libraries: libx.so.1"), std::string::npos)
        << output;
    EXPECT_NE(output.find("udtcat-static"), std::string::npos) << output;
  }
}

TEST(BootstrapScripts, RunNoProgramThatIsNotTheAnnouncedOne) {
  const test::TempDir cache;
  const BootstrapRequest request{.program = "/no/such/udtcat",
                                 .options = {},
                                 .push = PushedProgram{.size_bytes = 8, .sha256_hex = std::string(64, '0')}};
  const std::string script =
      fmt::format("export XDG_CACHE_HOME={}; {}", cache.path().string(), bootstrap_script(request));
  const std::string output = run("sh", script, "echo bad");
  EXPECT_NE(output.find("could not put the program"), std::string::npos) << output;
  EXPECT_TRUE(cache.files().empty()) << "nothing is left";
}

}  // namespace
}  // namespace udtcat::rsh
