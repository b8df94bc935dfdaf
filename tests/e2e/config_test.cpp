// SPDX-License-Identifier: Apache-2.0
/// udtcat --config FILE and --check: a command line that stands in a file.
#include <gmock/gmock.h>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/tcp_services.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Config : public UdtcatTest {
 protected:
  [[nodiscard]] Ran check(const std::string& text, Arguments more = {"--check"}) const {
    Arguments argv = {UDTCAT_BINARY, "--config", home_.write("test.conf", text)};
    argv.insert(argv.end(), more.begin(), more.end());
    return run({.argv = std::move(argv), .environment = {"HOME=" + home_.path().string()}});
  }

  const std::string key_file_ = home_.write("key", key_);
};

TEST_F(Config, CarriesAServiceAndItsOtherEnd) {
  const HttpServer http;
  ASSERT_TRUE(http.ready());
  const std::uint16_t entrance = free_port();
  const auto service =
      home_.write("service.conf", "# a service\nlisten 127.0.0.1:" + std::to_string(port_) + "\nkey-file " + key_file_ +
                                      "\nto = 127.0.0.1:" + std::to_string(http.port()) + "\n");
  const auto forward = home_.write("forward.conf", "host 127.0.0.1\nport " + std::to_string(port_) + "\nkey-file " +
                                                       key_file_ + "\nfrom " + std::to_string(entrance) + "\n");
  const Process to = udtcat({"--config", service});
  const Process from = udtcat({"--config", forward});
  ASSERT_TRUE(accepts_tcp(entrance, kAtOnce)) << from.errors() << to.errors();
  const TcpClient client(entrance, patience(20s));
  ASSERT_TRUE(client.send(HttpServer::kSmallRequest));
  EXPECT_EQ(client.receive(8), "HTTP/1.1");
}

TEST_F(Config, IsCheckedInWordsWithoutBeingCarriedOut) {
  const BoundUdp taken = bind_udp();
  const Ran ran = check("listen 127.0.0.1:" + std::to_string(taken.port) + "\nto db.invalid:5432\nkey-file " +
                        key_file_ + "\nas db\npeer web\nrate 400M\n");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("waits for peers at udp 127.0.0.1:" + std::to_string(taken.port)),
                                HasSubstr("connects streams for the service to tcp db.invalid:5432"),
                                HasSubstr("this end is called db\nthe other end has to be called web\n"),
                                HasSubstr("sends at most 400 Mbit/s"), HasSubstr("key: that of " + key_file_)));
}

TEST_F(Config, IsCheckedForWhereFiguresAreAndForTheGroupThatMayAsk) {
  const std::string service = "listen 9\nto db:1\nkey-file " + key_file_ + "\nmetrics 9190\n";
  const Ran ran = check(service);
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("metrics: for whoever connects to tcp 127.0.0.1:9190\n"));
  const Ran wrong = check(service + "status-group no-such-group\n");
  EXPECT_EQ(wrong.status, kUsage) << wrong.output;
  EXPECT_THAT(wrong.errors, AllOf(HasSubstr("test.conf: --status-group \"no-such-group\": "),
                                  HasSubstr("getent group lists those that it has")));
}

TEST_F(Config, IsOverriddenByTheOptionsBehindIt) {
  const Ran ran = check("listen 9000\nto db:1\nrate 400M\nprotect clear", {"--check", "--rate", "1G"});
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("sends at most 1.00 Gbit/s"));
}

TEST_F(Config, ServesADirectoryOrCarriesItsClients) {
  EXPECT_THAT(check("command gridftp serve\nroot /srv").output,
              AllOf(HasSubstr("serves /srv at tcp 127.0.0.1:2811"), HasSubstr("read-only")));
  EXPECT_THAT(check("command gridftp gateway\nhost far\nport 9\nfrom 2811\nkey-file " + key_file_).output,
              HasSubstr("carries clients of tcp localhost:2811"));
}

