// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/datagram_guard.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "lib/core/byte_order.hpp"

namespace udtcat::transport::libudt {
namespace {

constexpr std::size_t kMss = 1500;
constexpr std::uint32_t kControl = 0x80000000;
constexpr std::uint32_t kRange = 0x80000000;
constexpr std::uint32_t kPeerId = 77;

using Datagram = std::vector<std::byte>;
using Words = std::vector<std::uint32_t>;

Datagram datagram(const Words& words, std::size_t more_bytes = 0) {
  Datagram bytes(words.size() * 4 + more_bytes);
  for (std::size_t i = 0; i < words.size(); ++i) core::store_be(std::span(bytes).subspan(4 * i), words[i]);
  return bytes;
}

Datagram control(std::uint32_t type, const Words& payload, std::size_t more_bytes = 0, std::uint32_t id = kPeerId) {
  Words words{kControl | type << 16, 0, 0, id};
  words.insert(words.end(), payload.begin(), payload.end());
  return datagram(words, more_bytes);
}

Datagram data(std::size_t payload_bytes, std::uint32_t id = kPeerId) {
  return datagram({1, 0xc0000001, 5, id}, payload_bytes);
}

struct Handshake {
  std::uint32_t version = 4, type = 1, isn = 5, mss = 1500, window = 8192, request = 1, id = 3;
  [[nodiscard]] Datagram bytes(std::uint32_t to = 0, std::size_t more_bytes = 0) const {
    return control(0, {version, type, isn, mss, window, request, id, 0, 0x0100007f, 0, 0, 0}, more_bytes, to);
  }
};

class DatagramGuard : public testing::TestWithParam<AddressFamily> {
 protected:
  DatagramGuard()
      : receiver_(net::UdpSocket::open(GetParam()).value()), sender_(net::UdpSocket::open(GetParam()).value()) {
    const char* const host = GetParam() == AddressFamily::ipv6 ? "::1" : "127.0.0.1";
    EXPECT_TRUE(attach_datagram_guard(receiver_, kMss, 65535));
    EXPECT_TRUE(receiver_.bind(resolve({host, 0}, GetParam())->front()));
    EXPECT_TRUE(sender_.connect(*receiver_.local_endpoint()));
  }

  /// Loopback delivers before send() returns, so what is not there was dropped.
  bool passes(const Datagram& bytes) {
    EXPECT_EQ(::send(sender_.descriptor(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    std::array<std::byte, 4096> received{};
    const ssize_t got = ::recv(receiver_.descriptor(), received.data(), received.size(), MSG_DONTWAIT);
    if (got >= 0) {
      EXPECT_EQ(Datagram(received.begin(), received.begin() + got), bytes);
    }
    return got >= 0;
  }

  net::UdpSocket receiver_;
  net::UdpSocket sender_;
};

INSTANTIATE_TEST_SUITE_P(BothFamilies, DatagramGuard, testing::Values(AddressFamily::ipv4, AddressFamily::ipv6),
                         [](const auto& row) { return row.param == AddressFamily::ipv6 ? "Ipv6" : "Ipv4"; });

TEST_P(DatagramGuard, DropsWhatIsShorterThanAHeader) {
  const Datagram keep_alive = control(1, {});
  for (std::size_t length = 0; length < keep_alive.size(); ++length)
    EXPECT_FALSE(passes(Datagram(keep_alive.begin(), keep_alive.begin() + static_cast<std::ptrdiff_t>(length))))
        << length;
  EXPECT_TRUE(passes(keep_alive));
}

TEST_P(DatagramGuard, PassesDataUpToTheMss) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, kMss - 45, kMss - 44})
    EXPECT_TRUE(passes(data(length))) << length;
  for (const std::size_t length : {kMss - 43, kMss, std::size_t{3000}}) EXPECT_FALSE(passes(data(length))) << length;
}

TEST_P(DatagramGuard, LetsOnlyHandshakesReachAListener) {
  EXPECT_FALSE(passes(data(48, 0)));
  EXPECT_FALSE(passes(control(1, Words(12), 0, 0)));
  EXPECT_TRUE(passes(Handshake{}.bytes(0)));
  EXPECT_TRUE(passes(Handshake{}.bytes(kPeerId)));
}

TEST_P(DatagramGuard, PassesHandshakesOfExactly48Bytes) {
  EXPECT_TRUE(passes(Handshake{}.bytes()));
  for (const std::size_t more : {1U, 4U, 16U, 1000U}) EXPECT_FALSE(passes(Handshake{}.bytes(0, more))) << more;
  const Datagram whole = Handshake{}.bytes();
  for (std::size_t length = 16; length < whole.size(); ++length)
    EXPECT_FALSE(passes(Datagram(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)))) << length;
}

TEST_P(DatagramGuard, DropsHandshakesOfOtherVersionsAndTypes) {
  for (const std::uint32_t version : {0U, 3U, 5U, 0xffffffffU})
    EXPECT_FALSE(passes(Handshake{.version = version}.bytes())) << version;
  for (const std::uint32_t type : {0U, 2U, 0xffffffffU}) EXPECT_FALSE(passes(Handshake{.type = type}.bytes())) << type;
}

TEST_P(DatagramGuard, DropsHandshakesWithAnMssThatLibudtCannotBear) {
  for (const std::uint32_t mss : {0U, 43U, 44U, 45U, 127U, 65536U, 0x80000000U, 0xffffffffU})
    EXPECT_FALSE(passes(Handshake{.mss = mss}.bytes())) << mss;
  for (const std::uint32_t mss : {128U, 1500U, 9000U, 65535U})
    EXPECT_TRUE(passes(Handshake{.mss = mss}.bytes())) << mss;
}

TEST_P(DatagramGuard, DropsHandshakesWithAnAbsurdWindow) {
  for (const std::uint32_t window : {0U, 65537U, 0x3fffffffU, 0x7fffffffU, 0x80000000U, 0xffffffffU})
    EXPECT_FALSE(passes(Handshake{.window = window}.bytes())) << window;
  for (const std::uint32_t window : {1U, 8192U, 65536U})
    EXPECT_TRUE(passes(Handshake{.window = window}.bytes())) << window;
}

TEST_P(DatagramGuard, DropsHandshakesWithSignedNumbers) {
  EXPECT_TRUE(passes(Handshake{.isn = 0x7fffffff}.bytes()));
  EXPECT_FALSE(passes(Handshake{.isn = 0x80000000}.bytes()));
  EXPECT_TRUE(passes(Handshake{.id = 0x7fffffff}.bytes()));
  EXPECT_FALSE(passes(Handshake{.id = 0x80000001}.bytes()));
  EXPECT_FALSE(passes(Handshake{.id = 0}.bytes()));
}

TEST_P(DatagramGuard, TurnsRendezvousAndRejectionsIntoSilence) {
  EXPECT_TRUE(passes(Handshake{.request = 1}.bytes()));
  EXPECT_TRUE(passes(Handshake{.request = 0xffffffff}.bytes()));
  for (const std::uint32_t request : {0U, 2U, 1002U, 1003U, 0xfffffffeU})
    EXPECT_FALSE(passes(Handshake{.request = request}.bytes())) << request;
}

TEST_P(DatagramGuard, PassesAcksOfTheThreeLengthsThatLibudtSends) {
  const Words full{9, 1000, 500, 8000, 100, 1000};
  for (std::size_t bytes = 0; bytes <= 32; ++bytes) {
    Words whole(full.begin(),
                full.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes / 4, full.size())));
    EXPECT_EQ(passes(control(2, whole, bytes - 4 * whole.size())), bytes == 4 || bytes == 16 || bytes == 24) << bytes;
  }
}

