// SPDX-License-Identifier: Apache-2.0
#include "forward/forward_options.hpp"

#include <gtest/gtest.h>

#include <udtcat/options.hpp>

namespace udtcat::forward {
namespace {

TEST(ServiceOption, IsAnAddressOrAPathWithANameOrWithout) {
  const auto plain = service_value("localhost:5432").value();
  EXPECT_EQ(plain.name, "");
  EXPECT_EQ(shown(plain.place), "tcp localhost:5432");
  const auto named = service_value("db=[::1]:5432").value();
  EXPECT_EQ(named.name, "db");
  EXPECT_EQ(shown(named.place), "tcp [::1]:5432");
  EXPECT_EQ(shown(service_value("web=unix:/run/web.sock").value().place), "unix /run/web.sock");
  EXPECT_EQ(shown(service_value("unix:/run/a=b").value().place), "unix /run/a=b");
}

TEST(ServiceOption, SaysWhatIsAllowed) {
  for (const std::string text : {"", "5432", "db=", "=host:1", "d b=host:1", "host:0",
                                 "db=unix:", "unix:", "a23456789012345678901234567890123=host:1"})
    EXPECT_EQ(service_value(text).error().message(), "--to \"" + text +
                                                         "\": allowed: [NAME=]HOST:PORT or [NAME=]unix:PATH, as in "
                                                         "localhost:80, db=[::1]:5432");
  EXPECT_FALSE(service_value("unix:" + std::string(108, 'x')));
}

TEST(FrontOption, IsAtLoopbackUnlessItSaysOtherwise) {
  EXPECT_EQ(shown(front_value("5432").value().place), "tcp localhost:5432");
  EXPECT_EQ(shown(front_value("192.0.2.1:80=web").value().place), "tcp 192.0.2.1:80");
  EXPECT_EQ(front_value("*:5432").value().place.tcp.host, "") << "the wildcard, which was asked for";
}

TEST(FrontOption, OfAPortAloneIsAtBothLoopbacks) {
  const auto front = front_value("5432").value();
  const auto both = resolve_front(front, AddressFamily::any).value().tcp;
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].to_string(), "127.0.0.1:5432");
  EXPECT_EQ(both[1].to_string(), "[::1]:5432");
  EXPECT_EQ(resolve_front(front, AddressFamily::ipv6).value().tcp, std::vector{both[1]}) << "-6";
}

TEST(ServiceOptions, LeaveANameToBeLookedUpForEachStream) {
  const auto services =
      resolve_services({service_value("db:5432").value(), service_value("a=[::1]:80").value()}, AddressFamily::any)
          .value();
  EXPECT_EQ(services[0].host.host, "db");
  EXPECT_TRUE(services[0].address.tcp.empty());
  EXPECT_EQ(services[1].host.host, "");
  ASSERT_EQ(services[1].address.tcp.size(), 1U);
  EXPECT_EQ(services[1].address.tcp[0].to_string(), "[::1]:80");
  EXPECT_FALSE(resolve_services({service_value("[::1]:80").value()}, AddressFamily::ipv4)) << "-4";
}

TEST(FrontOption, NamesTheServiceBehindItsLastEqualsSign) {
  EXPECT_EQ(front_value("5432=db").value().service, "db");
  const auto path = front_value("unix:/tmp/a=b/c").value();
  EXPECT_EQ(path.service, "") << "no name has a slash";
  EXPECT_EQ(path.place.unix_path, "/tmp/a=b/c");
  const auto named = front_value("unix:/tmp/x=web").value();
  EXPECT_EQ(named.service, "web");
  EXPECT_EQ(named.place.unix_path, "/tmp/x");
}

TEST(FrontOption, SaysWhatIsAllowed) {
  for (const std::string text : {"", "=web", "host:", "unix:", "80=a b", "65536"})
    EXPECT_EQ(
        front_value(text).error().message(),
        "--from \"" + text + "\": allowed: [ADDR:]PORT[=NAME] or unix:PATH[=NAME], as in 5432, 127.0.0.1:8080=web");
}

TEST(ServiceOptions, HaveEachNameOnceAndAreNotTooMany) {
  std::vector<ServiceOption> services{{.name = "db", .place = {}}, {.name = "", .place = {}}};
  EXPECT_TRUE(check_services(services));
  services.push_back({.name = "db", .place = {}});
  EXPECT_EQ(check_services(services).error().message(), "--to: allowed: one of the name db");
  services.back().name = "";
  EXPECT_EQ(check_services(services).error().message(),
            "--to: allowed: one without a name; the others are NAME=HOST:PORT");
  services.clear();
  for (std::size_t i = 0; i <= kMaxServices; ++i) services.push_back({.name = "s" + std::to_string(i), .place = {}});
  EXPECT_EQ(check_services(services).error().message(), "--to: allowed: 16 of them, 17 were given");
}

}  // namespace
}  // namespace udtcat::forward
