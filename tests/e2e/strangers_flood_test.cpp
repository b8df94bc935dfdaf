// SPDX-License-Identifier: Apache-2.0
/// One address that floods a listener costs those who hold the key nothing.
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udt_flood.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using Kind = UdtFlood::Kind;

struct Flood {
  const char* name;
  Kind kind;
  std::uint64_t bytes_per_second;
};
constexpr std::uint64_t kTrickle = 10'000;
constexpr std::uint64_t kTorrent = scaled(10'000'000);

std::string name_of_flood(const testing::TestParamInfo<Flood>& info) { return info.param.name; }

class StrangersFlood : public UdtcatTest, public testing::WithParamInterface<Flood> {
 protected:
  struct Dials {
    std::vector<std::chrono::milliseconds> took;  // of those that succeeded
    [[nodiscard]] long long median() const {
      auto sorted = took;
      std::sort(sorted.begin(), sorted.end());
      return sorted.empty() ? 0 : sorted[sorted.size() / 2].count();
    }
  };

  /// Each from a process of its own that knows nothing of the one before, until a connection has reached the far side's
  /// service.
  void dial(Dials& dials, int count) {
    for (int i = 0; i < count; ++i)
      if (const auto time = dial_once()) dials.took.push_back(*time);
  }

  /// Waits until the flood holds what it can get.
  void endure(const Flood& flood) {
    flood_.emplace(port_, flood.kind, flood.bytes_per_second);
    EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(far_, "refused 127.0.0.1:") > 0; })) << far_.errors();
  }

 private:
  [[nodiscard]] std::optional<std::chrono::milliseconds> dial_once() {
    const std::uint16_t entrance = free_port();
    const auto began = Clock::now();
    Process near = connect({.args = {"--from", "127.0.0.1:" + std::to_string(entrance)}});
    const bool passed = accepts_tcp(entrance, kAtOnce) && service_.accept(kAtOnce);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    near.send_signal(SIGTERM);
    if (!near.wait(kAtOnce) || !passed) return std::nullopt;
    return took;
  }

 protected:
  const TcpListener service_;
  Process far_ = listen({.args = {"--to", "127.0.0.1:" + std::to_string(service_.port())}});
  std::optional<UdtFlood> flood_;
};

TEST_P(StrangersFlood, ShutsNobodyOutWhoHoldsTheKey) {
  const auto count = static_cast<std::size_t>(scaled_count(20));
  endure(GetParam());
  Dials flooded;
  dial(flooded, scaled_count(20));
  EXPECT_EQ(flooded.took.size(), count) << far_.errors();
}

TEST_P(StrangersFlood, CostsAHundredDialsNothingSoak) {
  // The machine is its own attacker: the same flood to another port shows its own cost, and not the listener's.
  const BoundUdp elsewhere = bind_udp();
  Dials quiet;
  Dials beside;
  Dials flooded;
  endure(GetParam());
  // In turns, so that whatever else this machine does is in all three.
  for (int round = 0; round < 10; ++round) {
    flood_.emplace(port_, GetParam().kind, GetParam().bytes_per_second);
    dial(flooded, 10);
    flood_.emplace(elsewhere.port, GetParam().kind, GetParam().bytes_per_second);
    dial(beside, 10);
    flood_.reset();
    dial(quiet, 10);
  }
  std::printf("%-16s quiet %3zu, %3lld ms; flood of another port %3zu, %3lld ms; flooded %3zu, %3lld ms\n",
              GetParam().name, quiet.took.size(), quiet.median(), beside.took.size(), beside.median(),
              flooded.took.size(), flooded.median());
  EXPECT_EQ(flooded.took.size(), 100U) << far_.errors();
  EXPECT_LE(flooded.median(), std::max(quiet.median(), beside.median()) * 3 / 2);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StrangersFlood,
                         testing::Values(Flood{"MuteTrickle", Kind::mute, kTrickle},
                                         Flood{"MuteTorrent", Kind::mute, kTorrent},
                                         Flood{"TlsStartTrickle", Kind::tls_start, kTrickle},
                                         Flood{"TlsStartTorrent", Kind::tls_start, kTorrent},
                                         Flood{"OneByteTrickle", Kind::one_byte, kTrickle},
                                         Flood{"OneByteTorrent", Kind::one_byte, kTorrent},
                                         Flood{"HalfHelloTrickle", Kind::half_hello, kTrickle},
                                         Flood{"HalfHelloTorrent", Kind::half_hello, kTorrent}),
                         name_of_flood);

}  // namespace
}  // namespace udtcat::test::e2e