TEST_P(DatagramGuard, DropsAcksWithNumbersThatWreckASender) {
  EXPECT_FALSE(passes(control(2, {0x80000000})));
  EXPECT_FALSE(passes(control(2, {0xffffffff, 1000, 500, 8000})));
  EXPECT_FALSE(passes(control(2, {9, 0x7fffffff, 500, 8000})));
  EXPECT_FALSE(passes(control(2, {9, 0xffffffff, 500, 8000, 1, 1})));
  EXPECT_TRUE(passes(control(2, {0x7fffffff, 60'000'000, 500, 8000, 1, 1})));
}

TEST_P(DatagramGuard, DropsNaksThatLibudtWouldReadPastTheEndOf) {
  EXPECT_TRUE(passes(control(3, {5})));
  EXPECT_TRUE(passes(control(3, {kRange | 5, 9})));
  EXPECT_TRUE(passes(control(3, {1, kRange | 5, 9, 12})));
  EXPECT_FALSE(passes(control(3, {})));
  EXPECT_FALSE(passes(control(3, {kRange | 5})));
  EXPECT_FALSE(passes(control(3, {1, 2, kRange | 5})));
  for (std::size_t more = 1; more < 4; ++more) EXPECT_FALSE(passes(control(3, {5}, more))) << more;
}

TEST_P(DatagramGuard, DropsNaksThatWouldBeCutShort) {
  EXPECT_TRUE(passes(control(3, Words((kMss - 44) / 4, 1))));
  EXPECT_FALSE(passes(control(3, Words((kMss - 44) / 4 + 1, 1))));
}

TEST_P(DatagramGuard, PassesTheOtherTypesThatAConnectionNeeds) {
  for (const std::uint32_t type : {1U, 5U, 6U}) {
    EXPECT_TRUE(passes(control(type, {}))) << type;
    EXPECT_TRUE(passes(control(type, {0}))) << type;
    EXPECT_TRUE(passes(control(type, {}, 100))) << type;
  }
}

TEST_P(DatagramGuard, DropsEveryOtherType) {
  for (std::uint32_t type = 0; type < 0x8000; ++type) {
    if (type <= 3 || type == 5 || type == 6) continue;
    ASSERT_FALSE(passes(control(type, {1, 2}))) << type;
  }
}

TEST_P(DatagramGuard, LimitsTheMssThatAnAnswerMayClaim) {
  ASSERT_TRUE(attach_datagram_guard(receiver_, kMss, kMss));
  EXPECT_TRUE(passes(Handshake{.mss = kMss}.bytes()));
  EXPECT_FALSE(passes(Handshake{.mss = kMss + 1}.bytes()));
}

}  // namespace
}  // namespace udtcat::transport::libudt
