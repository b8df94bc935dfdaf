// SPDX-License-Identifier: Apache-2.0
/// Paths that lose, double and reorder.
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "interop/interop_fixture.hpp"

namespace udtcat::test::interop {
namespace {

/// Our end's answer to holes, read from a capture at the relay.
struct Diligence {
  std::chrono::milliseconds silence{0};  ///< the longest with data unacknowledged and no data packet of ours
  std::chrono::milliseconds no_nak{0};   ///< the longest with a hole in what came to us and no NAK of ours
  std::size_t drops = 0;                 ///< packets of type 7
};

std::chrono::milliseconds between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(to - from);
}

class Diligent {
 public:
  explicit Diligent(Towards to_them) : to_them_(to_them) {}

  void see(const Captured& packet) { packet.towards == to_them_ ? see_ours(packet) : see_theirs(packet); }
  [[nodiscard]] const Diligence& found() const { return found_; }

 private:
  void see_ours(const Captured& captured) {
    const PacketView packet = captured.view();
    if (packet.is(Type::drop)) ++found_.drops;
    if (packet.is_data()) {
      if (unacknowledged()) found_.silence = std::max(found_.silence, between(sent_at_, captured.at));
      sent_at_ = captured.at;
      if (!next_ || distance(*next_, packet.sequence()) >= 0) next_ = advanced(packet.sequence(), 1);
      if (!acknowledged_) acknowledged_ = packet.sequence();
    }
    if (packet.is(Type::nak)) {
      if (!holes_.empty()) found_.no_nak = std::max(found_.no_nak, between(std::max(hole_at_, nak_at_), captured.at));
      nak_at_ = captured.at;
    }
  }
  void see_theirs(const Captured& captured) {
    const PacketView packet = captured.view();
    if (captured.dropped) return;
    if (packet.is(Type::ack) && acknowledged_ && distance(*acknowledged_, packet.word(0)) > 0) {
      acknowledged_ = packet.word(0);
      sent_at_ = std::max(sent_at_, captured.at);  // what an ACK lets go begins now
    }
    if (!packet.is_data()) return;
    if (!expected_) expected_ = packet.sequence();
    const bool whole = holes_.empty();
    for (; distance(*expected_, packet.sequence()) > 0; expected_ = advanced(*expected_, 1)) holes_.insert(*expected_);
    if (packet.sequence() == *expected_) expected_ = advanced(*expected_, 1);
    if (whole && !holes_.empty()) hole_at_ = captured.at;
    if (holes_.erase(packet.sequence()) > 0) hole_at_ = captured.at;
  }
  [[nodiscard]] bool unacknowledged() const { return next_ && acknowledged_ && *next_ != *acknowledged_; }

