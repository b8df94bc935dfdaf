// SPDX-License-Identifier: Apache-2.0
/// --bind: a host with two uplinks, each with an address and routes of its own, which carry one session together.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr const char* kFirst = "10.75.1.1";
constexpr const char* kSecond = "10.75.2.1";
constexpr const char* kBoth = "10.75.1.1,10.75.2.1";
constexpr const char* kNobodys = "10.75.9.9";
constexpr const char* kFar = "10.75.0.2";

std::string netns_of_uplinks(const std::string& suffix) { return "udtcat-e2e-" + std::to_string(::getpid()) + suffix; }

Ran shell_of_uplinks(const std::string& script) { return run({.argv = {"bash", "-c", "set -e; " + script}}); }

enum class Loss { link_down, dropped_on_the_way };

/// Two hosts with two links of 200 Mbit/s between them. The far one has an address of its own, behind both; the near
/// one has one on each, and a table of routes for each, as the guide says.
class Uplinks : public UdtcatTest {
 protected:
  void SetUp() override {
    if (!Namespaces::allowed()) GTEST_SKIP() << "needs root";
    must("ip netns add " + near_ + "; ip netns add " + far_ + "; ip -n " + near_ + " link set lo up; ip -n " + far_ +
         " link set lo up; ip -n " + far_ + " address add " + kFar + "/32 dev lo");
    for (const std::string number : {"1", "2"}) {
      const std::string device = "uplink" + number;
      const std::string network = "10.75." + number;
      must("ip link add " + device + " netns " + near_ + " type veth peer name " + device + " netns " + far_ +
           "; ip -n " + near_ + " address add " + network + ".1/24 dev " + device + "; ip -n " + far_ +
           " address add " + network + ".2/24 dev " + device + "; ip -n " + near_ + " link set " + device +
           " up; ip -n " + far_ + " link set " + device + " up; tc -n " + near_ + " qdisc add dev " + device +
           " root tbf rate 200mbit burst 64k latency 30ms; ip -n " + near_ + " route add default via " + network +
           ".2 dev " + device + " metric " + number + "; ip -n " + near_ + " route add default via " + network +
           ".2 dev " + device + " table " + number + "; ip -n " + near_ + " rule add from " + network + ".1 table " +
           number);
    }
    host_ = kFar;
  }
  ~Uplinks() override {
    for (const std::string& each : {near_, far_}) std::ignore = shell_of_uplinks("ip netns delete " + each);
  }

  static void must(const std::string& script) {
    const Ran ran = shell_of_uplinks(script);
    if (ran.status == 0) return;
    std::fprintf(stderr, "the test cannot go on: %s: %s\n", script.c_str(), ran.errors.c_str());
    std::abort();
  }
  [[nodiscard]] Process listen_there(End end = {}) const {
    end.network_namespace = "/run/netns/" + far_;
    return listen(std::move(end));
  }
  [[nodiscard]] Process connect_from(const std::string& addresses, End end = {}) const {
    end.network_namespace = "/run/netns/" + near_;
    end.args.insert(end.args.end(), {"--bind", addresses});
    return connect(std::move(end));
  }
  /// Bytes that have left by that uplink.
  [[nodiscard]] std::uint64_t sent_by(const std::string& number) const {
    const Ran ran = run({.argv = {"cat", "/proc/self/net/dev"}, .network_namespace = "/run/netns/" + near_});
    std::istringstream words(ran.output.substr(ran.output.find("uplink" + number + ":") + 8));
    const std::vector<std::uint64_t> counters{std::istream_iterator<std::uint64_t>(words), {}};
    return counters.size() > 8 ? counters[8] : 0;
  }
  /// Nothing has been dropped on the way of that uplink.
  void restore(const std::string& number) const {
    for (const std::string& host : {near_, far_}) must("ip netns exec " + host + " nft delete table ip lost" + number);
  }
  /// From there on nothing passes by that uplink.
  void lose(const std::string& number, Loss loss) const {
    if (loss == Loss::link_down)
      must("ip -n " + near_ + " link set uplink" + number + " down");
    else
      for (const std::string& host : {near_, far_})
        must("ip netns exec " + host + " nft 'table ip lost" + number +
             " { chain i { type filter hook input priority 0; iifname uplink" + number + " drop\n}\n}'");
  }

  const std::string near_ = netns_of_uplinks("-uplinks-near");
  const std::string far_ = netns_of_uplinks("-uplinks-far");
};

TEST_F(Uplinks, CarryOneStreamTogether) {
  const RandomFile file(21, scaled(64 * kMiB));
  Consumer consumer;
  Process listener = listen_there({.out = consumer.take_stdout()});
  Process connector = connect_from(kBoth, {.in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), file.digest());
  const std::uint64_t least = scaled(64 * kMiB) / 5;
  EXPECT_GT(sent_by("1"), least) << connector.errors();
  EXPECT_GT(sent_by("2"), least) << connector.errors();
}

