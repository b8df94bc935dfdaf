// SPDX-License-Identifier: Apache-2.0
/// udtcat meet: the place as others see it.
#include <algorithm>
#include <array>
#include <csignal>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "e2e/support/udtcat_test.hpp"
#include "support/ports.hpp"

namespace udtcat::test::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class MeetCommand : public UdtcatTest {
 protected:
  [[nodiscard]] Process meet(Arguments more) const {
    Arguments argv{UDTCAT_BINARY, "meet", "-l", "127.0.0.1:" + std::to_string(port_)};
    argv.insert(argv.end(), more.begin(), more.end());
    return Process({.argv = std::move(argv), .environment = environment()});
  }
  [[nodiscard]] Arguments environment() const {
    return {"XDG_RUNTIME_DIR=" + home_.path().string(), "XDG_CONFIG_HOME=" + home_.path().string()};
  }
  static void expect_ready(const Process& place) {
    ASSERT_TRUE(eventually(kAtOnce, [&] { return place.errors().find("its ports are") != std::string::npos; }))
        << place.errors();
  }
};

TEST_F(MeetCommand, SaysWhatAFirewallHasToLetIn) {
  Process place = meet({"--public", "--pairs", "20"});
  expect_ready(place);
  EXPECT_THAT(place.errors(), HasSubstr("UDP " + std::to_string(port_) + "-" + std::to_string(port_ + 20)));
  place.send_signal(SIGTERM);
  const auto ending = place.wait(kAtOnce);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->status, 128 + SIGTERM);
}

TEST_F(MeetCommand, WantsToBeToldWhoMayCome) {
  Process place = meet({});
  expect_exit(place, kUsage);
  EXPECT_THAT(place.errors(), HasSubstr("--public"));
}

TEST_F(MeetCommand, ShowsItselfInStatus) {
  Process place = meet({"--public"});
  expect_ready(place);
  const Ran ran = run({.argv = {UDTCAT_BINARY, "status", "--json"}, .environment = environment()});
  const json all = json::parse(ran.output, nullptr, false);
  ASSERT_TRUE(all.is_array()) << ran.output;
  const auto own = std::ranges::find_if(all, [&](const json& each) { return each["pid"] == place.pid(); });
  ASSERT_NE(own, all.end()) << ran.output;
  EXPECT_EQ((*own)["meeting"]["registrations"], 0);
  EXPECT_TRUE((*own)["meeting"]["pairs"].empty());
  const Ran text = run({.argv = {UDTCAT_BINARY, "status"}, .environment = environment()});
  EXPECT_THAT(text.output, HasSubstr("0 registrations, 0 pairs"));
}

TEST_F(MeetCommand, AnswersAStunClientOfAnotherMake) {
  Process place = meet({"--public"});
  expect_ready(place);
  const Ran ran = run({.argv = {"turnutils_stunclient", "-p", std::to_string(port_), "127.0.0.1"}});
  EXPECT_THAT(ran.output + ran.errors, HasSubstr("UDP reflexive addr: 127.0.0.1:"));
}

TEST_F(MeetCommand, SendsStrangersNoMoreThanTheySent) {
  Process place = meet({"--public"});
  expect_ready(place);
  const BoundUdp stranger = bind_udp();
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto type_cookie = std::to_array<unsigned char>({0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42});
  std::size_t sent = 0;
  std::size_t received = 0;
  std::array<unsigned char, 2048> answer{};
  const auto take = [&] {
    for (;;) {
      const auto got = ::recv(stranger.socket.fd(), answer.data(), answer.size(), MSG_DONTWAIT);
      if (got <= 0) return;
      received += static_cast<std::size_t>(got);
    }
  };
  for (unsigned i = 0; i < 20'000; ++i) {
    std::array<unsigned char, 20> request{};
    std::ranges::copy(type_cookie, request.begin());
    request[18] = static_cast<unsigned char>(i >> 10U);
    request[19] = static_cast<unsigned char>(i >> 2U);  // each is sent four times
    const auto went = ::sendto(stranger.socket.fd(), request.data(), request.size(), 0,
                               reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (went > 0) sent += static_cast<std::size_t>(went);
    take();
  }
  ASSERT_TRUE(eventually(kAtOnce, [&] {
    take();
    return received > 0;
  }));
  EXPECT_LE(received, sent);
  EXPECT_TRUE(place.running());
}

}  // namespace
}  // namespace udtcat::test::e2e
