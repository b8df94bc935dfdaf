// SPDX-License-Identifier: Apache-2.0
/// Connecting over all transports.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "lib/transport/transport_fixture.hpp"

namespace udtcat::transport {
namespace {

class Connecting : public EachTransport {
 protected:
  /// A port that takes everything and says nothing.
  class SilentPeer {
   public:
    SilentPeer(AddressFamily family, bool by_tcp)
        : descriptor_(::socket(family == AddressFamily::ipv6 ? AF_INET6 : AF_INET,
                               (by_tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0)) {
      const Endpoint any = loopback(family);
      EXPECT_EQ(::bind(descriptor_, any.data(), static_cast<socklen_t>(any.size_bytes())), 0);
      if (by_tcp) {
        EXPECT_EQ(::listen(descriptor_, 5), 0);
      }
    }
    ~SilentPeer() { ::close(descriptor_); }
    SilentPeer(const SilentPeer&) = delete;
    SilentPeer& operator=(const SilentPeer&) = delete;
    [[nodiscard]] Endpoint address() const {
      sockaddr_storage local{};
      socklen_t length = sizeof local;
      auto* const address = reinterpret_cast<sockaddr*>(&local);
      EXPECT_EQ(::getsockname(descriptor_, address, &length), 0);
      return Endpoint::from_sockaddr(address, length).value();
    }
    [[nodiscard]] int descriptor() const { return descriptor_; }

   private:
    int descriptor_;
  };
  [[nodiscard]] static bool by_tcp() { return GetParam() == TransportKind::tcp; }
  static SilentPeer silent_peer(AddressFamily family) { return {family, by_tcp()}; }
};

INSTANTIATE_TEST_SUITE_P(With, Connecting, testing::ValuesIn(transports()),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(Connecting, ToAClosedPortFailsQuickly) {
  for (const auto family : {AddressFamily::ipv4, AddressFamily::ipv6}) {
    const Endpoint nobody = silent_peer(family).address();
    const auto before = Clock::now();
    const auto refused = connect(nobody, 20s);
    ASSERT_FALSE(refused);
    EXPECT_LT(Clock::now() - before, 3s);
    EXPECT_EQ(refused.error().code, Errc::cannot_reach);
    EXPECT_EQ(refused.error().message(), by_tcp() ? "connect tcp " + nobody.to_string() + ": " + kTcpPortClosed
                                                  : "connect udp " + nobody.to_string() + ": " + kPortClosed);
  }
}

TEST_P(Connecting, ToASilentPeerEndsWithTheCallersPatience) {
  const auto silent = silent_peer(AddressFamily::ipv4);
  const auto before = Clock::now();
  const auto refused = connect(silent.address(), 300ms);
  ASSERT_FALSE(refused);
  EXPECT_GE(Clock::now() - before, 300ms);
  EXPECT_LT(Clock::now() - before, 2s);
  EXPECT_EQ(refused.error().code, Errc::cannot_reach);
  EXPECT_NE(refused.error().message().find("nobody answered"), std::string::npos);
}

TEST_P(Connecting, TriesAgainFromAnotherPortBeforeLibudtGivesUp) {
  if (GetParam() != TransportKind::libudt) GTEST_SKIP() << "only libudt gives up by itself";
  const auto silent = silent_peer(AddressFamily::ipv4);
  ASSERT_FALSE(connect(silent.address(), 3500ms));
  std::vector<std::uint16_t> ports;
  std::array<char, 2048> bytes{};
  sockaddr_storage from{};
  for (;;) {
    socklen_t length = sizeof from;
    auto* const address = reinterpret_cast<sockaddr*>(&from);
    if (::recvfrom(silent.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT, address, &length) < 0) break;
    const std::uint16_t port = Endpoint::from_sockaddr(address, length)->port();
    if (ports.empty() || ports.back() != port) ports.push_back(port);
  }
  EXPECT_EQ(ports.size(), 2U) << "one in the first 2.5 s, one after";
}

TEST_P(Connecting, IsAnsweredBeforeAnybodyAccepts) {
  const auto acceptor = listen({loopback(AddressFamily::ipv4)});
  EXPECT_TRUE(connect(acceptor->local_endpoints().front()));
}

TEST_P(Connecting, GivesWhatAListenerSaidThatHasLeftAlready) {
  const auto acceptor = listen({loopback(AddressFamily::ipv4)});
  const auto bytes = random_bytes(1000, 1);
  std::unique_ptr<Channel> gone;
  acceptor->async_accept([&](auto channel) {
    gone = std::move(*channel);
    gone->async_write(copy_of(bytes), [](const Status&) {});
    gone->close(5s);
  });
  auto channel = connect(acceptor->local_endpoints().front());
  ASSERT_TRUE(channel);
  std::vector<std::byte> got(bytes.size());
  ASSERT_TRUE(read(**channel, got));
  EXPECT_TRUE(got == bytes);
  EXPECT_EQ(read_some(**channel, got).value_or(1), 0U);
}

TEST_P(Connecting, BeginsWithItsFirstWordsHoweverMany) {
  const auto acceptor = listen({loopback(AddressFamily::ipv4)});
  for (const std::size_t bytes : {1U, 400U, 5000U}) {
    const auto words = random_bytes(bytes, 1);
    const auto more = random_bytes(1000, 2);
    std::unique_ptr<Channel> there;
    std::unique_ptr<Channel> here;
    acceptor->async_accept([&](auto channel) { there = std::move(*channel); });
    engine->async_connect(acceptor->local_endpoints().front(), copy_of(words), 5s,
                          [&](auto channel) { here = std::move(*channel); });
    ASSERT_TRUE(run_until([&] { return here && there; }));
    ASSERT_TRUE(write(*here, more));
    std::vector<std::byte> got(words.size() + more.size());
    ASSERT_TRUE(read(*there, got));
    EXPECT_TRUE(std::equal(words.begin(), words.end(), got.begin()));
    EXPECT_TRUE(std::equal(more.begin(), more.end(), got.begin() + static_cast<std::ptrdiff_t>(bytes)));
    EXPECT_TRUE(drained(*here));
  }
}

TEST_P(Connecting, StopsAtOnceWhenTheEngineGoes) {
  const auto silent = silent_peer(AddressFamily::ipv4);
  bool called = false;
  for (int i = 0; i < 3; ++i) engine->async_connect(silent.address(), {}, 20s, [&](const auto&) { called = true; });
  run_for(50ms);
  const auto before = Clock::now();
  engine.reset();
  EXPECT_LT(Clock::now() - before, 2s);
  EXPECT_FALSE(run_until([&] { return called; }, 50ms));
}

TEST_P(Connecting, ToAnAddressWithoutARouteSaysSo) {
  const auto refused = connect(resolve({"255.255.255.255", 9}, AddressFamily::ipv4)->front(), 300ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::cannot_reach);
}

}  // namespace
}  // namespace udtcat::transport
