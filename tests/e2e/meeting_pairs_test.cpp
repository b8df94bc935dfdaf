// SPDX-License-Identifier: Apache-2.0
/// docs/spec/meet.md, tcp.md §6: what becomes of each pair of hosts that meet, by the kinds of their gateways.
#include <array>
#include <cstdio>
#include <iostream>
#include <list>
#include <optional>

#include <gmock/gmock.h>

#include "e2e/support/meeting_test.hpp"

namespace udtcat::test::e2e {
namespace {

using Seconds = std::chrono::duration<double>;

/// A kind of gateway, by its letter in the table.
struct EndKind {
  char letter;
  Gateway gateway;
};
constexpr std::array kKinds{EndKind{'O', Gateway::open},         EndKind{'F', Gateway::stateful},
                            EndKind{'M', Gateway::masquerading}, EndKind{'R', Gateway::random},
                            EndKind{'U', Gateway::without_udp},  EndKind{'P', Gateway::only_proxy}};

enum class Carriage { direct, relayed };

/// By UDP a port that is drawn for each flow is known to nobody before the flow is there: only an open host takes it.
/// By TCP nobody is reached behind a translator or a proxy; these firewalls pass TCP to the port that is drawn.
Carriage expected(const EndKind& connector, const EndKind& listener) {
  const auto is_one_of = [](const EndKind& kind, auto... gateways) { return ((kind.gateway == gateways) || ...); };
  const auto has_udp = [&](const EndKind& kind) { return !is_one_of(kind, Gateway::without_udp, Gateway::only_proxy); };
  if (!has_udp(connector) || !has_udp(listener)) {
    const bool is_behind = is_one_of(listener, Gateway::masquerading, Gateway::random, Gateway::only_proxy);
    return is_behind ? Carriage::relayed : Carriage::direct;
  }
  const auto draws = [](const EndKind& kind) { return kind.gateway == Gateway::random; };
  const auto is_open = [](const EndKind& kind) { return kind.gateway == Gateway::open; };
  const bool is_relayed = (draws(connector) && !is_open(listener)) || (draws(listener) && !is_open(connector));
  return is_relayed ? Carriage::relayed : Carriage::direct;
}

struct PairOfEnds {
  EndKind connector;
  EndKind listener;
};

std::string name_of_pair(const PairOfEnds& pair) { return {pair.connector.letter, 'T', 'o', pair.listener.letter}; }

class PairOfKinds : public MeetingTest {
 protected:
  struct Row {
    Carriage carriage = Carriage::direct;
    Seconds first{0};  ///< until the first byte, from the connector's start
    double mbytes_per_second = 0;
  };