TEST_F(Config, KeepsAQuotedHash) {
  const Ran ran = check("listen 9\nexec 'grep \"#\"' # all lines with one\nkey-file " + key_file_);
  EXPECT_THAT(ran.output, HasSubstr("the command 'grep \"#\"'")) << ran.errors;
}

TEST_F(Config, HasTheKeyBesideItUnlessItNamesAnother) {
  const std::string beside = home_.write("test.key", key_);
  EXPECT_THAT(check("listen 9\nto db:1").output, HasSubstr("key: that of " + beside));
  EXPECT_THAT(check("command gridftp serve\nroot /srv").output,
              AllOf(HasSubstr("at udp port 2811"), HasSubstr("key: that of " + beside)));
  EXPECT_THAT(check("listen 9\nkey-file " + key_file_).output, HasSubstr("key: that of " + key_file_));
  EXPECT_THAT(check("listen 9", {"--check", "-k", key_file_}).output, HasSubstr("key: that of " + key_file_));
  const Ran with_environment =
      run({.argv = {UDTCAT_BINARY, "--config", home_.write("test.conf", "listen 9"), "--check"},
           .environment = {"UDTCAT_KEY=" + key_}});
  EXPECT_THAT(with_environment.output, HasSubstr("key: that of $UDTCAT_KEY"));
  std::ignore = home_.write("test.key", key_, 0644);
  EXPECT_THAT(check("listen 9").errors, AllOf(HasSubstr(beside), HasSubstr("too open")));
}

TEST_F(Config, WithAKeyBesideItCarriesCommandsThatNeedNone) {
  std::ignore = home_.write("test.key", key_);
  const Ran status = check("command status", {});
  EXPECT_EQ(status.status, kSuccess) << status.errors;
  const Ran plain = check("plain\nlisten 127.0.0.1:9");
  EXPECT_EQ(plain.status, kSuccess) << plain.errors;
}

TEST_F(Config, SaysWhatHappensWithoutAKey) {
  EXPECT_THAT(check("listen 9").output,
              HasSubstr("key: none is given; started at a terminal it shows a new one there"));
  EXPECT_THAT(check("host h:9").output, HasSubstr("key: none is given; started at a terminal it asks for it there"));
}

/// ~/.config/udtcat, whose files need not be named.
class UsersFiles : public UdtcatTest {
 protected:
  void SetUp() override { std::filesystem::create_directories(home_ / ".config/udtcat"); }
  std::filesystem::path own(const std::string& name, const std::string& text, unsigned mode = 0600) const {
    return home_.write(".config/udtcat/" + name, text, mode);
  }
  [[nodiscard]] Ran say(const std::string& line) const {
    return run({.argv = {"bash", "-c", UDTCAT_BINARY " " + line},
                .environment = {"HOME=" + home_.path().string()},
                .working_directory = home_.path()});
  }
};

