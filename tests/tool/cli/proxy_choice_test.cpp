// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/proxy_choice.hpp"

#include <gmock/gmock.h>

namespace udtcat::tool {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ProxyChoices, AreTheOptionBeforeTheEnvironment) {
  const ProxyEnvironment environment{.proxy = "http://other:1", .no_proxy = "a.example"};
  const auto chosen = choose_proxy("http://proxy:3128", environment).value();
  ASSERT_NE(chosen, nullptr);
  EXPECT_EQ(chosen->at.host, "proxy");
  EXPECT_EQ(chosen->exceptions, std::vector<std::string>{"a.example"});
  EXPECT_EQ(choose_proxy("", environment).value()->at.host, "other");
  EXPECT_EQ(choose_proxy("none", environment).value(), nullptr);
  EXPECT_EQ(choose_proxy("", {}).value(), nullptr);
}

TEST(ProxyChoices, AreRefusedWhereTheyAreWrittenAndPassedOverInTheEnvironment) {
  const auto refused = choose_proxy("socks5://u:secret@proxy:1", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::bad_argument);
  EXPECT_THAT(refused.error().message(), Not(HasSubstr("secret")));
  EXPECT_EQ(choose_proxy("", {.proxy = "socks5://proxy:1"}).value(), nullptr);
}

TEST(ProxyChoices, FindHostsForTcpAlone) {
  Options options;
  EXPECT_FALSE(is_found_by_proxy(options, "a.example"));
  options.transport.proxy = choose_proxy("http://proxy:1", {.proxy = {}, .no_proxy = "b.example"}).value();
  EXPECT_TRUE(is_found_by_proxy(options, "a.example"));
  EXPECT_FALSE(is_found_by_proxy(options, "b.example"));
  options.transport.kind = TransportKind::native;
  EXPECT_FALSE(is_found_by_proxy(options, "a.example"));
}

TEST(ProxyPasswords, AreNotShown) {
  EXPECT_EQ(without_password("udtcat h 1 --proxy http://u:p@h:1", "http://u:p@h:1"),
            "udtcat h 1 --proxy http://...@h:1");
  EXPECT_EQ(without_password("udtcat h 1 --proxy 'http://u:p'\\''q@h:1'", "http://u:p'q@h:1"), "udtcat");
  EXPECT_EQ(without_password("udtcat h 1 --proxy h:1", "h:1"), "udtcat h 1 --proxy h:1");
  EXPECT_EQ(without_password("udtcat h 1", ""), "udtcat h 1");
}

}  // namespace
}  // namespace udtcat::tool
