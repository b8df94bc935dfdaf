// SPDX-License-Identifier: Apache-2.0
/// docs/spec/meet.md §7.4: sessions that move between the relay and the direct path while they carry data.
#include <csignal>
#include <iostream>
#include <optional>

#include <gmock/gmock.h>

#include "e2e/support/meeting_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

constexpr auto kLongestGap = patience(1s);  // guess: what a user takes for a stall
constexpr auto kAfterMove = 1500ms;         // guess: the data that were lost with the old path have come by then
constexpr auto kMoveLimit = patience(40s);  // guess: the longest pause between two attempts, and some

struct Move {
  const char* name;
  Gateway near;
  Gateway far;
  Data data = Data::both_ways;
  Gateways::Way cut = Gateways::Way::both;  ///< what no longer passes when the firewall is closed
};

class Moving : public MeetingWithData, public testing::WithParamInterface<Move> {};

class MovingSerial : public Moving {};

TEST_P(MovingSerial, GoesToTheDirectPathAndBackToTheRelayWithoutAStall) {
  const Move& move = GetParam();
  meet(move.near, move.far);
  hosts().cut_direct();
  ASSERT_NO_FATAL_FAILURE(begin(move.data));
  ASSERT_TRUE(is_relayed(*connector_)) << connector_->errors();
  const GapWatch opened = watch();
  hosts().open_direct();
  ASSERT_TRUE(eventually(kMoveLimit, [&] { return goes_direct(*connector_); })) << connector_->errors();
  GapWatch::for_a_while(kAfterMove);
  say("to the direct path", opened);
  EXPECT_LE(opened.longest(), kLongestGap);
  const GapWatch closed = watch();
  hosts().cut_direct(move.cut);
  ASSERT_TRUE(eventually(kMoveLimit, [&] { return is_relayed(*connector_); })) << connector_->errors();
  GapWatch::for_a_while(kAfterMove);
  say("back to the relay", closed);
  EXPECT_LE(closed.longest(), kLongestGap);
  expect_all_there();
}

INSTANTIATE_TEST_SUITE_P(
    Of, MovingSerial,
    testing::Values(Move{"Open", Gateway::open, Gateway::open},
                    Move{"OpenDataToListener", Gateway::open, Gateway::open, Data::to_listener},
                    Move{"OpenDataToConnector", Gateway::open, Gateway::open, Data::to_connector},
                    Move{"OpenCutToListener", Gateway::open, Gateway::open, Data::both_ways, Gateways::Way::to_far},
                    Move{"OpenCutToConnector", Gateway::open, Gateway::open, Data::both_ways, Gateways::Way::to_near},
                    Move{"OpenDataToConnectorCutToListener", Gateway::open, Gateway::open, Data::to_connector,
                         Gateways::Way::to_far},
                    Move{"Stateful", Gateway::stateful, Gateway::stateful},
                    Move{"Masquerading", Gateway::masquerading, Gateway::masquerading}),
    [](const auto& its) { return its.param.name; });

class ListenersFirewallSerial : public MeetingWithData {};

/// The listener's checks have opened nothing until then, and a minute has only so many.
TEST_F(ListenersFirewallSerial, ThatIsOpenedAfterAWhileLetsTheSessionGoDirect) {
  meet(Gateway::masquerading, Gateway::masquerading);
  hosts().cut_direct_at_far();
  ASSERT_NO_FATAL_FAILURE(begin(Data::both_ways));
  ASSERT_TRUE(is_relayed(*connector_)) << connector_->errors();
  const GapWatch gap = watch();
  GapWatch::for_a_while(patience(8s));
  hosts().open_direct();
  EXPECT_TRUE(eventually(kMoveLimit, [&] { return goes_direct(*connector_); })) << connector_->errors();
  EXPECT_LE(gap.longest(), kLongestGap);
  expect_all_there();
}

class TranslatedAnewSerial : public Moving {};

TEST_P(TranslatedAnewSerial, GoesOnWithoutAStall) {
  meet(GetParam().near, GetParam().far);
  ASSERT_NO_FATAL_FAILURE(begin(GetParam().data));
  for (const bool near : {true, false}) {
    const GapWatch gap = watch();
    if (near)
      hosts().forget_flows_of_near();
    else
      hosts().forget_flows_of_far();
    GapWatch::for_a_while(patience(3s));
    say(near ? "the connector's" : "the listener's", gap);
    EXPECT_LE(gap.longest(), kLongestGap) << connector_->errors() << listener_->errors();
  }
  expect_all_there();
}

