// SPDX-License-Identifier: Apache-2.0
#include "forward/forward_options.hpp"

#include <gtest/gtest.h>

#include <udtcat/options.hpp>

namespace udtcat::forward {
namespace {

TEST(ServiceOption, IsAnAddressOrAPathWithANameOrWithout) {
  const auto plain = service_value("localhost:5432").value();
  EXPECT_EQ(plain.name, "");
  EXPECT_EQ(shown(plain.address), "tcp localhost:5432");
  const auto named = service_value("db=[::1]:5432").value();
  EXPECT_EQ(named.name, "db");
  EXPECT_EQ(shown(named.address), "tcp [::1]:5432");
  EXPECT_EQ(shown(service_value("web=unix:/run/web.sock").value().address), "unix /run/web.sock");
  EXPECT_EQ(shown(service_value("unix:/run/a=b").value().address), "unix /run/a=b");
}

TEST(ServiceOption, SaysWhatIsAllowed) {
  for (const std::string text : {"", "5432", "db=", "=host:1", "d b=host:1", "host:0",
                                 "db=unix:", "unix:", "a23456789012345678901234567890123=host:1"})
    EXPECT_EQ(service_value(text).error().message(), "--to \"" + text +
                                                         "\": allowed: [NAME=]HOST:PORT or [NAME=]unix:PATH, as in "
                                                         "localhost:80, db=[::1]:5432");
  EXPECT_FALSE(service_value("unix:" + std::string(108, 'x')));
}

TEST(LocalListenerOption, IsAtLoopbackUnlessItSaysOtherwise) {
  EXPECT_EQ(shown(local_listener_value("5432").value().address), "tcp localhost:5432");
  EXPECT_EQ(shown(local_listener_value("192.0.2.1:80=web").value().address), "tcp 192.0.2.1:80");
  EXPECT_EQ(local_listener_value("*:5432").value().address.tcp.host, "") << "the wildcard, which was asked for";
}

TEST(LocalListenerOption, OfAPortAloneIsAtBothLoopbacks) {
  const auto listener = local_listener_value("5432").value();
  const auto both = resolve_local_listener(listener, AddressFamily::any).value().tcp;
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].to_string(), "127.0.0.1:5432");
  EXPECT_EQ(both[1].to_string(), "[::1]:5432");
  EXPECT_EQ(resolve_local_listener(listener, AddressFamily::ipv6).value().tcp, std::vector{both[1]}) << "-6";
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

TEST(ServiceOptions, KeepTheTcpPortOfTheListenerWhereItIsTheirs) {
  const auto kind_with = [](const char* service, const char* listener) {
    ForwardOptions options;
    options.listens = true;
    options.local.port = 5432;
    if (service != nullptr) options.services.push_back(service_value(service).value());
    if (listener != nullptr) options.listeners.push_back(local_listener_value(listener).value());
    leave_tcp_port_to_its_user(options);
    return options.transport.kind;
  };
  for (const char* own : {"localhost:5432", "127.0.0.2:5432", "db=[::1]:5432"})
    EXPECT_EQ(kind_with(own, nullptr), TransportKind::native) << own;
  for (const char* other : {"localhost:5433", "db:5432", "unix:/5432"})
    EXPECT_EQ(kind_with(other, nullptr), TransportKind::automatic) << other;
  EXPECT_EQ(kind_with(nullptr, "5432"), TransportKind::native);
  EXPECT_EQ(kind_with(nullptr, "*:5432"), TransportKind::native);
  EXPECT_EQ(kind_with(nullptr, "5433"), TransportKind::automatic);
}

TEST(LocalListenerOption, NamesTheServiceBehindItsLastEqualsSign) {
  EXPECT_EQ(local_listener_value("5432=db").value().service, "db");
  const auto path = local_listener_value("unix:/tmp/a=b/c").value();
  EXPECT_EQ(path.service, "") << "no name has a slash";
  EXPECT_EQ(path.address.unix_path, "/tmp/a=b/c");
  const auto named = local_listener_value("unix:/tmp/x=web").value();
  EXPECT_EQ(named.service, "web");
  EXPECT_EQ(named.address.unix_path, "/tmp/x");
}

TEST(LocalListenerOption, SaysWhatIsAllowed) {
  for (const std::string text : {"", "=web", "host:", "unix:", "80=a b", "65536"})
    EXPECT_EQ(
        local_listener_value(text).error().message(),
        "--from \"" + text + "\": allowed: [ADDR:]PORT[=NAME] or unix:PATH[=NAME], as in 5432, 127.0.0.1:8080=web");
}

TEST(ServiceOptions, HaveEachNameOnceAndAreNotTooMany) {
  std::vector<ServiceOption> services{{.name = "db", .address = {}}, {.name = "", .address = {}}};
  EXPECT_TRUE(check_services(services));
  services.push_back({.name = "db", .address = {}});
  EXPECT_EQ(check_services(services).error().message(), "--to: allowed: one of the name db");
  services.back().name = "";
  EXPECT_EQ(check_services(services).error().message(),
            "--to: allowed: one without a name; the others are NAME=HOST:PORT");
  services.clear();
  for (std::size_t i = 0; i <= kMaxServices; ++i) services.push_back({.name = "s" + std::to_string(i), .address = {}});
  EXPECT_EQ(check_services(services).error().message(), "--to: allowed: 16 of them, 17 were given");
}

}  // namespace
}  // namespace udtcat::forward