TEST_F(UsersFiles, HoldTheKeyOfBothEnds) {
  own("key", key_);
  const RandomFile file(1, 100'000);
  Process listener = listen({.key = ""});
  Process connector =
      udtcat({host_ + ":" + std::to_string(port_), "-v"}, {.in = open_for_reading(file.path()), .key = ""});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  expect_says(connector, "the key is the shared key of " + (home_ / ".config/udtcat/key").string());
  EXPECT_EQ(count_lines(listener, "Key, shown only here"), 0);
}

TEST_F(UsersFiles, HoldNoKeyThatOthersCanRead) {
  own("key", key_, 0644);
  const Ran ran = say("-l 9 --check");
  EXPECT_EQ(ran.status, kUsage);
  EXPECT_THAT(ran.errors, AllOf(HasSubstr(".config/udtcat/key"), HasSubstr("too open")));
}

TEST_F(UsersFiles, LeaveFtpWithoutAKeyAsItIs) {
  own("key", key_);
  const Ran ran = say("gridftp serve --root / --check");
  EXPECT_THAT(ran.output, AllOf(HasSubstr("at tcp 127.0.0.1:2811"), HasSubstr("to everybody"), HasSubstr("no key")))
      << ran.errors;
  EXPECT_THAT(say("gridftp serve --root / --auth key --check").output, HasSubstr("key: that of "));
}

TEST_F(UsersFiles, HoldNoOptionsAnyMore) {
  own("config", "Command pipe\nrate 1M\n");
  for (const auto& [line, status] :
       {std::pair("h 9 --check", kUsage), {"send src far: --check", kUsage}, {"rsh h true", 255}}) {
    const Ran ran = say(line);
    EXPECT_EQ(ran.status, status) << line;
    EXPECT_THAT(ran.errors, HasSubstr((home_ / ".config/udtcat/config").string() + ": it is not read any more"))
        << line;
  }
  EXPECT_EQ(say("keygen").status, kSuccess);
  EXPECT_EQ(say("--version").status, kSuccess);
  own("service.conf", "listen 9\nprotect clear");
  EXPECT_EQ(say("--config .config/udtcat/service.conf --check").status, kSuccess) << "it says all";
}

struct ConfigMistake {
  std::string name;
  std::string text;
  std::string said;
};
void PrintTo(const ConfigMistake& mistake, std::ostream* out) { *out << mistake.name; }

class MistakeInAConfig : public Config, public testing::WithParamInterface<ConfigMistake> {};

TEST_P(MistakeInAConfig, IsNamedWithItsFileAndExitsWithTwo) {
  const std::string home = "HOME=" + home_.path().string();
  ASSERT_EQ(run({.argv = {UDTCAT_BINARY, "keygen", "--pair"}, .environment = {home}}).status, kSuccess);
  const Ran ran = check(GetParam().text);
  EXPECT_EQ(ran.status, kUsage);
  EXPECT_THAT(ran.errors, HasSubstr("test.conf" + GetParam().said));
}

const std::vector<ConfigMistake> kConfigMistakes = {
    {"UnknownOption", "listen 9\nlisen 8",
     ": option \"--lisen=8\": unknown to udtcat; see udtcat --help; did you mean --listen?"},
    {"Value", "rate fast\nlisten 9", ": --rate \"fast\": allowed: bits per second"},
    {"NoValue", "listen 9\nrate\nverbose", ": option --rate: needs a value"},
    {"Port", "listen 90000", ": -l \"90000\": allowed: [ADDR:]PORT"},
    {"WrongEnd", "listen 1\nto x:1\nonce", ": --once: allowed with HOST PORT"},
    {"Command", "\ncommand recieve", ": there is no command \"recieve\"; see udtcat help; did you mean receive?"},
    {"Dashes", "--listen 9", ":1: \"--listen\" is written without dashes here"},
    {"Empty", "", ": no arguments"},
    {"BothEnds", "listen 9\nhost h\nport 9", ": it listens and connects"},
    {"KeyFile", "listen 9\nkey-file nokey", ": key file \"nokey\""},
    {"PeersFile", "listen 9\npeers nolist\nto x:1", ": read nolist"},
};
INSTANTIATE_TEST_SUITE_P(Of, MistakeInAConfig, testing::ValuesIn(kConfigMistakes),
                         [](const auto& chosen) { return chosen.param.name; });

TEST_F(Config, ThatOthersMayWriteIsRefused) {
  const auto file = home_.write("open.conf", "listen 9\n", 0666);
  const Ran ran = run({.argv = {UDTCAT_BINARY, "--config", file, "--check"}});
  EXPECT_EQ(ran.status, kUsage);
  EXPECT_THAT(ran.errors, HasSubstr("chmod go-w"));
}

TEST_F(Config, WithAKeyThatCannotBeReadIsNoticedByACheck) {
  const Ran ran = check("listen 9\nkey-file /nonesuch");
  EXPECT_EQ(ran.status, kUsage);
  EXPECT_THAT(ran.errors, HasSubstr("/nonesuch"));
}

}  // namespace
}  // namespace udtcat::test::e2e
