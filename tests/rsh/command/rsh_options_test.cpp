// SPDX-License-Identifier: Apache-2.0
#include "rsh/command/rsh_options.hpp"

#include <gmock/gmock.h>

namespace udtcat::rsh {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using tool::Words;

RshOptions parse(const Words& words) {
  auto options = parse_rsh_options(words);
  EXPECT_TRUE(options) << (options ? "" : options.error().message());
  return options ? std::move(*options) : RshOptions{};
}
std::string complaint(const Words& words) {
  const auto options = parse_rsh_options(words);
  return options ? "" : options.error().message();
}

TEST(RshOptions, TellOurOptionsFromThoseOfSsh) {
  const auto options =
      parse({"--rate", "100M", "-p", "2222", "--push", "--port=9000-9010", "user@host", "ls", "--all"});
  EXPECT_THAT(options.ssh.options, ElementsAre("-p", "2222"));
  EXPECT_EQ(options.ssh.destination, "user@host");
  EXPECT_EQ(options.ssh.command, "ls --all");
  EXPECT_EQ(options.transport.rate.bits_per_second(), 100'000'000U);
  EXPECT_EQ(options.ports.last, 9010);
  EXPECT_TRUE(options.push);
  EXPECT_EQ(options.host, "host");
}

TEST(RshOptions, DoNotTakeTheValueOfAnOptionForTheHost) {
  EXPECT_EQ(parse({"-l", "me", "--udp-host", "10.0.0.1", "host", "true"}).ssh.destination, "host");
  EXPECT_EQ(parse({"-o", "--weird=x", "host", "true"}).ssh.destination, "host");
}

TEST(RshOptions, HaveTimesOfTheirOwn) {
  EXPECT_EQ(parse({"host", "true"}).connect_timeout, 3s);
  EXPECT_EQ(parse({"--connect-timeout", "9", "host", "true"}).connect_timeout, 9s);
}

TEST(RshOptions, GiveTheFarEndItsOptions) {
  const auto options = parse({"--port", "9000", "--rate", "1G", "--protect", "safe", "--verbose", "host", "true"});
  EXPECT_THAT(options.far_options,
              ElementsAre("--port=9000", "--protect=safe", "--rate=1G", "-v", "--accept-timeout=33000ms"))
      << "it stays until we have given up UDP";
}

TEST(RshOptions, ShowProgressOfTheSessionOnRequestAndThatOfAPushWhereAPersonWatches) {
  EXPECT_EQ(parse({"host", "true"}).progress, false);
  EXPECT_EQ(parse({"host", "true"}).push_progress, std::nullopt);
  EXPECT_FALSE(parse({"host", "true"}).is_chat) << "a person at a terminal watches a push";
  for (const bool wanted : {true, false}) {
    const auto options = parse({wanted ? "--progress" : "--no-progress", "host", "true"});
    EXPECT_EQ(options.progress, wanted);
    EXPECT_EQ(options.push_progress, wanted);
  }
}

TEST(RshOptions, TakeAnotherSsh) {
  EXPECT_THAT(parse({"--ssh", "ssh -i '/a b'", "host", "true"}).ssh_program, ElementsAre("ssh", "-i", "/a b"));
}

TEST(RshOptions, RefuseWhatHasNoMeaningHere) {
  EXPECT_THAT(complaint({"--to", "x:1", "host", "true"}), HasSubstr("--to"));
  EXPECT_THAT(complaint({"--protect", "clear", "host", "true"}), HasSubstr("clear"));
  EXPECT_THAT(complaint({"--no-such", "host", "true"}), HasSubstr("--no-such"));
  EXPECT_THAT(complaint({"-u", "host", "true"}), HasSubstr("-u"));
  EXPECT_THAT(complaint({"--requireudp", "host", "true"}), HasSubstr("did you mean --require-udp?"));
  EXPECT_THAT(complaint({"--ssh", "ssh 'x", "host", "true"}), HasSubstr("quotes that end"));
  EXPECT_THAT(complaint({"--ssh", "/usr/bin/ssh -4 -o", "host", "true"}), HasSubstr("a value for its -o"));
  EXPECT_THAT(parse({"--ssh", "ssh -i foo", "host", "true"}).ssh_program, ElementsAre("ssh", "-i", "foo"));
}

TEST(RshOptions, NeedACommand) {
  EXPECT_THAT(complaint({"alice@", "true"}), HasSubstr("\"alice@\": a host is missing behind the @"));
  EXPECT_THAT(complaint({"@host", "true"}), HasSubstr("a user is missing in front of the @"));
  EXPECT_EQ(complaint({"me@2001:db8::", "true"}), "");
  EXPECT_THAT(complaint({"host:", "true"}), HasSubstr("no colon follows the host here"));
  EXPECT_TRUE(parse({"host"}).is_left_to_ssh()) << "a login shell";
}

TEST(RshServerOptions, HaveALimitForWaiting) {
  EXPECT_EQ(parse_rsh_server_options({}).value().accept_timeout, 30s);
  EXPECT_FALSE(parse_rsh_server_options({"host"}));
  EXPECT_FALSE(parse_rsh_server_options({"--protect=clear"}));
  EXPECT_FALSE(parse_rsh_server_options({"--connect-timeout=1s"}));
}

}  // namespace
}  // namespace udtcat::rsh
