// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/data_port.hpp"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include "lib/bridge/asio_conversions.hpp"

namespace udtcat::gridftp {
namespace {

TEST(DataPort, SurvivesItsEncoding) {
  for (const char* text : {"127,0,0,1,11,3", "0,0,0,0,0,0", "255,255,255,255,255,255"})
    EXPECT_EQ(to_data_port(parse_data_port(text).value()), text);
  EXPECT_EQ(parse_data_port("192,0,2,1,11,3").value().to_string(), "192.0.2.1:2819");
}

TEST(DataPort, RefusesOtherText) {
  for (const char* wrong : {"", "1,2,3,4,5", "1,2,3,4,5,6,7", "1,2,3,4,5,256", "1,2,3,4,5,", " 1,2,3,4,5,6",
                            "1.2.3.4,5,6", "-1,2,3,4,5,6", "a"})
    EXPECT_FALSE(parse_data_port(wrong)) << wrong;
}

TEST(ExtendedDataPort, IsOfEitherProtocol) {
  EXPECT_EQ(parse_extended_port("|1|192.0.2.1|2819|").value().to_string(), "192.0.2.1:2819");
  EXPECT_EQ(parse_extended_port("!2!2001:db8::1!2819!").value().to_string(), "[2001:db8::1]:2819");
}

TEST(ExtendedDataPort, RefusesOtherText) {
  const std::string whole = "|1|192.0.2.1|2819|";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) EXPECT_FALSE(parse_extended_port(whole.substr(0, bytes)));
  for (const char* wrong : {"|1|192.0.2.1|0|", "|1|192.0.2.1|70000|", "|1||2000|", "|1|::1|2000|", "|9|192.0.2.1|2000|",
                            "|1|host.example|2000|", "|2|::ffff:127.0.0.1|2000|", "|1|192.0.2.1|2000|5|"})
    EXPECT_FALSE(parse_extended_port(wrong)) << wrong;
}

TEST(ExtendedDataPort, SurvivesItsEncoding) {
  for (const char* text : {"|1|192.0.2.1|2819|", "|2|2001:db8::1|2819|", "|2|::1|1|"})
    EXPECT_EQ(to_extended_port(parse_extended_port(text).value()), text);
  const auto link_local = bridge::from_asio({boost::asio::ip::make_address("fe80::1%1"), 9000});
  EXPECT_EQ(to_extended_port(link_local), "|2|fe80::1|9000|") << "a zone is of one host";
}

TEST(PortCommand, IsThatOfTheFamilyAndTheNumberOfPorts) {
  const Endpoint ipv4 = parse_data_port("192,0,2,1,11,3").value();
  const Endpoint ipv6 = parse_extended_port("|2|2001:db8::1|2819|").value();
  EXPECT_EQ(port_command({ipv4}, false).value(), "PORT 192,0,2,1,11,3");
  EXPECT_EQ(port_command({ipv4, ipv4}, true).value(), "SPOR 192,0,2,1,11,3 192,0,2,1,11,3");
  EXPECT_EQ(port_command({ipv6}, false).value(), "EPRT |2|2001:db8::1|2819|");
  EXPECT_EQ(port_command({ipv6, ipv6}, true).error().code, Errc::bad_argument);
}

TEST(DataPortRules, KeepServicesAndThisHostOutOfReach) {
  const Endpoint near = parse_data_port("127,0,0,1,200,0").value();
  const Endpoint far = parse_data_port("192,0,2,1,200,0").value();
  EXPECT_TRUE(may_connect(far, far));
  EXPECT_TRUE(may_connect(far.with_port(1024), far));
  EXPECT_FALSE(may_connect(far.with_port(1023), far));
  EXPECT_TRUE(may_connect(near, near));
  EXPECT_FALSE(may_connect(near, far));
  for (const char* no_host : {"0,0,0,0,200,0", "224,0,0,1,200,0"})
    EXPECT_FALSE(may_connect(parse_data_port(no_host).value(), far)) << no_host;
}

// A service on all addresses, which a packet filter keeps from outside, is within reach of the host itself.
TEST(DataPortRules, KeepEveryAddressOfThisHostOutOfReach) {
  ifaddrs* all = nullptr;
  ASSERT_EQ(::getifaddrs(&all), 0);
  const Endpoint far = parse_data_port("192,0,2,1,200,0").value();
  int tried = 0;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    const int family = each->ifa_addr == nullptr ? AF_UNSPEC : each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const auto own =
        Endpoint::from_sockaddr(each->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    ASSERT_TRUE(own);
    const Endpoint target = own->with_port(20'000);
    EXPECT_FALSE(may_connect(target, far)) << target.to_string();
    EXPECT_TRUE(may_connect(target, target)) << "whoever is here may be brought data here: " << target.to_string();
    if (family == AF_INET) {
      const auto mapped =
          boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, bridge::to_asio(target).address().to_v4());
      EXPECT_FALSE(may_connect(bridge::from_asio(boost::asio::ip::tcp::endpoint(mapped, 20'000)), far));
    }
    ++tried;
  }
  ::freeifaddrs(all);
  EXPECT_GT(tried, 0);
}

TEST(FindDataPort, SaysWhereItStands) {
  const std::string line = "227 12 Entering (127,0,0,1,11,3).";
  const auto found = find_data_port(line).value();
  EXPECT_EQ(line.substr(found.at, found.bytes), "127,0,0,1,11,3");
  EXPECT_EQ(found.endpoint.port(), 2819);
  for (std::size_t bytes = 0; bytes < found.at + found.bytes; ++bytes)
    EXPECT_FALSE(find_data_port(line.substr(0, bytes)));
}

TEST(PassivePort, IsFoundHoweverTheServerWrapsIt) {
  for (const char* text : {"Entering Passive Mode (127,0,0,1,11,3)", "Passive 127,0,0,1,11,3.", "=127,0,0,1,11,3",
                           "2 of 3: 127,0,0,1,11,3"})
    EXPECT_EQ(passive_port({227, {text}}).value().port(), 2819) << text;
  for (const char* none : {"", "Entering Passive Mode", "1,2,3", "99999999999"})
    EXPECT_FALSE(passive_port({227, {none}})) << none;
}

TEST(ExtendedPassivePort, IsAtTheServerWhateverAddressIsWritten) {
  const Endpoint server = parse_extended_port("|2|2001:db8::1|2811|").value();
  for (const char* text : {"Entering Extended Passive Mode (|||6446|)", "Extended (EPSV) (!!!6446!).",
                           "Entering Passive Mode (|2|2001:db8::9|6446|)"})
    EXPECT_EQ(extended_passive_port({229, {text}}, server).value().to_string(), "[2001:db8::1]:6446") << text;
}

TEST(ExtendedPassivePort, RefusesOtherText) {
  const Endpoint server = parse_extended_port("|2|2001:db8::1|2811|").value();
  const std::string whole = "Entering Extended Passive Mode (|||6446|)";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(extended_passive_port({229, {whole.substr(0, bytes)}}, server)) << bytes;
  for (const char* wrong : {"(|||0|)", "(|||65536|)", "(||||)", "(|)", "()", ")(", "(|||6446)", "(||6446|)",
                            "(||||6446|)", "(|||6446x|)", "(|||-1|)", "127,0,0,1,11,3"})
    EXPECT_FALSE(extended_passive_port({229, {wrong}}, server)) << wrong;
}

TEST(StripedPassivePorts, AreOneALine) {
  const Reply reply{229, {"Entering Striped Passive Mode.", " 127,0,0,1,11,3", " 127,0,0,2,11,4", "End"}};
  const auto ports = striped_passive_ports(reply).value();
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[1].to_string(), "127.0.0.2:2820");
  EXPECT_FALSE(striped_passive_ports({229, {"none"}}));
  EXPECT_FALSE(striped_passive_ports({229, std::vector<std::string>(kMaxDataPorts + 1, "1,2,3,4,5,6")})) << "bounded";
}

TEST(ReachablePort, IsAtTheServerWhereItsNatsAddressLeadsNowhere) {
  const Endpoint server = parse_data_port("192,0,2,1,11,3").value();
  for (const char* inside : {"10,0,0,5,195,80", "172,31,0,5,195,80", "192,168,1,5,195,80", "100,64,0,5,195,80",
                             "169,254,0,5,195,80", "127,0,0,1,195,80", "0,0,0,0,195,80"})
    EXPECT_EQ(reachable_port(parse_data_port(inside).value(), server).value().to_string(), "192.0.2.1:50000") << inside;
}

TEST(ReachablePort, MayBeAnotherHostsOfAStripedServer) {
  const Endpoint server = parse_data_port("192,0,2,1,11,3").value();
  EXPECT_EQ(reachable_port(parse_data_port("192,0,2,7,195,80").value(), server).value().to_string(), "192.0.2.7:50000");
  const Endpoint within = parse_data_port("10,0,0,1,11,3").value();
  EXPECT_EQ(reachable_port(parse_data_port("10,0,0,7,195,80").value(), within).value().to_string(), "10.0.0.7:50000");
}

TEST(ReachablePort, IsNoServicesOfAnotherHost) {
  const Endpoint server = parse_data_port("192,0,2,1,11,3").value();
  EXPECT_FALSE(reachable_port(parse_data_port("192,0,2,7,0,25").value(), server));
  EXPECT_FALSE(reachable_port(parse_data_port("224,0,0,1,195,80").value(), server));
}

}  // namespace
}  // namespace udtcat::gridftp
