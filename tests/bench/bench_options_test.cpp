// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_options.hpp"

#include <gmock/gmock.h>

#include "ssh/ssh_options.hpp"

namespace udtcat::bench {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using tool::Words;

BenchOptions bench(const Words& words) {
  auto options = parse_bench_options(words);
  EXPECT_TRUE(options) << (options ? "" : options.error().message());
  return options ? std::move(*options) : BenchOptions{};
}
std::string bench_complaint(const Words& words) {
  const auto options = parse_bench_options(words);
  return options ? "" : options.error().message();
}

TEST(BenchOptions, TellAListenerFromAHostForSsh) {
  for (const Words& words : {Words{"host", "9000"}, Words{"host:9000"}, Words{"-k", "key", "host", "9000"}}) {
    const BenchOptions options = bench(words);
    EXPECT_FALSE(options.by_ssh);
    EXPECT_EQ(options.peer.host, "host");
    EXPECT_EQ(options.peer.port, 9000);
  }
  for (const char* destination : {"user@host", "host"}) {
    const BenchOptions options = bench({destination});
    EXPECT_TRUE(options.by_ssh);
    EXPECT_EQ(options.ssh.destination, destination);
    EXPECT_EQ(options.host, "host");
    EXPECT_THAT(options.far_options, Contains("--bench"));
  }
}

TEST(BenchOptions, AreForASessionThatMeasures) {
  const BenchOptions options = bench({"host", "9000", "--seconds", "10", "--json"});
  EXPECT_EQ(options.session.application, "bench");
  EXPECT_EQ(options.settings.each_way, 10s);
  EXPECT_TRUE(options.settings.json);
  EXPECT_EQ(bench({"host", "9000"}).settings.each_way, 5s);
  EXPECT_EQ(bench({"host", "9000"}).connect_timeout, 10s);
  EXPECT_EQ(bench({"host"}).connect_timeout, ssh::kUdpTimeout);
}

TEST(BenchOptions, AreSilentUnlessAskedButForAPush) {
  EXPECT_EQ(bench({"host", "9000"}).progress, false);
  EXPECT_EQ(bench({"user@host"}).push_progress, std::nullopt);
  EXPECT_EQ(bench({"--no-progress", "user@host"}).push_progress, false);
}

TEST(BenchOptions, AreRefusedWhereTheyDoNothing) {
  EXPECT_THAT(bench_complaint({}), HasSubstr("HOST PORT, or [USER@]HOST"));
  EXPECT_THAT(bench_complaint({"h", "9000", "x"}), HasSubstr("HOST PORT, or [USER@]HOST"));
  EXPECT_THAT(bench_complaint({"h", "0"}), HasSubstr("1 to 65535"));
  EXPECT_THAT(bench_complaint({"h", "-k", "key"}), HasSubstr("ssh proves"));
  EXPECT_THAT(bench_complaint({"h", "9000", "--push"}), HasSubstr("where ssh starts"));
  EXPECT_THAT(bench_complaint({"h", "9000", "--protect", "clear"}), HasSubstr("prove the key"));
  EXPECT_THAT(bench_complaint({"h", "9000", "--seconds", "61"}), HasSubstr("1 to 60"));
  EXPECT_THAT(bench_complaint({"alice@h:9000"}), HasSubstr("as in h 9000; USER@ is for ssh only"));
  EXPECT_THAT(bench_complaint({"h:"}), HasSubstr("no colon follows the host here"));
}

}  // namespace
}  // namespace udtcat::bench
