// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/control_relay.hpp"

#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include "gridftp/dialogue/data_port.hpp"

namespace udtcat::gridftp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Endpoint data_port(const std::string& text) { return parse_data_port(text).value(); }

/// Stands in for 10.0.0.1:P with 192.0.2.9:P.
struct FakePorts final : DataPorts {
  Status announce(const Endpoint& endpoint, bool first) override {
    if (refuses) return fail(Errc::bad_argument, "bring data", "no");
    if (first) announced.clear();
    announced.push_back(to_data_port(endpoint));
    return {};
  }
  Result<Endpoint> stand_in(const Endpoint& endpoint, bool first) override {
    if (refuses) return fail(Errc::cannot_bind, "listen", "no");
    if (first) stood_in.clear();
    stood_in.push_back(to_data_port(endpoint));
    return data_port("192,0,2,9,0,0").with_port(endpoint.port());
  }
  bool refuses = false;
  std::vector<std::string> announced;
  std::vector<std::string> stood_in;
};

struct Relayed {
  FakePorts ports;
  ControlRelay relay;
  ControlRelay::Output out;
  Status status;

  explicit Relayed(LocalPeer local) : relay(local, ports) {}
  Relayed& local(std::string_view bytes, std::size_t step = 1'000'000'000) {
    for (std::size_t at = 0; at < bytes.size() && status; at += std::min(step, bytes.size() - at))
      status = relay.from_local(bytes.substr(at, step), out);
    return *this;
  }
  Relayed& session(std::string_view bytes, std::size_t step = 1'000'000'000) {
    for (std::size_t at = 0; at < bytes.size() && status; at += std::min(step, bytes.size() - at))
      status = relay.from_session(bytes.substr(at, step), out);
    return *this;
  }
};
struct Near : Relayed {
  Near() : Relayed(LocalPeer::client) {}
};
struct Far : Relayed {
  Far() : Relayed(LocalPeer::server) {}
};

constexpr const char* kGreeting = "220 ready\r\n";
constexpr const char* kDialogue =
    "220-Welcome\r\n 227 not yet (1,2,3,4,5,6)\r\n220 ready\r\n331 password\r\n211-Extensions\r\n227 (1,2,3,4,5,6)\r\n "
    "PASV\r\n"
    "211 End\r\n111 Range Marker 0-1,2,3,4,5,6\r\n226 done 1,2,3,4,5,6\r\n";

TEST(ControlRelay, PassesEverythingElseOnByteForByte) {
  const std::string commands =
      "USER me\r\n\r\nPASS x y\n  \xff\xf4TYPE I\r\nSITE SETNETSTACK tcp,gsi\r\nOPTS RETR "
      "Parallelism=4,4,4;\r\nPASV\r\n";
  for (const std::size_t step : {1UL, 7UL, 1000UL}) {
    EXPECT_EQ(Near().local(commands, step).out.to_session, commands);
    EXPECT_EQ(Far().session(commands, step).out.to_local, commands);
    EXPECT_EQ(Near().session(kDialogue, step).out.to_local, kDialogue);
    const Relayed far = Far().local(kDialogue, step);
    EXPECT_EQ(far.out.to_session, kDialogue);
    EXPECT_THAT(far.ports.announced, IsEmpty());
  }
}

TEST(ControlRelay, PassesALineOnWhenItIsWholeOnly) {
  Near near;
  near.local("QU");
  EXPECT_EQ(near.out.to_session, "");
  near.local("IT\r\nNO");
  EXPECT_EQ(near.out.to_session, "QUIT\r\n");
}

