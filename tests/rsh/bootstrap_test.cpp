// SPDX-License-Identifier: Apache-2.0
#include "rsh/bootstrap.hpp"

#include <gmock/gmock.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/loop.hpp"

namespace udtcat::rsh {
namespace {

using namespace bridge;  // the words of loop.hpp

/// Bootstrap with `script` in place of ssh.
class Bootstraps : public testing::Test {
 protected:
  void start(const std::string& script, std::optional<PushedProgram> program) {
    auto started = Bootstrap::start(
        io, {.program = "sh", .words = {"sh", "-c", script}, .pipe_stderr = false, .core_limit_bytes = {}},
        std::move(program),
        {.on_connect = [this](const ConnectLine&) { connected = true; },
         .on_absent = [this](const Error& why) { absent = why.message(); },
         .on_push = [this](const Bootstrap::Push& push) { pushed_bytes = push.packed_bytes; },
         .on_have = [this](std::uint64_t bytes) { have.push_back(bytes); },
         .on_noise = [this](const std::string& text) { noise += text; },
         .on_failure = [this](const Error&, std::optional<int> ended_with) { status = ended_with; }});
    ASSERT_TRUE(started);
    bootstrap = std::move(*started);
  }
  bool until(const std::function<bool()>& holds) { return run_until(io, holds, std::chrono::seconds(10)); }

  boost::asio::io_context io;
  std::unique_ptr<Bootstrap> bootstrap;
  std::string absent;
  std::string noise;
  bool connected = false;
  std::size_t pushed_bytes = 0;
  std::vector<std::uint64_t> have;
  std::optional<int> status;
};

TEST_F(Bootstraps, FailWithTheStatusOfSshWhereItsOutputEndsAmidThePush) {
  const auto random = random_bytes(4'000'000);  // which cannot be packed
  start("printf '\\nUDTCAT MISSING Linux x86_64\\n'; exec >&-; head -c 4000000 >/dev/null; exit 3",
        PushedProgram{.system = "Linux x86_64", .bytes = {random.begin(), random.end()}});
  ASSERT_TRUE(until([&] { return status.has_value(); }));
  EXPECT_EQ(status, 3);
  EXPECT_GT(pushed_bytes, 4'000'000U);
}

TEST_F(Bootstraps, SayHowMuchOfTheProgramIsThereBeforeAndAfterAllWasWritten) {
  const auto random = random_bytes(1'000'000);  // more than a pipe holds
  start(
      "printf '\\nUDTCAT HAVE 1\\nUDTCAT MISSING Linux x86_64\\n'; read -r a; printf '\\nUDTCAT HAVE 0\\n\\nUDTCAT "
      "HAVE "
      "400000\\n'; head -c ${a#PUSH } >/dev/null; sleep 0.2; "
      "printf '\\nUDTCAT HAVE 2000000\\n\\nUDTCAT HAVE 900000\\n\\nUDTCAT CONNECT 1 9000 " +
          Key::generate().value().reveal_text() + " -\\n'; cat",
      PushedProgram{.system = "Linux x86_64", .bytes = {random.begin(), random.end()}});
  ASSERT_TRUE(until([&] { return connected; }));
  EXPECT_EQ(have, (std::vector<std::uint64_t>{0, 400'000, 900'000}));
  EXPECT_EQ(noise, "\nUDTCAT HAVE 1\n\nUDTCAT HAVE 2000000\n")
      << "nothing was pushed yet; it cannot have more than all";
}

TEST_F(Bootstraps, SayThatThereIsNoProgramAndHowToGetOne) {
  start("printf '\\nUDTCAT MISSING Linux x86_64\\n'; cat", std::nullopt);
  ASSERT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_THAT(absent, testing::AllOf(testing::HasSubstr("Linux x86_64"), testing::HasSubstr("--push")));
}

TEST_F(Bootstraps, RunNoSubsystemOfUdtcatWhereThereIsNone) {
  start("printf '\\nUDTCAT MISSING Linux x86_64\\n'; cat", std::nullopt);
  ASSERT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_TRUE(bootstrap->can_run(RunCommand{"true"}) && bootstrap->can_run(RunSubsystem{"sftp"}));
  EXPECT_FALSE(bootstrap->can_run(RunSubsystem{"trees"}));
  EXPECT_FALSE(bootstrap->fall_back(RunSubsystem{"trees"}, false, [](int) {}));
}

TEST_F(Bootstraps, RunAnySubsystemWhereThereIsAFarEnd) {
  start("printf '\\nUDTCAT CONNECT 1 9000 " + Key::generate().value().reveal_text() + " -\\n'; cat", std::nullopt);
  ASSERT_TRUE(until([&] { return connected; }));
  EXPECT_TRUE(bootstrap->can_run(RunSubsystem{"trees"}));
}

TEST_F(Bootstraps, SendNoProgramToAnotherSystem) {
  start("printf '\\nUDTCAT MISSING Linux aarch64\\n'; cat", PushedProgram{.system = "Linux x86_64"});
  ASSERT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_THAT(absent, testing::HasSubstr("this one runs on Linux x86_64, not on Linux aarch64"));
  EXPECT_EQ(pushed_bytes, 0U);
}

TEST_F(Bootstraps, SayWhyAPushedProgramDoesNotRun) {
  start("printf '\\nUDTCAT UNFIT libx.so.1: cannot open\\n'; cat", PushedProgram{.system = "Linux x86_64"});
  ASSERT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_THAT(absent, testing::AllOf(testing::HasSubstr("libx.so.1"), testing::HasSubstr("udtcat-static")));
}

}  // namespace
}  // namespace udtcat::rsh
