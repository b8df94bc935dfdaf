// SPDX-License-Identifier: Apache-2.0
/// No state keeps an end for ever: whatever a path swallows, from whatever moment on, both ends are over in the
/// documented time.
#include <algorithm>
#include <array>
#include <list>
#include <ostream>
#include <span>
#include <utility>

#include "e2e/support/udtcat_test.hpp"
#include "support/udp_relay.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr auto kSilence = "3s";
// Ten seconds for what comes before a session; then the silence that one end hears, and that of its own end, which the
// other hears.
constexpr auto kOver = patience(40s);
constexpr std::size_t kNarrowBytes =
    500 - 28;                         // of IP packets of 500 bytes, less than any path carries: the UDP payload
constexpr std::size_t kAtATime = 16;  // guess: what two cores can start without being a path of their own

enum class Hole { everything, to_listener, to_connector, large, all_but_keep_alives };
enum class Streams { both_ways, one_way, waits_for_receipt };

struct Case {
  const char* transport = "native";
  const char* flows = "1";
  Hole hole = Hole::everything;
  Streams streams = Streams::both_ways;
  std::chrono::milliseconds after{0};  ///< the first packet
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  static constexpr std::array kHoles{"everything", "all to the listener", "all to the connector", "large packets",
                                     "all but keep-alives"};
  static constexpr std::array kStreams{"both ways", "one way", "until the receipt"};
  return out << each.transport << ", " << each.flows << " flows, streaming "
             << kStreams[static_cast<std::size_t>(each.streams)] << ", loses "
             << kHoles[static_cast<std::size_t>(each.hole)] << " after " << each.after.count() << " ms";
}

bool swallows(Hole hole, Towards towards, const PacketView& packet) {
  switch (hole) {
    case Hole::everything:
      return true;
    case Hole::to_listener:
      return towards == Towards::listener;
    case Hole::to_connector:
      return towards == Towards::connector;
    case Hole::large:
      return packet.datagram().size() > kNarrowBytes;
    case Hole::all_but_keep_alives:
      return !packet.is(Type::keep_alive);
  }
  return false;
}

/// Two ends and the path between them, which goes bad by itself.
class Pair {
 public:
  Pair(const Case& each, std::uint16_t listener_port)
      : case_(each),
        relay_(listener_port),
        from_connector_(1, each.streams == Streams::waits_for_receipt ? 300 * kKiB : Producer::kEndless,
                        Afterwards::end),
        from_listener_(2, each.streams == Streams::both_ways ? Producer::kEndless : 0, Afterwards::keep_open),
        at_listener_(each.streams == Streams::waits_for_receipt ? Begin::when_told : Begin::at_once) {
    for (const Towards towards : {Towards::listener, Towards::connector})
      relay_.rule(towards, [this, towards](const PacketView& packet) {
        if (!first_) first_ = Clock::now();
        return Fate{.drop = Clock::now() - *first_ >= case_.after && swallows(case_.hole, towards, packet)};
      });
  }

  [[nodiscard]] std::uint16_t port() const { return relay_.port(); }
  [[nodiscard]] End connector() {
    return {.args = arguments({"--connect-timeout", "8s"}),
            .in = from_connector_.take_stdin(),
            .out = at_connector_.take_stdout()};
  }
  [[nodiscard]] End listener() {
    return {.args = arguments({"--accept-timeout", "12s"}),
            .in = from_listener_.take_stdin(),
            .out = at_listener_.take_stdout()};
  }

 private:
  [[nodiscard]] Arguments arguments(const Arguments& more) const {
    Arguments all{"--transport", case_.transport, "--flows", case_.flows, "--idle-timeout", kSilence, "--rate", "8M"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  const Case case_;
  std::optional<Clock::time_point> first_;  // the relay's thread's
  UdpRelay relay_;
  Producer from_connector_;
  Producer from_listener_;
  Consumer at_listener_;
  Consumer at_connector_;
};

class Watchdog : public UdtcatTest {
 protected:
  void expect_all_end(const std::vector<Case>& cases) {
    for (std::size_t done = 0; done < cases.size(); done += kAtATime)
      expect_end(std::span(cases).subspan(done, std::min(kAtATime, cases.size() - done)));
  }

 private:
  struct Running {
    Running(const Case& each, std::uint16_t port) : pair(each, port) {}
    Pair pair;
    std::optional<Process> listener;
    std::optional<Process> connector;
  };

  void expect_end(std::span<const Case> cases) {
    std::list<Running> all;
    for (const Case& each : cases) {
      port_ = free_port();
      Running& running = all.emplace_back(each, port_);
      running.listener.emplace(listen(running.pair.listener()));
      running.connector.emplace(connect_to(running.pair.port(), running.pair.connector()));
    }
    const auto until = Clock::now() + kOver;
    auto each = cases.begin();
    for (Running& running : all) expect_over(running, *each++, until);
  }

  static void expect_over(Running& running, const Case& which, Clock::time_point until) {
    for (auto* const end : {&running.listener, &running.connector}) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      const auto ending = (*end)->wait(std::max(left, 0ms));
      const std::string name = end == &running.listener ? "the listener of " : "the connector of ";
      if (!ending) {
        ADD_FAILURE() << name << which << " goes on; stderr:\n" << (*end)->errors();
      } else {
        EXPECT_NE(ending->status, kSuccess) << name << which << " has not got, or given, everything";
        EXPECT_LT(ending->status, 128) << name << which << ":\n" << (*end)->errors();
      }
    }
  }
};

constexpr std::array kStreaming{Streams::both_ways, Streams::one_way, Streams::waits_for_receipt};

TEST_F(Watchdog, EndsBothEndsWhereOneFlowsDataVanishesAndAnothersDoesNot) {
  std::vector<Case> cases;
  for (const auto after : {40ms, 60ms, 80ms, 100ms, 500ms})
    for (const Streams streams : {Streams::both_ways, Streams::one_way})
      cases.push_back({.flows = "3", .hole = Hole::large, .streams = streams, .after = after});
  for (const char* const transport : {"native", "libudt"})
    cases.push_back({.transport = transport, .hole = Hole::large, .after = 1s});
  expect_all_end(cases);
}

TEST_F(Watchdog, EndsBothEndsInEveryState) {
  std::vector<Case> cases;
  for (const Hole hole : {Hole::everything, Hole::to_listener, Hole::to_connector, Hole::all_but_keep_alives})
    for (const auto after : {0ms, 10ms, 2000ms})
      cases.push_back({.flows = after == 10ms ? "3" : "1", .hole = hole, .after = after});
  for (const char* const transport : {"native", "libudt"})
    for (const Hole hole : {Hole::to_listener, Hole::to_connector})
      cases.push_back(
          {.transport = transport, .flows = "3", .hole = hole, .streams = Streams::waits_for_receipt, .after = 2s});
  expect_all_end(cases);
}

TEST_F(Watchdog, EndsBothEndsWhateverAndWheneverSoak) {
  std::vector<Case> cases;
  for (const char* const transport : {"native", "libudt"})
    for (const char* const flows : {"1", "3"})
      for (const Hole hole :
           {Hole::everything, Hole::to_listener, Hole::to_connector, Hole::large, Hole::all_but_keep_alives})
        for (const Streams streams : kStreaming)
          for (const auto after : {0ms, 5ms, 20ms, 40ms, 100ms, 2000ms})
            cases.push_back({transport, flows, hole, streams, after});
  expect_all_end(cases);
}

}  // namespace
}  // namespace udtcat::test::e2e
