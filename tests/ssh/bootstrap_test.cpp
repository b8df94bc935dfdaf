// SPDX-License-Identifier: Apache-2.0
#include "ssh/bootstrap.hpp"

#include <csignal>

#include <gmock/gmock.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/loop.hpp"

namespace udtcat::ssh {
namespace {

using namespace bridge;  // the words of loop.hpp

/// Bootstrap with `script` in place of ssh.
class Bootstraps : public testing::Test {
 protected:
  void start(const std::string& script, std::vector<PushedProgram> programs, const LoginTimeouts& timeout = {}) {
    auto started = Bootstrap::start(
        io, {.program = "sh", .words = {"sh", "-c", script}, .own_session = false, .core_limit_bytes = {}},
        std::move(programs),
        {.on_connect = [this](const ConnectLine&) { connected = true; },
         .on_absent = [this](const Error& why) { absent = why.message(); },
         .on_push = [this](const Bootstrap::Push& push) { pushed_bytes = push.packed_bytes; },
         .on_have = [this](std::uint64_t bytes) { have.push_back(bytes); },
         .on_noise = [this](const std::string& text) { noise += text; },
         .on_unusable_login = [this](const Bootstrap::UnusableLogin& how) { unusable = how; },
         .on_failure = [this](const Error&, std::optional<int> ended_with) { status = ended_with; }},
        timeout);
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
  std::optional<Bootstrap::UnusableLogin> unusable;
};

constexpr std::chrono::milliseconds kShort{50};
constexpr std::chrono::milliseconds kNever{600'000};
/// ssh that has logged in, to whatever `login` is.
std::string logged_in(const std::string& login) { return "echo UDTCAT LOGIN 1; " + login; }

TEST_F(Bootstraps, FailWithTheStatusOfSshWhereItsOutputEndsAmidThePush) {
  const auto random = random_bytes(4'000'000);  // which cannot be packed
  start("printf '\\nUDTCAT MISSING Linux x86_64\\n'; exec >&-; head -c 4000000 >/dev/null; exit 3",
        {PushedProgram{.system = "Linux x86_64", .bytes = {random.begin(), random.end()}}});
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
      {PushedProgram{.system = "Linux x86_64", .bytes = {random.begin(), random.end()}}});
  ASSERT_TRUE(until([&] { return connected; }));
  EXPECT_EQ(have, (std::vector<std::uint64_t>{0, 400'000, 900'000}));
  EXPECT_EQ(noise, "\nUDTCAT HAVE 1\n\nUDTCAT HAVE 2000000\n")
      << "nothing was pushed yet; it cannot have more than all";
}

TEST_F(Bootstraps, SayThatThereIsNoProgramAndHowToGetOne) {
  start("printf '\\nUDTCAT MISSING Linux x86_64\\n'; cat", {});
  ASSERT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_THAT(absent, testing::AllOf(testing::HasSubstr("Linux x86_64"), testing::HasSubstr("--push")));
}

TEST_F(Bootstraps, HandOverThePipesOfAnSshThatHasReadWhatItWasAsked) {
  start("printf '\\nUDTCAT CONNECT 1 9000 " + Key::generate().value().reveal_text() +
            " -\\n'; read -r a; echo \"$a\"; cat; exit 4",
        {});
  ASSERT_TRUE(until([&] { return connected; }));
  EXPECT_TRUE(bootstrap->has_far_end());
  bool is_sent = false;
  std::optional<int> ended_with;
  bootstrap->hand_over(
      bytes_of("asked\n"), [&] { is_sent = true; }, [&](int ended) { ended_with = ended; });
  ASSERT_TRUE(until([&] { return is_sent; }));
  EXPECT_FALSE(write_all(io, bootstrap->pipes(), bytes_of("and more")));
  EXPECT_FALSE(finish(io, bootstrap->pipes()));
  EXPECT_EQ(text_of(drain(io, bootstrap->pipes()).bytes), "asked\nand more");
  ASSERT_TRUE(until([&] { return ended_with.has_value(); }));
  EXPECT_EQ(ended_with, 4);
}

TEST_F(Bootstraps, HandOverThePipesOfAnSshThatHadEndedBefore) {
  start("printf '\\nUDTCAT CONNECT 1 9000 " + Key::generate().value().reveal_text() + " -\\n'; exit 4", {});
  ASSERT_TRUE(until([&] { return connected; }));
  ASSERT_TRUE(until([&] { return ::kill(bootstrap->ssh_pid(), 0) != 0; }));
  run_ready(io);
  std::optional<int> ended_with;
  bootstrap->hand_over(
      bytes_of("asked\n"), [] {}, [&](int ended) { ended_with = ended; });
  ASSERT_TRUE(until([&] { return ended_with.has_value(); }));
  EXPECT_EQ(ended_with, 4);
}

TEST_F(Bootstraps, KnowThatThereIsNoFarEndWhereThereIsNoUdtcat) {
  start("printf '\\nUDTCAT MISSING Linux x86_64\\n'; cat", {});
  ASSERT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_FALSE(bootstrap->has_far_end());
}

TEST_F(Bootstraps, SendNoProgramToAnotherSystem) {
  start("printf '\\nUDTCAT MISSING Linux aarch64\\n'; cat", {PushedProgram{.system = "Linux x86_64"}});
  ASSERT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_THAT(absent, testing::AllOf(testing::HasSubstr("none here for Linux aarch64"),
                                     testing::HasSubstr("put udtcat-static-aarch64 beside udtcat here")));
  EXPECT_EQ(pushed_bytes, 0U);
}

TEST_F(Bootstraps, SayWhyAPushedProgramDoesNotRun) {
  start("printf '\\nUDTCAT UNFIT libx.so.1: cannot open\\n'; cat", {PushedProgram{.system = "Linux x86_64"}});
  ASSERT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_THAT(absent, testing::AllOf(testing::HasSubstr("libx.so.1"), testing::HasSubstr("udtcat-static")));
}

TEST_F(Bootstraps, LeaveALoginThatRunsAnotherCommandToSsh) {
  start(logged_in("echo what it prints; exit 128"), {});
  ASSERT_TRUE(until([&] { return unusable.has_value(); }));
  EXPECT_EQ(unusable->status, 128);
  EXPECT_FALSE(unusable->is_shell);
  EXPECT_EQ(noise, "") << "the next ssh prints it again";
}

TEST_F(Bootstraps, LeaveALoginToSshThatEndsAsSshDoesWhereItFails) {
  start(logged_in("exit 255"), {});
  EXPECT_TRUE(until([&] { return unusable.has_value(); }));
}

TEST_F(Bootstraps, FailWhereSshFailsBeforeItsLogin) {
  start("echo some words; exit 255", {});
  ASSERT_TRUE(until([&] { return status.has_value(); }));
  EXPECT_FALSE(unusable);
  EXPECT_EQ(noise, "some words\n");
}

TEST_F(Bootstraps, FailWhereASignalToAllOfTheGroupEndsSsh) {
  for (const std::string& login : {std::string(), logged_in(""), logged_in("printf '\\nUDTCAT SCRIPT 1\\n'; ")}) {
    status.reset();
    start(login + "kill -TERM $$; sleep 60", {});
    ASSERT_TRUE(until([&] { return status.has_value(); })) << login;
    EXPECT_EQ(status, 128 + SIGTERM);
    EXPECT_FALSE(unusable) << login;
  }
}

TEST_F(Bootstraps, EndAnSshWhoseLoginIsSilent) {
  for (const char* login :
       {"exec sleep 600", "exec >&-; exec sleep 600", "trap '' TERM; while :; do sleep 600; done"}) {
    unusable.reset();
    start(logged_in(login), {}, {.silence = kShort, .unknown = kNever});
    ASSERT_TRUE(until([&] { return unusable.has_value(); })) << login;
    EXPECT_FALSE(unusable->status);
    EXPECT_NE(::kill(bootstrap->ssh_pid(), 0), 0) << "nothing may run beside the next ssh";
  }
}

TEST_F(Bootstraps, GiveUpALoginThatOnlyPrints) {
  start(logged_in("while :; do echo noise; sleep 0.01; done"), {},
        {.silence = kNever, .chatter = kShort, .unknown = kNever});
  EXPECT_TRUE(until([&] { return unusable.has_value(); }));
}

TEST_F(Bootstraps, GiveUpALoginThatPrintsWithoutEnd) {
  for (const std::string& login : {logged_in("exec yes"), std::string("exec yes")}) {
    unusable.reset();
    start(login, {}, {.silence = kNever, .chatter = kNever, .unknown = kNever});
    EXPECT_TRUE(until([&] { return unusable.has_value(); })) << login;
  }
}

TEST_F(Bootstraps, WaitForAPersonAtAPasswordForAsLongAsHeTakes) {
  start("sleep 0.5; " + logged_in("printf '\\nUDTCAT SCRIPT 1\\n\\nUDTCAT MISSING Linux x86_64\\n'; cat"), {},
        {.silence = kShort, .chatter = kShort, .unknown = kNever});
  EXPECT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_FALSE(unusable);
}

TEST_F(Bootstraps, CountAsLoggedInOverTheConnectionOfAnotherSsh) {
  start("exec sleep 600", {}, {.is_logged_in = true, .silence = kShort, .unknown = kNever});
  EXPECT_TRUE(until([&] { return unusable.has_value(); }));
}

TEST_F(Bootstraps, LetAShellBeSlowOnceTheScriptHasBegun) {
  start(logged_in("printf '\\nUDTCAT SCRIPT 1\\n'; sleep 0.5; printf '\\nUDTCAT MISSING Linux x86_64\\n'; cat"), {},
        {.silence = kShort, .chatter = kShort, .unknown = kNever});
  EXPECT_TRUE(until([&] { return !absent.empty(); }));
  EXPECT_FALSE(unusable);
}

TEST_F(Bootstraps, SayThatAShellHasStartedNoFarEnd) {
  start(logged_in("printf '\\nUDTCAT SCRIPT 1\\n'; exit 2"), {});
  ASSERT_TRUE(until([&] { return unusable.has_value(); }));
  EXPECT_TRUE(unusable->is_shell);
  EXPECT_EQ(unusable->status, 2);
}

TEST_F(Bootstraps, EndSshWithinItsGraceAndWaitForIt) {
  start("trap '' TERM; printf '\\nUDTCAT MISSING Linux x86_64\\n'; while :; do sleep 600; done", {});
  ASSERT_TRUE(until([&] { return !absent.empty(); }));
  bool is_gone = false;
  bootstrap->end(kShort, [&] { is_gone = ::kill(bootstrap->ssh_pid(), 0) != 0; });
  EXPECT_TRUE(until([&] { return is_gone; }));
}

}  // namespace
}  // namespace udtcat::ssh
