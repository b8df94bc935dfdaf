// SPDX-License-Identifier: Apache-2.0
#include "pipe/service_check.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace udtcat::pipe {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using tool::ProcessSnapshot;

ProcessSnapshot well() {
  ProcessSnapshot made;
  made.service = "db";
  made.age = 65s;
  made.peers.push_back(tool::snapshot_of(1, Endpoint{}, {}));
  made.peers.back().name = "web";
  made.all.bytes_sent = 12;
  made.all.streams_open = 2;
  made.rate = BitRate::from_bits_per_second(8'000);
  return made;
}

StatusAnswer answer(ProcessSnapshot snapshot) { return {.path = "1.sock", .snapshot = std::move(snapshot)}; }
StatusAnswer no_answer(Errc why) {
  return {.path = "2.sock", .snapshot = fail(why, "ask 2.sock", "no answer in time")};
}

ServiceCheck check(ProcessSnapshot snapshot) { return check_service("db", std::vector{answer(std::move(snapshot))}); }

TEST(ServiceCheck, OfAServiceThatIsWellIsOkWithItsFigures) {
  const ServiceCheck found = check(well());
  EXPECT_EQ(found.state, ServiceState::ok);
  EXPECT_EQ(found.line,
            "OK - db: 1 peer, 1.00 kB/s, for 1:05 | sessions=1;;;0 streams=2;;;0 rate=1000B;;;0 dialling=0.0s;0;60;0 "
            "refused=0c;;;0 failed=0c;;;0 sent=12B;;;0 received=0B;;;0");
}

TEST(ServiceCheck, OfAServiceThatDialsWarnsAndIsCriticalAfterAMinute) {
  ProcessSnapshot made = well();
  made.dialing = tool::DialingSnapshot{.peer = "far:9000", .age = 59s, .reason = "a | b"};
  EXPECT_EQ(check(made).state, ServiceState::warning);
  EXPECT_THAT(check(made).line, AllOf(StartsWith("WARNING - db: dialling far:9000 for 0:59: a / b | "),
                                      HasSubstr(" dialling=59.0s;0;60;0 ")));
  made.dialing->age = 60s;
  EXPECT_EQ(check(made).state, ServiceState::critical);
  EXPECT_THAT(check(made).line, StartsWith("CRITICAL - db: dialling far:9000 for 1:00"));
}

TEST(ServiceCheck, WarnsOfASilentPeer) {
  ProcessSnapshot made = well();
  made.peers.front().stats.silence = 8s;
  EXPECT_EQ(check(made).state, ServiceState::warning);
  EXPECT_THAT(check(made).line, StartsWith("WARNING - db: web is silent for 0:08 | "));
}

TEST(ServiceCheck, WarnsOfRefusalsForFiveMinutes) {
  ProcessSnapshot made = well();
  made.refused = {{.reason = "the keys do not match", .count = 3, .ago = 299s}};
  EXPECT_THAT(check(made).line,
              StartsWith("WARNING - db: refused 3 peers, the keys do not match, the last 4:59 ago | "));
  made.refused.front().ago = 300s;
  EXPECT_EQ(check(made).state, ServiceState::ok);
}

TEST(ServiceCheck, WarnsWhereTheLastTransferFailed) {
  ProcessSnapshot made = well();
  const std::chrono::system_clock::time_point now{1'796'000'000s};
  made.transfers = {{.peer = "web", .direction = "received", .failed = 1, .last_failed = now}};
  EXPECT_THAT(check(made).line, StartsWith("WARNING - db: the last transfer of web failed | "));
  made.transfers.push_back({.peer = "bob", .direction = "received", .complete = 1, .last_complete = now + 1s});
  EXPECT_THAT(check(made).line, StartsWith("WARNING - db: the last transfer of web failed | ")) << "bob's is bob's";
  made.transfers.push_back({.peer = "web", .direction = "sent", .complete = 1, .last_complete = now + 1s});
  EXPECT_EQ(check(made).state, ServiceState::ok);
}

TEST(ServiceCheck, NamesAFewThingsAndCountsTheRest) {
  ProcessSnapshot made = well();
  made.peers.front().stats.silence = 8s;
  made.peers.assign(100, made.peers.front());
  EXPECT_THAT(check(made).line, HasSubstr("; and 96 more | "));
  EXPECT_LT(check(made).line.size(), 500U);
}

TEST(ServiceCheck, OfSeveralProcessesIsThatOfTheWorst) {
  ProcessSnapshot dials = well();
  dials.dialing = tool::DialingSnapshot{.peer = "far:9000", .age = 2min};
  ProcessSnapshot other = dials;
  other.service = "web";
  EXPECT_EQ(check_service("db", std::vector{answer(well()), answer(dials), answer(well())}).state,
            ServiceState::critical);
  EXPECT_EQ(check_service("db", std::vector{answer(well()), answer(other)}).state, ServiceState::ok);
}

TEST(ServiceCheck, WithoutTheServiceIsCritical) {
  EXPECT_EQ(check_service("db", {}).line, "CRITICAL - db: it is not in service on this host");
  ProcessSnapshot other = well();
  other.service = "web";
  EXPECT_EQ(check(other).state, ServiceState::critical);
}

TEST(ServiceCheck, WhereOneDoesNotAnswerIsCriticalUnlessTheServiceDid) {
  const std::vector hung{no_answer(Errc::peer_lost), no_answer(Errc::local_connect_failed)};
  EXPECT_EQ(check_service("db", hung).state, ServiceState::critical);
  EXPECT_THAT(check_service("db", hung).line, HasSubstr("it does not answer, or is not in service: ask 2.sock: "));
  EXPECT_EQ(check_service("db", std::vector{no_answer(Errc::peer_lost), answer(well())}).state, ServiceState::ok);
}

TEST(ServiceCheck, SaysThatAProcessOfAnotherUserHasTheName) {
  const ServiceCheck found = check_service("db", {}, true);
  EXPECT_EQ(found.state, ServiceState::critical);
  EXPECT_THAT(found.line, HasSubstr("a process of another user has that name"));
}

TEST(ServiceCheck, WhereOneMayNotBeAskedIsUnknown) {
  const std::vector closed{no_answer(Errc::local_connect_failed)};
  EXPECT_EQ(check_service("db", closed).state, ServiceState::unknown);
  EXPECT_THAT(check_service("db", closed).line,
              StartsWith("UNKNOWN - db: not found, and 1 service of other users may not be asked"));
}

}  // namespace
}  // namespace udtcat::pipe