  Towards to_them_;
  Diligence found_;
  std::optional<std::uint32_t> next_;
  std::optional<std::uint32_t> acknowledged_;
  Clock::time_point sent_at_;
  std::optional<std::uint32_t> expected_;
  std::set<std::uint32_t> holes_;
  Clock::time_point hole_at_;
  Clock::time_point nak_at_;
};

void expect_diligence(const Link& link, Towards to_them) {
  Diligent judge(to_them);
  for (const Captured& packet : link.relay->captured()) judge.see(packet);
  EXPECT_LT(judge.found().silence, 1s) << "with data unacknowledged we sent none";
  EXPECT_LT(judge.found().no_nak, 1s) << "with a hole in what came to us we asked for nothing";
  EXPECT_EQ(judge.found().drops, 0U) << "a message drop kills libudt";
}

class Lossy : public ByRole {
 protected:
  static void carry_over(const Impairment& impairment, Flow flow, std::uint64_t bytes,
                         std::chrono::milliseconds limit) {
    Link link = make_link(role(), {.relayed = true});
    ASSERT_TRUE(link.up());
    Impairment back = impairment;
    back.seed += 1;
    link.relay->impair(towards_them(), impairment);
    link.relay->impair(towards_us(), back);
    const Carried carried = carry(link, flow, bytes, limit);
    for (const auto& [way, transfer] : {std::pair("from us", carried.from_us), std::pair("to us", carried.to_us)})
      if (transfer) std::printf("%s: %s\n", way, transfer->text().c_str());
    expect_diligence(link, towards_them());
  }
};
UDTCAT_FOR_BOTH_ROLES(Lossy);

TEST_P(Lossy, PathOfOnePerCentDelaysNothingForLong) {
  carry_over({.drop = 0.01, .seed = 11}, Flow::both, 4 << 20, 28s);
}
TEST_P(Lossy, PathOfFivePerCentDelaysNothingForLongSoak) {
  carry_over({.drop = 0.05, .seed = 12}, Flow::both, 1 << 20, 28s);
}
TEST_P(Lossy, PathOfFivePerCentIsCrossedByOursSoak) {
  carry_over({.drop = 0.05, .seed = 13}, Flow::from_us, 16 << 20, 28s);
}
TEST_P(Lossy, PathThatReordersIsCrossed) {
  carry_over({.delayed = 0.02, .delay = 20ms, .seed = 14}, Flow::both, 4 << 20, 28s);
}
TEST_P(Lossy, PathThatReordersDuplicatesAndLosesIsCrossed) {
  carry_over({.drop = 0.01, .duplicate = 0.05, .delayed = 0.05, .delay = 20ms, .seed = 15}, Flow::both, 2 << 20, 28s);
}
TEST_P(Lossy, PathOfFiftyMillisecondsIsCrossed) {
  carry_over({.drop = 0.002, .delay_of_all = 25ms, .seed = 16}, Flow::both, 4 << 20, 28s);
}
TEST_P(Lossy, PathIsCrossedByMuchSoak) {
  carry_over({.drop = 0.01, .delayed = 0.01, .delay = 20ms, .seed = 17}, Flow::both, 64 << 20, 1500s);
}

class LostTail : public ByRole {};
UDTCAT_FOR_BOTH_ROLES(LostTail);

// libudt sends it again when nothing has come for its timeout, which is longer than a second here.
TEST_P(LostTail, OfTheirsComesAgainOnALongPath) {
  constexpr std::uint64_t kBytes = 100'000;
  constexpr std::int32_t kKept = 40;  // packets
  Link link = make_link(role(), {.relayed = true, .prepare = [](UdpRelay& relay) {
                                   for (const Towards towards : {Towards::listener, Towards::connector})
                                     relay.impair(towards, {.delay_of_all = 450ms});
                                 }});
  ASSERT_TRUE(link.up());
  std::atomic<bool> heals = false;
  std::optional<std::uint32_t> first;
  link.relay->rule(towards_us(), [&heals, first](const PacketView& packet) mutable {
    if (!packet.is_data()) return Fate{};
    if (!first) first = packet.sequence();
    return Fate{.drop = !heals && distance(*first, packet.sequence()) >= kKept};
  });
  const Job got = link.ours->start_receiving(Pattern(1), kBytes);
  const Job sent = link.theirs->start_sending(Pattern(1), kBytes);
  EXPECT_FALSE(complete(got.wait(3s), kBytes));
  heals = true;
  EXPECT_TRUE(complete(got.wait(25s), kBytes)) << link.tell();
  EXPECT_TRUE(complete(sent.wait(5s), kBytes)) << link.tell();
}

/// Drops the first three copies of chosen packets, counted from the first one that passes.
UdpRelay::Rule drop_three_copies_of(std::set<std::int32_t> chosen) {
  struct State {
    std::optional<std::uint32_t> first;
    std::map<std::uint32_t, int> copies;
  };
  return [chosen = std::move(chosen), state = std::make_shared<State>()](const PacketView& packet) {
    if (!packet.is_data()) return Fate{};
    if (!state->first) state->first = packet.sequence();
    const bool is_chosen = chosen.contains(distance(*state->first, packet.sequence()));
    return Fate{.drop = is_chosen && ++state->copies[packet.sequence()] <= 3};
  };
}

/// Says something every so often until it is told to stop.
class Chatter {
 public:
  Chatter(std::chrono::milliseconds period, std::function<void()> say)
      : thread_([this, period, say = std::move(say)] {
          std::unique_lock lock(mutex_);
          while (!stopped_.wait_for(lock, period, [this] { return stop_; })) say();
        }) {}
  ~Chatter() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    stopped_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

class LostAgain : public ByRole {};
UDTCAT_FOR_BOTH_ROLES(LostAgain);

// libudt as receiver asks once; the rest is our own timer.
TEST_P(LostAgain, PacketsOfOursComeWhileTheOtherWayIsBusy) {
  Link link = make_link(role(), {.relayed = true, .prepare = [](UdpRelay& relay) {
                                   relay.rule(towards_them(), drop_three_copies_of({5, 100, 200, 201, 202, 400}));
                                 }});
  ASSERT_TRUE(link.up());
  const std::vector<std::byte> word(10, std::byte{1});
  const Chatter chatter(50ms, [&] { std::ignore = link.theirs->send(word); });
  const Carried carried = carry(link, Flow::from_us, 1 << 20, 10s);
  ASSERT_TRUE(carried.from_us);
  EXPECT_LT(carried.from_us->duration, 5s) << link.tell();
  EXPECT_GE(link.relay->dropped(towards_them()), 18U);
  expect_diligence(link, towards_them());
}

// libudt as sender hears of us all the time, so that its own timer never goes off; our NAKs must repeat.
TEST_P(LostAgain, PacketsOfTheirsAreAskedForUntilTheyCome) {
  Link link = make_link(role(), {.relayed = true, .prepare = [](UdpRelay& relay) {
                                   relay.rule(towards_us(), drop_three_copies_of({5, 100, 200, 201, 202, 400}));
                                 }});
  ASSERT_TRUE(link.up());
  const Chatter chatter(50ms, [&] { link.ours->start_write(std::vector<std::byte>(10, std::byte{1})); });
  carry(link, Flow::to_us, 1 << 20, 25s);  // libudt sends slowly after so early a loss
  EXPECT_GE(link.relay->dropped(towards_us()), 15U);
  expect_diligence(link, towards_them());
}

class Wrap : public testing::TestWithParam<std::tuple<Role, Flow>> {};

INSTANTIATE_TEST_SUITE_P(BothRoles, Wrap,
                         testing::Combine(testing::Values(Role::listens),
                                          testing::Values(Flow::from_us, Flow::to_us, Flow::both)),
                         [](const auto& row) {
                           return name_of(std::get<0>(row.param)) + name_of(std::get<1>(row.param));
                         });

// The listener sees the numbers that the relay makes of the connector's; a connector chooses its own at random.
TEST_P(Wrap, OfSequenceNumbersIsCrossedWithLossesAroundIt) {
  const auto [role, flow] = GetParam();
  std::optional<SequenceShift> shift;
  Link link = make_link(role, {.relayed = true, .prepare = [&](UdpRelay& relay) {
                                 shift.emplace(relay, 0x7ffffff0);
                                 relay.capture();
                                 const std::set<std::int32_t> around{12, 13, 14, 15, 16, 17, 30};
                                 relay.rule(Towards::listener, drop_three_copies_of(around));
                                 relay.rule(Towards::connector, drop_three_copies_of(around));
                               }});
  ASSERT_TRUE(link.up());
  carry(link, flow, flow == Flow::from_us ? 100 << 20 : 8 << 20, 28s);  // libudt sends slowly after so early a loss
  expect_diligence(link, Towards::connector);
}

TEST_P(Wrap, IsCrossedByTheWindowOfALongPath) {
  const auto [role, flow] = GetParam();
  std::optional<SequenceShift> shift;
  Link link = make_link(role, {.relayed = true, .prepare = [&](UdpRelay& relay) {
                                 shift.emplace(relay, 0x7ffffe00);
                                 relay.impair(Towards::listener, {.drop = 0.005, .delay_of_all = 5ms, .seed = 3});
                                 relay.impair(Towards::connector, {.drop = 0.005, .delay_of_all = 5ms, .seed = 4});
                               }});
  ASSERT_TRUE(link.up());
  carry(link, flow, 2 << 20, 28s);
  expect_diligence(link, Towards::connector);
}

}  // namespace
}  // namespace udtcat::test::interop
