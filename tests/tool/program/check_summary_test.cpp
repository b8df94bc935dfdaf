// SPDX-License-Identifier: Apache-2.0
#include "tool/program/check_summary.hpp"
#include "pipe/pipe_options.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <udtcat/key.hpp>
#include <udtcat/key_pair.hpp>

#include "support/ordinary_user.hpp"
#include "support/temp_dir.hpp"
#include "tool/support/user_files.hpp"

namespace udtcat::tool {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

pipe::PipeOptions options_of(const Words& words) { return pipe::parse_pipe_options(words).value(); }

TEST(CheckSummary, SayAddressesAndServices) {
  EXPECT_THAT(pipe::mode_summary(options_of({"-l", "9000", "--to", "localhost:5432"})),
              ElementsAre("waits for peers at udp port 9000 of every address",
                          "connects streams for the service to tcp localhost:5432"));
  EXPECT_THAT(
      pipe::mode_summary(options_of({"db", "9000", "--from", "5432=db", "--to", "web=unix:/run/web"})),
      ElementsAre("connects to udp db:9000", "connects streams for the service web to unix /run/web",
                  "carries clients of tcp localhost:5432 to the service db of the other end", "dials again for ever"));
  EXPECT_THAT(pipe::mode_summary(options_of({"-l", "192.0.2.1:9", "--exec", "zfs recv p"})),
              ElementsAre("waits for peers at udp 192.0.2.1:9", "bridges the first to the command 'zfs recv p'"));
}

TEST(CheckSummary, SayNamesAndLimits) {
  const auto lines = session_summary(options_of({"h", "1", "--as", "web", "--peer", "db", "--rate", "400M", "--protect",
                                                 "safe", "--idle-timeout", "5s", "--stats", "json:10s"}));
  ASSERT_TRUE(lines) << lines.error().message();
  for (const char* line : {"this end is called web", "the other end has to be called db", "sends at most 400 Mbit/s",
                           "data: safe: authenticated, for everybody on the path to read",
                           "a peer is lost after 5 s of silence", "figures: a line each 10 s"})
    EXPECT_THAT(*lines, Contains(line));
}

TEST(CheckSummary, SayWhereFiguresAreAndWhichGroupMayAsk) {
  const std::string group = std::to_string(::getegid());
  const auto lines = session_summary(options_of({"-l", "1", "--metrics", "9190", "--status-group", group}));
  ASSERT_TRUE(lines) << lines.error().message();
  for (const std::string& line : {std::string("metrics: for whoever connects to tcp 127.0.0.1:9190"),
                                  "udtcat status: also for members of the group " + group})
    EXPECT_THAT(*lines, Contains(line));
  const auto at = session_summary(options_of({"-l", "1", "--metrics", "[2001:db8::1]:9190"}));
  EXPECT_THAT(at.value(), Contains("metrics: for whoever connects to tcp [2001:db8::1]:9190"));
  const auto all = session_summary(options_of({"-l", "1", "--metrics", "*:9190"}));
  EXPECT_THAT(all.value(), Contains("metrics: for whoever connects to tcp port 9190 of every address"));
}

TEST(CheckSummary, FindThatAGroupIsNotThere) {
  const auto none = session_summary(options_of({"-l", "1", "--status-group", "no-such-group"}));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::bad_argument);
  EXPECT_THAT(none.error().message(),
              testing::StartsWith("--status-group \"no-such-group\": this host has no such group"));
}

TEST(CheckSummary, FindThatItsUserIsNotInAGroup) {
  const test::OrdinaryUser nobody;
  const auto strange = session_summary(options_of({"-l", "1", "--status-group", "61234"}));
  ASSERT_FALSE(strange);
  EXPECT_THAT(strange.error().message(), HasSubstr("this user is not in that group"));
}

TEST(CheckSummary, OfAKeyPairNameItAndItsPeers) {
  const test::TempDir folder;
  const KeyPair pair = KeyPair::generate().value();
  const std::string file = folder.write("identity", pair.reveal_text());
  const std::string peers = folder.write("peers", "alice " + pair.public_key().to_string() + "\n");
  EXPECT_EQ(key_summary(options_of({"-l", "1", "-k", file, "--peers", peers}), {}).value(),
            "key pair: " + file + ", " + pair.public_key().to_string() + "; lets in 1 peer of " + peers);
  EXPECT_EQ(key_summary(options_of({"h", "1", "-k", file, "--peers", peers, "--peer", "alice"}), {}).value(),
            "key pair: " + file + ", " + pair.public_key().to_string() + "; the other end has to be " +
                pair.public_key().to_string());
}

TEST(CheckSummary, OfAKeyReadItAndAskNobody) {
  const test::TempDir folder;
  const test::UserFiles user;
  const std::string key = Key::generate().value().reveal_text();
  const std::string file = folder.write("key", key);
  EXPECT_EQ(key_summary(options_of({"h", "1", "-k", file}), {}).value(), "key: that of " + file);
  EXPECT_EQ(key_summary(options_of({"h", "1"}), {.environment = core::SecretText(key)}).value(),
            "key: that of $UDTCAT_KEY");
  EXPECT_EQ(key_summary(options_of({"h", "1"}), {}).value(),
            "key: none is given; started at a terminal it asks for it there, else it fails");
  EXPECT_EQ(key_summary(options_of({"-l", "1"}), {}).value(),
            "key: none is given; started at a terminal it shows a new one there, else it fails");
  EXPECT_THAT(key_summary(options_of({"-l", "1", "--protect", "clear"}), {}).value(), HasSubstr("no key"));
  EXPECT_THAT(key_summary(options_of({"h", "1", "-k", "/nonesuch"}), {}).error().message(), HasSubstr("/nonesuch"));
  const std::string own = user.write("key", key);
  EXPECT_EQ(key_summary(options_of({"h", "1"}), {}).value(), "key: that of " + own);
  EXPECT_EQ(key_summary(options_of({"-l", "1"}), {}).value(), "key: that of " + own);
  EXPECT_EQ(key_summary(options_of({"h", "1"}), {.beside_configuration = "/dev/null"}).value(),
            "key: read from /dev/null, which is no file on a disk, at the start");
  EXPECT_THAT(key_summary(options_of({"h", "1"}), {.environment = core::SecretText("x")}).error().message(),
              HasSubstr("UDTCAT_KEY"));
}

}  // namespace
}  // namespace udtcat::tool