TEST_F(Uplinks, LeaveFromTheOneThatIsNamed) {
  const RandomFile file(22, kMiB);
  for (const std::string transport : {"native", "tcp"}) {
    const std::uint64_t before = sent_by("2");
    const std::uint64_t other = sent_by("1");
    Consumer consumer;
    Process listener = listen_there({.args = {"--transport", transport}, .out = consumer.take_stdout()});
    Process connector =
        connect_from(kSecond, {.args = {"--transport", transport}, .in = open_for_reading(file.path())});
    expect_exit(connector, kSuccess);
    expect_exit(listener, kSuccess);
    EXPECT_EQ(consumer.digest(), file.digest());
    EXPECT_GT(sent_by("2") - before, kMiB);
    EXPECT_LT(sent_by("1") - other, 100 * kKiB) << "the first route of the system's own";
  }
}

TEST_F(Uplinks, AreTheAddressesOfThisHost) {
  Process connector = connect_from(kNobodys);
  expect_exit(connector, kUnreachable, kAtOnce);
  expect_says(connector, std::string("leave from ") + kNobodys + ": no interface of this host has this address");
  Process other_family = connect_from("::1");
  expect_exit(other_family, kUnreachable, kAtOnce);
  expect_says(other_family, "--bind has no IPv4 address");
}

TEST_F(Uplinks, MayBeFewerThanAreNamed) {
  const RandomFile file(23, kMiB);
  Consumer consumer;
  Process listener = listen_there({.out = consumer.take_stdout()});
  Process connector = connect_from(std::string(kNobodys) + "," + kSecond, {.in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), file.digest());
  EXPECT_EQ(count_lines(connector, std::string("leave from ") + kNobodys), 1) << connector.errors();
}

class LostUplinks : public Uplinks, public testing::WithParamInterface<std::tuple<const char*, Loss>> {};

TEST_P(LostUplinks, LeaveTheirPartToTheOther) {
  const auto [lost, loss] = GetParam();
  const std::uint64_t bytes = scaled(128 * kMiB);
  const RandomFile file(24, bytes);
  Consumer consumer;
  Process listener = listen_there({.out = consumer.take_stdout()});
  Process connector = connect_from(kBoth, {.args = {"--idle-timeout", "20s"}, .in = open_for_reading(file.path())});
  ASSERT_TRUE(eventually(patience(60s), [&] { return sent_by("1") > 2 * kMiB && sent_by("2") > 2 * kMiB; }))
      << connector.errors();
  lose(lost, loss);
  ASSERT_LT(consumer.bytes_read(), bytes) << "it was over before";
  auto moved = Clock::now();
  auto longest = Clock::duration(0);
  std::uint64_t read = consumer.bytes_read();
  EXPECT_TRUE(eventually(patience(60s), [&] {
    const auto now = Clock::now();
    longest = std::max(longest, now - moved);
    if (read != consumer.bytes_read()) moved = now;
    read = consumer.bytes_read();
    return read == bytes || !connector.running();
  }));
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), file.digest());
  const std::chrono::duration<double> stall = longest;
  std::printf("uplink %s lost: nothing came for %.2f s\n", lost, stall.count());
  EXPECT_LT(longest, patience(2s));
}

TEST_F(Uplinks, AreUsedAgainWhenTheyAreBack) {
  for (const std::string lost : {"1", "2"}) {
    lose(lost, Loss::dropped_on_the_way);
    Process listener = listen_there({.out = open_for_writing("/dev/null")});
    // On a busy machine TCP may be sooner than what the first uplink leaves of UDP's time, and has no second flow.
    Process connector = connect_from(kBoth, {.args = {"--transport", "native"}, .in = open_for_reading("/dev/zero")});
    const std::uint64_t before = sent_by(lost);
    const std::string other = lost == "1" ? "2" : "1";
    const std::uint64_t before_by_other = sent_by(other);
    ASSERT_TRUE(eventually(patience(20s), [&] { return sent_by(other) > before_by_other + 2 * kMiB; }));
    EXPECT_LT(sent_by(lost), before + kMiB);
    restore(lost);
    EXPECT_TRUE(eventually(patience(20s), [&] { return sent_by(lost) > before + 4 * kMiB; })) << connector.errors();
  }
}

TEST_P(LostUplinks, MayBeLostBefore) {
  const auto [lost, loss] = GetParam();
  lose(lost, loss);
  const RandomFile file(25, 4 * kMiB);
  Consumer consumer;
  Process listener = listen_there({.out = consumer.take_stdout()});
  const auto began = Clock::now();
  Process connector = connect_from(kBoth, {.in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  const std::chrono::duration<double> took = Clock::now() - began;
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), file.digest());
  std::printf("uplink %s lost before: %.2f s\n", lost, took.count());
  EXPECT_LT(took, patience(5s));
}

INSTANTIATE_TEST_SUITE_P(Of, LostUplinks,
                         testing::Combine(testing::Values("1", "2"),
                                          testing::Values(Loss::link_down, Loss::dropped_on_the_way)),
                         [](const auto& its) {
                           const bool is_down = std::get<1>(its.param) == Loss::link_down;
                           return (std::string(std::get<0>(its.param)) == "1" ? "First" : "Second") +
                                  std::string(is_down ? "LinkDown" : "Dropped");
                         });

}  // namespace
}  // namespace udtcat::test::e2e
