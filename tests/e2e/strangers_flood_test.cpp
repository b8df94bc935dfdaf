/// One address that floods a listener costs those who hold the key nothing.
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udt_flood.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::e2e {
namespace {

using Kind = UdtFlood::Kind;

struct Flood {
  const char* name;
  Kind kind;
  std::uint64_t bytes_per_second;
};
constexpr std::uint64_t kTrickle = 10'000;
constexpr std::uint64_t kTorrent = 10'000'000;

std::string name_of(const testing::TestParamInfo<Flood>& info) { return info.param.name; }

class StrangersFlood : public UdtcatTest, public testing::WithParamInterface<Flood> {
 protected:
  struct Dials {
    int succeeded = 0;
    std::chrono::milliseconds median{0};
  };

  /// Each from a process of its own that knows nothing of the one before, until a connection has reached the far side's service.
  [[nodiscard]] Dials dial(int count) {
    Dials dials;
    std::vector<std::chrono::milliseconds> took;
    for (int i = 0; i < count; ++i)
      if (const auto time = dial_once()) took.push_back(*time);
    dials.succeeded = static_cast<int>(took.size());
    if (took.empty()) return dials;
    std::nth_element(took.begin(), took.begin() + dials.succeeded / 2, took.end());
    dials.median = took[took.size() / 2];
    return dials;
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
  const int count = scaled_count(20);
  endure(GetParam());
  EXPECT_EQ(dial(count).succeeded, count) << far_.errors();
}

TEST_P(StrangersFlood, CostsAHundredDialsNothingSoak) {
  const Dials quiet = dial(100);
  // What the flood costs this machine, which here is its own attacker, is not what it costs the listener.
  const BoundUdp elsewhere = bind_udp();
  flood_.emplace(elsewhere.port, GetParam().kind, GetParam().bytes_per_second);
  const Dials beside = dial(100);
  flood_.reset();
  endure(GetParam());
  const Dials flooded = dial(100);
  std::printf("%-16s quiet %3d, %3lld ms; flood of another port %3d, %3lld ms; flooded %3d, %3lld ms\n",
              GetParam().name, quiet.succeeded, static_cast<long long>(quiet.median.count()), beside.succeeded,
              static_cast<long long>(beside.median.count()), flooded.succeeded,
              static_cast<long long>(flooded.median.count()));
  EXPECT_EQ(flooded.succeeded, 100) << far_.errors();
  EXPECT_LE(flooded.median.count(), std::max(quiet.median, beside.median).count() * 3 / 2);
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
                         name_of);

}  // namespace
}  // namespace udtcat::e2e
