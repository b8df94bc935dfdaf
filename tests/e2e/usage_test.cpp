// SPDX-License-Identifier: Apache-2.0
/// The answer to a request that cannot be met: a message that names it, and the status of the table.
#include <algorithm>

#include <gmock/gmock.h>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

struct Mistake {
  std::string name;
  Arguments args;
  Arguments named;  ///< what the message must contain: the option and the value
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class UsageMistake : public UdtcatTest, public testing::WithParamInterface<Mistake> {};

TEST_P(UsageMistake, IsNamedAndExitsWithTwo) {
  Process process = udtcat(GetParam().args, {.key = key_});
  expect_exit(process, kUsage, kAtOnce);
  for (const std::string& text : GetParam().named) expect_says(process, text);
}

const std::vector<Mistake> kMistakes = {
    {"NothingAsked", {}, {"udtcat -l 9000", "--to", "udr rsync", "gridftp get", "keygen"}},
    {"CommandMistyped", {"keygne"}, {"keygne", "did you mean keygen?"}},
    {"CommandOfTwoWordsMistyped", {"statsu", "--json"}, {"did you mean status?"}},
    {"CommandBegun", {"stat"}, {"did you mean status?"}},
    {"OptionWithoutDashes", {"version"}, {"version is not a command: did you mean --version?"}},
    {"CheckWithoutDashes", {"check"}, {"check is not a command: did you mean --check?"}},
    {"ProgramOfUdr", {"rsync", "-a", "a", "b"}, {"rsync is not a command: did you mean udr rsync, which runs it"}},
    {"ProgramOfUdrWithoutOptions", {"git", "clone", "far:x"}, {"did you mean udr git"}},
    {"HostNamedAsAProgramOfUdr", {"git", "9000", "--bogus"}, {"\"--bogus\": unknown"}},
    {"Forward", {"forward", "-x"}, {"forward is not a command: did you mean --from and --to, as in udtcat host 9000"}},
    {"GetOfGridftp", {"get", "ftp://h/f"}, {"did you mean udtcat gridftp get?"}},
    {"SendOfNothingBySsh", {"send", "far:d"}, {"a PATH is missing, as in udtcat send PATH far:d"}},
    {"VerbThatIsNone", {"gridftp", "ls", "ftp://h/"}, {"gridftp \"ls\": there is no such verb", "get, put, copy"}},
    {"VerbMissing", {"gridftp"}, {"gridftp: a verb is missing"}},
    {"TopicThatNoDocumentHas", {"help", "trees"}, {"\"trees\": no such topic", "udtcat help gridftp get\n"}},
    {"CommandThatIsNone", {"doctor"}, {"the commands are keygen, status, ", "a port is missing"}},
    {"PortAsOfNetcat", {"-lp", "9000"}, {"-p", "the port follows -l itself"}},
    {"CommandMistypedBeforeItsOptions", {"recieve", "-l", "9000"}, {"did you mean receive?"}},
    {"FileOfAKey", {"keygen", "key"}, {"udtcat keygen > key", "udtcat keygen --pair key"}},
    {"DeleteOfRsync", {"send", "--delete", "d", "far:"}, {"--delete", "udr rsync --delete does that"}},
    {"ExcludeOfRsync", {"send", "--exclude=*.o", "d", "far:"}, {"udr rsync --exclude does that"}},
    {"DirectoryHere", {"receive", "far:x", "here"}, {"\"here\"", "--into DIRECTORY"}},
    {"VerbMistyped",
     {"gridftp", "gte", "ftp://h/f", "."},
     {"gridftp \"gte\": there is no such verb", "did you mean get?"}},
    {"NeitherCommandNorPort", {"upload", "file"}, {"\"upload file\"", "HOST PORT", "udtcat help"}},
    {"SendToNobody", {"send", "file"}, {"\"file\"", "HOST PORT", "udtcat send --help"}},
    {"TopicMistyped", {"help", "kesy"}, {"kesy", "did you mean keys?", "forward, service, config, why, exit"}},
    {"RateOfTcp",
     {"gridftp", "put", "--over", "tcp", "--rate", "1M", "f", "ftp://127.0.0.1/f"},
     {"--rate", "--over session"}},
    {"BlockTooSmall", {"127.0.0.1", "9", "--block", "1"}, {"--block", "1", "4"}},
    {"LimitsWithoutListening", {"127.0.0.1", "9", "--to", "127.0.0.1:80", "--max-peers", "1"}, {"--max-peers", "-l"}},
};
INSTANTIATE_TEST_SUITE_P(Of, UsageMistake, testing::ValuesIn(kMistakes),
                         [](const auto& chosen) { return chosen.param.name; });

class Usage : public UdtcatTest {};

TEST_F(Usage, AHostThatIsNotFoundMayHaveBeenMeantForACommand) {
  for (const auto& [typed, meant] :
       {std::pair("recieve", "did you mean receive?"), std::pair("listn", "udtcat -l 9000?")}) {
    Process process = udtcat({typed, "9000"}, {.key = ""});
    expect_exit(process, kUnreachable, patience(20s));
    expect_says(process, meant);
  }
}

TEST_F(Usage, VersionIsPrintedOnStdout) {
  const Ran ran = run({.argv = {UDTCAT_BINARY, "--version"}});
  EXPECT_EQ(ran.status, kSuccess);
  EXPECT_THAT(ran.output, ContainsRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(Usage, HelpTellsEveryExitStatus) {
  const Ran ran = run({.argv = {UDTCAT_BINARY, "--help"}});
  EXPECT_EQ(ran.status, kSuccess);
  for (const int status : {kSuccess, kUsage, kUnreachable, kRefused, kPeerLost, kTampered, kReadOrWriteFailed,
                           kInterrupted, kTerminated}) {
    EXPECT_THAT(ran.output, ContainsRegex("\n *" + std::to_string(status) + "  "));
  }
}

TEST_F(Usage, EveryCommandHasAHelpOfItsOwn) {
  for (const char* command : {"rsh", "gridftp"}) {
    const Ran ran = run({.argv = {UDTCAT_BINARY, command, "--help"}});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    EXPECT_THAT(ran.output, StartsWith("udtcat " + std::string(command) + ": "));
  }
}

TEST_F(Usage, HelpOnATopicIsOneScreen) {
  const auto help = [](Arguments topic) {
    topic.insert(topic.begin(), {UDTCAT_BINARY, "help"});
    return run({.argv = topic});
  };
  EXPECT_EQ(help({}).output, run({.argv = {UDTCAT_BINARY, "--help"}}).output);
  EXPECT_EQ(help({"rsh"}).output, run({.argv = {UDTCAT_BINARY, "rsh", "--help"}}).output);
  EXPECT_EQ(help({"gridftp", "gateway"}).output, run({.argv = {UDTCAT_BINARY, "gridftp", "gateway", "--help"}}).output);
  for (const char* topic : {"keys", "forward", "service", "config", "why", "exit"}) {
    const Ran ran = help({topic});
    EXPECT_EQ(ran.status, kSuccess) << topic;
    EXPECT_LE(std::ranges::count(ran.output, '\n'), 24) << topic;
  }
}

TEST_F(Usage, AHostMayBeCalledHelp) {
  const Ran ran = run({.argv = {UDTCAT_BINARY, "help", "9", "--check", "--protect", "clear"}});
  EXPECT_THAT(ran.output, StartsWith("connects to udp help:9\n")) << ran.errors;
}

TEST_F(Usage, VersionHasAShortName) {
  EXPECT_EQ(run({.argv = {UDTCAT_BINARY, "-V"}}).output, run({.argv = {UDTCAT_BINARY, "--version"}}).output);
}

TEST_F(Usage, KeygenPrintsADifferentKeyEachTime) {
  EXPECT_THAT(key_, MatchesRegex("udtcat1-[A-Za-z0-9_-]{48}"));
  EXPECT_NE(make_key(), key_);
}

TEST_F(Usage, AnOrdinaryStartDoesNotLoadLibudtWhichSleeps) {
  const Ran libraries = run({.argv = {"ldd", UDTCAT_BINARY}});
  ASSERT_EQ(libraries.status, kSuccess) << libraries.output;
  EXPECT_THAT(libraries.output, Not(HasSubstr("libudt")));
}

TEST_F(Usage, TheLackOfTheProgramWithLibudtIsNamedWithTheWayAround) {
  const TempDir alone;
  const auto program = alone.path() / "udtcat";
  std::filesystem::copy_file(UDTCAT_BINARY, program);
  const Ran ran = run({.argv = {program, "127.0.0.1", "9", "--transport", "libudt"}});
  EXPECT_EQ(ran.status, kUsage);
  EXPECT_THAT(ran.errors, AllOf(HasSubstr(program.string() + "-libudt"), HasSubstr("native")));
}

TEST_F(Usage, AProgramWithLibudtThatHasNoneIsNotRunForEver) {
  const TempDir place;
  std::filesystem::copy_file(UDTCAT_BINARY, place.path() / "udtcat");
  const auto other = place.path() / "udtcat-libudt";
  const auto expect_named = [&] {
    const Ran ran = run({.argv = {place.path() / "udtcat", "127.0.0.1", "9", "--transport", "libudt"}});
    EXPECT_EQ(ran.status, kUsage);
    EXPECT_THAT(ran.errors, HasSubstr("it is this program, which has no libudt"));
  };
  std::filesystem::create_symlink("udtcat", other);
  expect_named();
  std::filesystem::remove(other);
  std::filesystem::copy_file(UDTCAT_BINARY, other);
  expect_named();
}

TEST_F(Usage, NameWithoutAnAddressIsUnreachable) {
  Process process = udtcat({"no-such-host.invalid", "9"}, {.key = key_});
  expect_exit(process, kUnreachable, patience(30s));
  expect_says(process, "no-such-host.invalid");
}

TEST_F(Usage, ListeningOnAnUnresolvableNameIsUnreachable) {
  Process process = udtcat({"-l", "no-such-host.invalid:9"}, {.key = key_});
  expect_exit(process, kUnreachable, patience(30s));
  expect_says(process, "no-such-host.invalid");
}

TEST_F(Usage, PortInUseIsNamed) {
  const BoundUdp taken = bind_udp();
  port_ = taken.port;
  Process process = listen();
  expect_exit(process, kUnreachable, kAtOnce);
  expect_says(process, "127.0.0.1:" + std::to_string(taken.port));
  expect_says(process, "in use");
}

TEST_F(Usage, EntranceInUseIsNamed) {
  Process listener = listen({.args = {"--to", "127.0.0.1:9"}});
  const std::uint16_t entrance = free_port();
  const Arguments from{"--from", "127.0.0.1:" + std::to_string(entrance)};
  Process first = connect({.args = from});
  ASSERT_TRUE(accepts_tcp(entrance, kAtOnce)) << first.errors();
  Process second = connect({.args = from});
  expect_exit(second, kUnreachable, kAtOnce);
  expect_says(second, from.back());
}

TEST_F(Usage, NobodyListeningIsNoticedSoon) {
  Process process = connect();
  expect_exit(process, kUnreachable, patience(6s));
  expect_says(process, std::to_string(port_));
}

TEST_F(Usage, ConnectTimeoutBoundsTheWaitForASilentHost) {
  const BoundUdp silent = bind_udp();
  Process process = connect_to(silent.port, {.args = {"--connect-timeout", "2s"}});
  expect_exit(process, kUnreachable, patience(5s));
}

TEST_F(Usage, AcceptTimeoutBoundsTheWaitForAPeer) {
  Process process = listen({.args = {"--accept-timeout", "1s"}});
  expect_exit(process, kUnreachable, patience(4s));
}

TEST_F(Usage, AListenerThatHasAllAndWaitsForItsOwnStdinSaysSo) {
  Pipe open = make_pipe();
  const RandomFile file(1, 1000);
  Process listener = listen({.in = std::move(open.reading)});
  Process connector = connect({.in = open_for_reading(file.path())});
  EXPECT_TRUE(eventually(kAtOnce, [&] {
    return count_lines(listener, "waiting for the end of our own standard input") == 1;
  })) << listener.errors();
  expect_says(listener, "--recv-only");
  open.writing.close();
  expect_exit(listener, kSuccess);
  expect_exit(connector, kSuccess);
}

}  // namespace
}  // namespace udtcat::test::e2e
