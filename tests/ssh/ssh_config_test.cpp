// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_config.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/temp_dir.hpp"

namespace udtcat::ssh {
namespace {

using namespace std::chrono_literals;

std::optional<SshConfig> asked(const std::string& script, std::chrono::milliseconds timeout = 10s) {
  return ask_ssh({.program = "sh", .words = {"sh", "-c", script}, .core_limit_bytes = {}}, timeout);
}

constexpr const char* kPlain = "user me\nhostname far.example\nport 22\n";

TEST(SshConfigTest, ResolvesAnAlias) {
  const auto config =
      parse_ssh_config(std::string(kPlain) +
                       "controlmaster false\nserveraliveinterval 0\nserveralivecountmax 3\npermitlocalcommand no\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->hostname, "far.example");
  EXPECT_FALSE(config->has_remote_command || config->has_local_command || config->has_alive_interval ||
               config->has_alive_count_max || config->may_be_master || config->is_proxied);
}

TEST(SshConfigTest, SaysWhatTheUserHasChosen) {
  const auto config =
      parse_ssh_config(std::string(kPlain) +
                       "controlmaster auto\ncontrolpath /tmp/a b\nserveraliveinterval 7\n"
                       "serveralivecountmax 2\npermitlocalcommand yes\nremotecommand tmux new\nproxyjump gate\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->control_path, "/tmp/a b");
  EXPECT_TRUE(config->has_remote_command && config->has_local_command && config->has_alive_interval &&
              config->has_alive_count_max && config->may_be_master && config->is_proxied);
}

TEST(SshConfigTest, IsNoneWithoutAHost) {
  EXPECT_FALSE(parse_ssh_config(""));
  EXPECT_FALSE(parse_ssh_config("usage: ssh [-46]\n"));
}

/// Proves: rsh.query-time
TEST(SshConfigTest, IsNoneWhereSshFailsOrTakesTooLong) {
  EXPECT_TRUE(asked("printf 'hostname h\\nport 1\\n'"));
  EXPECT_FALSE(asked("printf 'hostname h\\nport 1\\n'; exit 255"));
  EXPECT_FALSE(asked("printf 'hostname h\\nport 1\\n'; exec sleep 600", 50ms));
  EXPECT_FALSE(ask_ssh({.program = "/no/such/ssh", .words = {"ssh"}, .core_limit_bytes = {}}, 10s));
}

TEST(SshConfigTest, HasAnotherDestinationKeyWithAnotherIdentity) {
  const auto one = parse_ssh_config(std::string(kPlain) + "identityfile ~/a\n");
  const auto other = parse_ssh_config(std::string(kPlain) + "identityfile ~/backup\n");
  EXPECT_EQ(destination_key(*one, "9000", {}), destination_key(*one, "9000", {}));
  EXPECT_NE(destination_key(*one, "9000", {}), destination_key(*other, "9000", {}));
  EXPECT_NE(destination_key(*one, "9000", {}), destination_key(*one, "9001", {}));
  EXPECT_EQ(destination_key(*parse_ssh_config("hostname a b\nport 1\n"), "1", {}).find(' '), std::string::npos);
}

TEST(SshConfigTest, HasAnotherDestinationKeyInAnotherNetwork) {
  const auto address = [](const char* host) { return resolve({host, 0}, AddressFamily::any).value().front(); };
  const auto config = parse_ssh_config(kPlain);
  const auto key = [&](const std::vector<Endpoint>& own) { return destination_key(*config, "9000", own); };
  const auto home = key({address("192.0.2.7"), address("2001:db8::7")});
  EXPECT_NE(home, key({address("198.51.100.7")}));
  EXPECT_EQ(home, key({address("2001:db8::7"), address("127.0.0.1"), address("fe80::1"), address("192.0.2.7")}));
}

TEST(SshConfigTest, FindsTheConnectionOfAnotherSshWhereOneListens) {
  const test::TempDir home;
  SshConfig config;
  config.control_path = (home.path() / "cm").string();
  EXPECT_FALSE(config.finds_master());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  config.control_path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  EXPECT_TRUE(config.finds_master());
  config.shares_always = true;
  EXPECT_FALSE(config.finds_master()) << "it makes one of its own";
  config.shares_always = false;
  ::close(listener);
  EXPECT_FALSE(config.finds_master()) << "a name that was left behind";
  config.control_path.assign(500, 'x');
  EXPECT_FALSE(config.finds_master());
}

}  // namespace
}  // namespace udtcat::ssh