INSTANTIATE_TEST_SUITE_P(
    Of, TranslatedAnewSerial,
    testing::Values(Move{"Masquerading", Gateway::masquerading, Gateway::masquerading},
                    Move{"RandomToOpen", Gateway::random, Gateway::open},
                    Move{"OpenToRandom", Gateway::open, Gateway::random},
                    Move{"Relayed", Gateway::random, Gateway::random},
                    Move{"RelayedDataToListener", Gateway::random, Gateway::random, Data::to_listener},
                    Move{"RelayedDataToConnector", Gateway::random, Gateway::random, Data::to_connector}),
    [](const auto& its) { return its.param.name; });

// ---- The place dies -----------------------------------------------------------------------------------------------

class PlaceKilled : public MeetingWithData {};

TEST_F(PlaceKilled, DoesNotMatterToASessionOfTheDirectPath) {
  meet(Gateway::masquerading, Gateway::masquerading);
  ASSERT_NO_FATAL_FAILURE(begin(Data::both_ways));
  ASSERT_TRUE(goes_direct(*connector_)) << connector_->errors();
  const GapWatch gap = watch();
  place().send_signal(SIGKILL);
  GapWatch::for_a_while(patience(6s));
  EXPECT_LE(gap.longest(), kLongestGap);
  expect_all_there();
}

TEST_F(PlaceKilled, EndsARelayedSessionWhichSaysWhy) {
  meet(Gateway::random, Gateway::random);
  ASSERT_NO_FATAL_FAILURE(begin(Data::both_ways));
  ASSERT_TRUE(is_relayed(*connector_)) << connector_->errors();
  place().send_signal(SIGKILL);
  for (Process* const each : {&*connector_, &*listener_}) {
    expect_exit(*each, kPeerLost, patience(60s));
    EXPECT_THAT(each->errors(), HasSubstr("the meeting place 198.51.100.3:9000 relayed the session"));
  }
}

/// A web server at the far host, and a forward to it from port 7000 of the near one.
class ForwardViaPlace : public MeetingTest {
 protected:
  void begin(Gateway near, Gateway far) {
    meet(near, far);
    web_.emplace(Command{.argv = {"python3", "-m", "http.server", "--bind", "127.0.0.1", "7777"},
                         .working_directory = home_.path(),
                         .network_namespace = hosts().far_host().file});
    ASSERT_EQ(this->near("head -c 100000 /dev/urandom > f").status, 0);
    listener_.emplace(listen_via({.args = {"--to", "127.0.0.1:7777"}}));
    connector_.emplace(connect_via({.args = {"--from", "127.0.0.1:7000"}}));
  }
  /// Whether the file comes by the forward within `limit`; until then it is asked for again.
  [[nodiscard]] testing::AssertionResult is_carried(std::chrono::seconds limit) {
    const Ran ran = near("end=$((SECONDS + " + std::to_string(limit.count()) +
                         ")); until curl -s --max-time 5 http://127.0.0.1:7000/f | cmp - f; do "
                         "[ $SECONDS -lt $end ] || exit 1; done");
    if (ran.status == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << ran.errors << connector_->errors() << listener_->errors();
  }

  std::optional<Process> web_;
  std::optional<Process> listener_;
  std::optional<Process> connector_;
};

TEST_F(ForwardViaPlace, ComesBackWithThePlace) {
  begin(Gateway::random, Gateway::random);
  ASSERT_TRUE(is_carried(20s));
  place().send_signal(SIGKILL);
  expect_says(*listener_, "tried again until it is there");
  ASSERT_NO_FATAL_FAILURE(start_place());
  ASSERT_TRUE(eventually(patience(60s), [&] {
    return listener_->errors().find("back at the meeting place") != std::string::npos;
  })) << listener_->errors();
  EXPECT_TRUE(is_carried(60s));
}

class ForgetfulSlow : public ForwardViaPlace, public testing::WithParamInterface<Move> {};

/// A NAT of 30 s is one of 12 s here: both are longer than any pause of an idle session.
TEST_P(ForgetfulSlow, TranslationHasAnIdleForwardAtOnce) {
  begin(GetParam().near, GetParam().far);
  hosts().set_udp_timeout(12s);
  ASSERT_TRUE(is_carried(20s));
  let_pass(27s);
  const auto asked = Clock::now();
  EXPECT_EQ(near("curl -s --max-time 10 http://127.0.0.1:7000/f | cmp - f").status, 0);
  EXPECT_LT(Clock::now() - asked, kLongestGap);
}

INSTANTIATE_TEST_SUITE_P(Of, ForgetfulSlow,
                         testing::Values(Move{"Direct", Gateway::masquerading, Gateway::masquerading},
                                         Move{"Relayed", Gateway::random, Gateway::random}),
                         [](const auto& its) { return its.param.name; });

}  // namespace
}  // namespace udtcat::test::e2e
