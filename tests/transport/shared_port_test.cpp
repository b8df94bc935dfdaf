/// Several listeners on one port, each for the peer that knows its cookie.
#include "transport/transport_fixture.hpp"

namespace udtcat::transport {
namespace {

class SharedPort : public TransportTest {
 protected:
  struct Host {
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Acceptor> acceptor;
    std::optional<Result<std::unique_ptr<Channel>>> there;
    std::unique_ptr<Engine> peer;
    std::optional<Result<std::unique_ptr<Channel>>> here;
    [[nodiscard]] bool connected() const { return here && *here && there && *there; }
  };

  static TransportOptions sharing(std::uint32_t cookie) {
    TransportOptions options = options_for(TransportKind::native);
    options.known_cookie = cookie;
    options.shares_port = true;
    return options;
  }

  SharedPort() : TransportTest(options_for(TransportKind::native)) {}

  Host& bind(std::uint32_t cookie, std::uint16_t port) {
    Host& host = *hosts.emplace_back(std::make_unique<Host>());
    host.engine = make_engine(io, sharing(cookie)).value();
    host.acceptor =
        host.engine->listen({loopback(AddressFamily::ipv4, port), loopback(AddressFamily::ipv6, port)}).value();
    host.acceptor->async_accept([&host](auto result) { host.there = std::move(result); });
    return host;
  }
  void dial(Host& host, std::uint32_t cookie, const Endpoint& peer) {
    host.peer = make_engine(io, sharing(cookie)).value();
    host.peer->async_connect(peer, 5s, [&host](auto result) { host.here = std::move(result); });
  }
  void expect_echo(Host& host, unsigned seed) {
    const auto bytes = pattern(100'000, seed);
    std::vector<std::byte> got(bytes.size());
    (**host.here)->async_write(copy_of(bytes), [](const Status&) {});
    ASSERT_TRUE(read(***host.there, got, 5s));
    EXPECT_TRUE(got == bytes);
  }

  std::vector<std::unique_ptr<Host>> hosts;
};

TEST_F(SharedPort, BringsEachPeerToTheListenerWhoseCookieItKnowsInWhateverOrder) {
  const std::uint16_t port = bind(1, 0).acceptor->local_endpoints().front().port();
  for (const std::uint32_t cookie : {2U, 3U}) bind(cookie, port);
  for (const std::size_t which : {0U, 2U, 1U})
    dial(*hosts[which], static_cast<std::uint32_t>(which) + 1,
         loopback(which == 1 ? AddressFamily::ipv6 : AddressFamily::ipv4, port));
  EXPECT_FALSE(run_until([this] { return hosts[0]->connected(); }, 600ms)) << "who was bound last hears everybody";
  for (const std::size_t which : {2U, 1U, 0U}) {
    ASSERT_TRUE(run_until([&] { return hosts[which]->connected(); })) << which;
    hosts[which]->acceptor.reset();
  }
  for (const auto& host : hosts) expect_echo(*host, 7);
}

TEST_F(SharedPort, IsNotKeptByAStranger) {
  Host& host = bind(1, 0);
  const Endpoint local = host.acceptor->local_endpoints().front();
  ASSERT_TRUE(connect(local)) << "as on any port; it has proved nothing";
  ASSERT_TRUE(run_until([&] { return host.there.has_value(); }));
  host.acceptor->async_accept([&host](auto result) { host.there = std::move(result); });
  host.there.reset();
  dial(host, 1, local);
  ASSERT_TRUE(run_until([&] { return host.connected(); }));
  expect_echo(host, 8);
}

TEST_F(SharedPort, IsLeftWhenNobodyIsLetInAnyMore) {
  Host& host = bind(1, 0);
  const auto locals = host.acceptor->local_endpoints();
  dial(host, 1, locals[0]);
  ASSERT_TRUE(run_until([&] { return host.connected(); }));
  host.acceptor.reset();
  Result<std::unique_ptr<Acceptor>> next = fail(Errc::cannot_bind, "bind");
  ASSERT_TRUE(run_until([&] {
    if (!next) next = engine->listen({locals[1]});
    return next.has_value();
  })) << "the family that nobody came by";
}

}  // namespace
}  // namespace udtcat::transport
