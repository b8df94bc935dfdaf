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
                                HasSubstr("sends at most 400.00 Mbit/s"), HasSubstr("key: that of " + key_file_)));
}

TEST_F(Config, IsOverriddenByTheOptionsBehindIt) {
  const Ran ran = check("listen 9000\nto db:1\nrate 400M\nprotect clear", {"--check", "--rate", "1G"});
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("sends at most 1.00 Gbit/s"));
}

TEST_F(Config, ServesADirectoryOrListedCommands) {
  home_.write("list", "a = /bin/true\nb = /bin/true\n");
  EXPECT_THAT(
      check("command rsh-daemon\nlisten 9000\nallow " + (home_ / "list").string() + "\nkey-file " + key_file_).output,
      HasSubstr("runs for them the 2 commands of "));
  EXPECT_THAT(check("command gridftp serve\nroot /srv").output,
              AllOf(HasSubstr("serves /srv at tcp 127.0.0.1:2811"), HasSubstr("read-only")));
  EXPECT_THAT(check("command gridftp gateway\nhost far\nport 9\nfrom 2811\nkey-file " + key_file_).output,
              HasSubstr("carries clients of tcp 127.0.0.1:2811"));
}

struct ConfigMistake {
  std::string name;
  std::string text;
  std::string said;
};
void PrintTo(const ConfigMistake& mistake, std::ostream* out) { *out << mistake.name; }

class MistakeInAConfig : public Config, public testing::WithParamInterface<ConfigMistake> {};

TEST_P(MistakeInAConfig, IsNamedWithItsLineAndExitsWithTwo) {
  const Ran ran = check(GetParam().text);
  EXPECT_EQ(ran.status, kUsage);
  EXPECT_THAT(ran.errors, HasSubstr("test.conf" + GetParam().said));
}

const std::vector<ConfigMistake> kConfigMistakes = {
    {"UnknownOption", "listen 9\n\nrhate 1M", ":3: option \"--rhate=1M\": unknown to udtcat"},
    {"Value", "rate fast\nlisten 9", ":1: --rate \"fast\": allowed: bits per second"},
    {"NoValue", "listen 9\nrate\nverbose", ":2: option --rate: needs a value"},
    {"Port", "listen 90000", ":1: -l \"90000\": allowed: [ADDR:]PORT"},
    {"WrongEnd", "listen 1\nto x:1\nonce", ":3: --once: allowed with HOST PORT"},
    {"Command", "\ncommand gridftp srve", ":2: there is no command \"gridftp srve\""},
    {"Dashes", "--listen 9", ":1: \"--listen\" is written without dashes here"},
    {"Binary", std::string("listen 9\n\0", 10), ":2: it has a control character"},
    {"Empty", "", ": no arguments"},
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