TEST(ControlRelay, KnowsWhatTheClientAnnouncesAndRewritesItAtTheServer) {
  for (const auto* line : {"PORT 10,0,0,1,195,80\r\n", "port 10,0,0,1,195,80 \r\n", "SPOR  10,0,0,1,195,80\n"}) {
    Near near;
    EXPECT_EQ(near.local(line).out.to_session, line);
    EXPECT_THAT(near.ports.announced, ElementsAre("10,0,0,1,195,80"));
    Far far;
    EXPECT_THAT(far.session(line).out.to_local, HasSubstr("192,0,2,9,195,80"));
    EXPECT_THAT(far.ports.stood_in, ElementsAre("10,0,0,1,195,80"));
  }
  Far far;
  EXPECT_EQ(far.session("SPOR 10,0,0,1,195,80 10,0,0,2,195,81\r\n", 3).out.to_local,
            "SPOR 192,0,2,9,195,80 192,0,2,9,195,81\r\n");
  EXPECT_EQ(far.ports.stood_in.size(), 2U);
  far.session("PORT 10,0,0,1,195,82\r\n");
  EXPECT_THAT(far.ports.stood_in, ElementsAre("10,0,0,1,195,82"));
}

TEST(ControlRelay, KnowsWhatTheServerAnnouncesAndRewritesItAtTheClient) {
  for (const int code : {227, 127}) {
    const std::string reply = std::to_string(code) + " Entering Passive Mode (10,0,0,1,195,80)\r\n";
    Far far;
    EXPECT_EQ(far.local(reply).out.to_session, reply);
    EXPECT_THAT(far.ports.announced, ElementsAre("10,0,0,1,195,80"));
    Near near;
    EXPECT_EQ(near.session(reply).out.to_local, std::to_string(code) + " Entering Passive Mode (192,0,2,9,195,80)\r\n");
    EXPECT_THAT(near.ports.stood_in, ElementsAre("10,0,0,1,195,80"));
  }
}

TEST(ControlRelay, TakesEveryPortOfAStripedServer) {
  const std::string reply = "229-Entering Striped Passive Mode.\r\n 10,0,0,1,195,80\r\n 10,0,0,2,195,81\r\n229 End\r\n";
  Far far;
  EXPECT_EQ(far.local("227 (10,0,0,9,195,80)\r\n" + reply, 5).out.to_session, "227 (10,0,0,9,195,80)\r\n" + reply);
  EXPECT_THAT(far.ports.announced, ElementsAre("10,0,0,1,195,80", "10,0,0,2,195,81"));
  Near near;
  EXPECT_EQ(near.session(reply, 5).out.to_local,
            "229-Entering Striped Passive Mode.\r\n 192,0,2,9,195,80\r\n 192,0,2,9,195,81\r\n229 End\r\n");
}

TEST(ControlRelay, AnswersWhatWouldLeadPastTheGatewayItself) {
  for (const char* line : {"AUTH GSSAPI",
                           "auth tls",
                           "ADAT x",
                           "EPSV",
                           "EPSV ALL",
                           "EPRT |2|::1|5000|",
                           "LPRT 6",
                           "LPSV",
                           "UPAS",
                           "UPRT x",
                           "SITE UPAS",
                           "site uprt 1",
                           "SITE SETNETSTACK udt,gsi",
                           "SITE SETNETSTACK",
                           "SPAS 2",
                           "PASV 2",
                           "GET path=/x;port=1,2,3,4,5,6;",
                           "PORT 1,2,3,4,5",
                           "PORT",
                           "SPOR 1,2,3,4,5,6 x",
                           "PORT 1,2,3,4,5,6 1,2,3,4,5,6",
                           "PORT |1|1.2.3.4|5|"}) {
    Near near;
    near.session(kGreeting).local(std::string(line) + "\r\n");
    EXPECT_TRUE(near.status) << line;
    EXPECT_EQ(near.out.to_session, "") << line;
    EXPECT_THAT(near.out.to_local, StartsWith(std::string(kGreeting) + "5")) << line;
    EXPECT_TRUE(near.out.to_local.ends_with(".\r\n")) << line;
    EXPECT_THAT(near.ports.announced, IsEmpty()) << line;
  }
  EXPECT_THAT(Near().session(kGreeting).local("AUTH GSSAPI\r\n").out.to_local, HasSubstr("534 "));
}

