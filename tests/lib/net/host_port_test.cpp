// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include <udtcat/endpoint.hpp>

namespace udtcat {
namespace {

struct Row {
  const char* text;
  const char* host;
  int port;
};

TEST(ParseHostPort, ReadsEveryFormThatAListenerMayHave) {
  for (const Row& row :
       {Row{"9000", "", 9000}, Row{"0", "", 0}, Row{"*:9000", "", 9000}, Row{"host:9000", "host", 9000},
        Row{"192.0.2.1:65535", "192.0.2.1", 65535}, Row{"[::1]:1", "::1", 1},
        Row{"[fe80::1%eth0]:1", "fe80::1%eth0", 1}, Row{"a-b.example.:0", "a-b.example.", 0}}) {
    const auto parsed = parse_local(row.text);
    ASSERT_TRUE(parsed) << row.text << ": " << parsed.error().message();
    EXPECT_EQ(parsed->host, row.host);
    EXPECT_EQ(parsed->port, row.port);
  }
}

TEST(ParseHostPort, RefusesOtherForms) {
  for (const char* text : {"",           ":",
                           ":9000",      "9000 ",
                           " 9000",      "host",
                           "host:",      "host:x",
                           "host:-1",    "host:+1",
                           "host:65536", "host:1x",
                           "::1:9000",   "::1",
                           "[::1]",      "[::1]:",
                           "[::1]9000",  "[]:1",
                           "[host]:1",   "ho st:1",
                           "a:b:1",      "[[::1]]:1",
                           "65536",      "99999999999999999999",
                           "0x10",       "h\xc3\xb6st:1",
                           "a]:1"}) {
    const auto parsed = parse_local(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::bad_argument);
    EXPECT_NE(parsed.error().message().find(text), std::string::npos);
  }
  EXPECT_FALSE(parse_local(std::string(254, 'a') + ":1"));
  EXPECT_TRUE(parse_local(std::string(253, 'a') + ":1"));
}

TEST(ParseHostPort, NeedsAHostAndAPortForAPeer) {
  EXPECT_TRUE(parse_peer("host:1"));
  EXPECT_TRUE(parse_peer("[::1]:1"));
  for (const char* text : {"9000", "*:9000", "host:0", "[::1]:0"}) EXPECT_FALSE(parse_peer(text)) << text;
}

TEST(ParseHostPort, ReadsWhatItIsWrittenAs) {
  for (const char* text : {"*:9000", "host:1", "[2001:db8::1]:9000"}) {
    const auto parsed = parse_local(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(to_string(*parsed), text);
  }
}

TEST(Resolve, GivesTheWildcardsIpv4First) {
  const auto found = resolve({"", 9000}, AddressFamily::any);
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->empty());
  EXPECT_EQ(found->front().to_string(), "0.0.0.0:9000");
  for (const Endpoint& each : *found) EXPECT_TRUE(each.is_wildcard());
  if (found->size() > 1) {
    EXPECT_EQ(found->at(1).to_string(), "[::]:9000");
  }
}

TEST(Resolve, KeepsToTheFamilyThatWasAskedFor) {
  for (const auto family : {AddressFamily::ipv4, AddressFamily::ipv6}) {
    const auto found = resolve({"", 1}, family);
    if (!found) continue;  // a host without IPv6
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front().family(), family);
  }
  EXPECT_FALSE(resolve({"::1", 1}, AddressFamily::ipv4));
  EXPECT_FALSE(resolve({"127.0.0.1", 1}, AddressFamily::ipv6));
}

TEST(Resolve, GivesEachAddressOfANameOnce) {
  const auto found = resolve({"localhost", 7}, AddressFamily::any);
  ASSERT_TRUE(found) << found.error().message();
  for (const Endpoint& each : *found) {
    EXPECT_TRUE(each.is_loopback());
    EXPECT_EQ(each.port(), 7);
    EXPECT_EQ(std::count(found->begin(), found->end(), each), 1);
  }
}

TEST(Resolve, NamesTheHostThatHasNoAddress) {
  const auto found = resolve({"no-such-host.invalid", 1}, AddressFamily::any);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::cannot_resolve);
  EXPECT_NE(found.error().message().find("no-such-host.invalid"), std::string::npos);
}

}  // namespace
}  // namespace udtcat