  /// From the connector to the listener. None: the test has failed.
  std::optional<Row> pipe(std::uint64_t bytes) {
    Consumer consumer;
    Producer producer(1, bytes, Afterwards::end);
    Process listener = listen_via({.out = consumer.take_stdout()});
    if (!is_registered(listener)) return std::nullopt;
    const auto start = Clock::now();
    Process connector = connect_via({.in = producer.take_stdin()});
    Row row;
    const bool came = eventually(kTransferLimit, [&] { return consumer.bytes_read() > 0; });
    row.first = Clock::now() - start;
    expect_exit(connector, kSuccess);
    expect_exit(listener, kSuccess);
    const Seconds all = Clock::now() - start;
    row.mbytes_per_second = static_cast<double>(bytes) / 1e6 / std::max(0.001, (all - row.first).count());
    EXPECT_EQ(consumer.digest(), producer.digest());
    row.carriage = is_relayed(connector) ? Carriage::relayed : Carriage::direct;
    if (!came) return std::nullopt;
    return row;
  }
  static bool is_registered(const Process& listener) {
    const bool is = eventually(
        kTransferLimit, [&] { return listener.errors().find("registered at the meeting place") != std::string::npos; });
    EXPECT_TRUE(is) << listener.errors();
    return is;
  }
  void forward() {
    const Process web({.argv = {"python3", "-m", "http.server", "--bind", "127.0.0.1", "7777"},
                       .working_directory = home_.path(),
                       .network_namespace = hosts().far_host().file});
    const Process listener = listen_via({.args = {"--to", "127.0.0.1:7777"}});
    if (!is_registered(listener)) return;
    const Process connector = connect_via({.args = {"--from", "127.0.0.1:7000"}});
    const Ran ran =
        near("curl -s --max-time 20 --retry 40 --retry-delay 1 --retry-all-errors http://127.0.0.1:7000/f | cmp - f");
    EXPECT_EQ(ran.status, 0) << ran.errors << connector.errors() << listener.errors();
  }
  void send() {
    const Process listener =
        udtcat({"receive", "-l", "-v", "--via", place_address(), "--into", "d"},
               {.key = key_, .network_namespace = hosts().far_host().file, .environment = far_environment()});
    if (!is_registered(listener)) return;
    const Ran ran = near("$UDTCAT send f --via $PLACE -q && cmp f d/f");
    EXPECT_EQ(ran.status, 0) << ran.errors << listener.errors();
  }
  void expect_carried(const PairOfEnds& pair, std::uint64_t bytes) {
    meet(pair.connector.gateway, pair.listener.gateway);
    ASSERT_EQ(near("head -c 300000 /dev/urandom > f").status, 0);
    const auto row = pipe(bytes);
    ASSERT_TRUE(row);
    std::printf("%c to %c: %s, first byte after %.2f s, %.1f MB/s\n", pair.connector.letter, pair.listener.letter,
                row->carriage == Carriage::direct ? "direct" : "relayed", row->first.count(), row->mbytes_per_second);
    EXPECT_EQ(row->carriage, expected(pair.connector, pair.listener));
    forward();
    send();
  }
};

class MeetingPairs : public PairOfKinds, public testing::WithParamInterface<PairOfEnds> {};

TEST_P(MeetingPairs, CarryAPipeAForwardAndFiles) { expect_carried(GetParam(), 4'000'000); }

std::vector<PairOfEnds> all_pairs() {
  std::vector<PairOfEnds> pairs;
  for (const EndKind& connector : kKinds)
    for (const EndKind& listener : kKinds) pairs.push_back({connector, listener});
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(Of, MeetingPairs, testing::ValuesIn(all_pairs()),
                         [](const auto& its) { return name_of_pair(its.param); });

/// The same table, with rates that say something.
class MeetingPairsSoak : public PairOfKinds, public testing::WithParamInterface<PairOfEnds> {};

TEST_P(MeetingPairsSoak, CarryMuch) { expect_carried(GetParam(), scaled(500'000'000)); }

INSTANTIATE_TEST_SUITE_P(Of, MeetingPairsSoak, testing::ValuesIn(all_pairs()),
                         [](const auto& its) { return name_of_pair(its.param); });

// ---- Many at once -------------------------------------------------------------------------------------------------

class ManyPairs : public MeetingTest {
 protected:
  struct Two {
    explicit Two(std::uint64_t seed, std::uint64_t bytes) : producer(seed, bytes, Afterwards::end) {}
    Producer producer;
    Consumer consumer;
    std::optional<Process> listener;
    std::optional<Process> connector;
  };

  void expect_all_carried(std::size_t count, std::uint64_t bytes) {
    meet(Gateway::open, Gateway::open);
    hosts().translate_to_many();
    hosts().cut_direct();
    const std::uint64_t before = place().resident_bytes();
    std::list<Two> all;
    for (std::uint64_t i = 0; i < count; ++i) {
      Two& two = all.emplace_back(i + 1, bytes);
      const std::string key = make_key();
      two.listener.emplace(listen_via({.out = two.consumer.take_stdout(), .key = key}));
      two.connector.emplace(
          connect_via({.args = {"--connect-timeout", "120s"}, .in = two.producer.take_stdin(), .key = key}));
    }
    for (Two& two : all) {
      expect_exit(*two.connector, kSuccess, 2 * kTransferLimit);
      expect_exit(*two.listener, kSuccess, kTransferLimit);
      EXPECT_EQ(two.consumer.digest(), two.producer.digest());
      EXPECT_TRUE(is_relayed(*two.connector)) << two.connector->errors();
    }
    std::cout << count << " pairs: the place had " << (place().peak_resident_bytes() - before) / 1000
              << " kB more than " << before / 1000 << " kB\n";
    if (!kSanitized) {
      EXPECT_LE(place().peak_resident_bytes() - before, count * kMiB);
    }
  }
};

TEST_F(ManyPairs, AreRelayedByOnePlace) { expect_all_carried(20, 300'000); }
TEST_F(ManyPairs, OfAHundredAreRelayedByOnePlaceSoak) { expect_all_carried(100, scaled(10'000'000)); }

}  // namespace
}  // namespace udtcat::test::e2e