TEST(ControlRelay, AnswersInItsTurn) {
  Near near;
  near.local("FEAT\r\nAUTH GSSAPI\r\nNOOP\r\n");
  EXPECT_EQ(near.out.to_session, "FEAT\r\nNOOP\r\n");
  EXPECT_EQ(near.out.to_local, "") << "the server has not even greeted";
  near.session("220 ready\r\n150 wait\r\n211-Extensions\r\n211 done\r\n 211 not a last line\r\n200 noop\r\n");
  const std::string& said = near.out.to_local;
  EXPECT_LT(said.find("211 done"), said.find("534 "));
  EXPECT_LT(said.find("534 "), said.find("200 noop"));
}

TEST(ControlRelay, RefusesInWordsWhatItsPortsRefuse) {
  Near near;
  near.ports.refuses = true;
  near.session(kGreeting).local("PORT 10,0,0,1,195,80\r\n");
  EXPECT_THAT(near.out.to_local, HasSubstr("504 Not through this gateway: bring data: no."));
  EXPECT_EQ(near.out.to_session, "");
  Far far;
  far.ports.refuses = true;
  EXPECT_FALSE(far.local("227 (10,0,0,1,195,80)\r\n").status);
  EXPECT_EQ(far.out.to_session, "");
  Near without_ports;
  without_ports.ports.refuses = true;
  EXPECT_FALSE(without_ports.session("227 (10,0,0,1,195,80)\r\n").status);
}

TEST(ControlRelay, EndsAConnectionWhosePeerNamesNoAddress) {
  for (const char* line : {"PORT 1,2,3,4,5\r\n", "SPOR\r\n", "PORT 1,2,3,4,5,6 7\r\n"})
    EXPECT_EQ(Far().session(line).status.error().code, Errc::protocol_violated) << line;
}

/// Proves: gridftp.waiting-answers
TEST(ControlRelay, KeepsNoMoreThanItsBounds) {
  EXPECT_TRUE(Near().session("111 Range Marker " + std::string(100'000, '1') + "\r\n").status);
  EXPECT_FALSE(Near().session(std::string(ControlRelay::kMaxReplyLineBytes + 1, '1')).status);
  EXPECT_FALSE(Far().local(std::string(ControlRelay::kMaxReplyLineBytes, '1') + "\r\n", 65'536).status);
  EXPECT_TRUE(Near().local(std::string(ControlRelay::kMaxCommandBytes - 2, '1') + "\r\n").status);
  EXPECT_FALSE(Near().local(std::string(ControlRelay::kMaxCommandBytes + 1, '1')).status);
  EXPECT_FALSE(Far().session(std::string(ControlRelay::kMaxCommandBytes, '1') + "\r\n", 1000).status);
  Near near;
  for (std::size_t i = 0; i < 64; ++i) EXPECT_TRUE(near.local("AUTH x\r\n").status);
  EXPECT_FALSE(near.local("AUTH x\r\n").status);
}

TEST(ControlRelay, CountsNoMoreRepliesThanCommands) {
  Near near;
  near.session("220 ready\r\n421 timeout\r\n421 timeout\r\n").local("NOOP\r\nAUTH x\r\n");
  EXPECT_THAT(near.out.to_local, testing::Not(HasSubstr("534 ")));
  EXPECT_THAT(near.session("200 noop\r\n").out.to_local, HasSubstr("200 noop\r\n534 "));
}

TEST(ControlRelay, GivesTheSameAtEveryTruncation) {
  const std::string whole =
      std::string(kDialogue) + "229-Striped\r\n 10,0,0,1,195,80\r\n229 End\r\n227 (10,0,0,1,4,0)\r\n";
  const std::string expected = Near().session(whole).out.to_local;
  for (std::size_t at = 0; at <= whole.size(); ++at)
    EXPECT_EQ(Near().session(whole.substr(0, at)).session(whole.substr(at)).out.to_local, expected) << at;
}

}  // namespace
}  // namespace udtcat::gridftp
