// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/local_listener.hpp"

#include <filesystem>

#include <boost/asio/local/stream_protocol.hpp>

#include "lib/bridge/few_descriptors.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::bridge {
namespace {

struct LocalListenerTest : ::testing::Test {
  Result<std::unique_ptr<LocalListener>> open(const SocketAddress& address) {
    return LocalListener::open(
        io, address,
        [this](StreamSocket socket, const Endpoint& client) {
          clients.push_back(client);
          sockets.push_back(std::move(socket));
        },
        [this](const Endpoint&, const Error& error) { trouble.push_back(error); });
  }
  [[nodiscard]] bool come(std::size_t count) {
    return run_until(io, [&] { return clients.size() == count; });
  }
  static tcp::endpoint endpoint_of(const std::string& name) {
    return to_asio(resolve(parse_peer(name.substr(4)).value(), AddressFamily::any).value().front());
  }
  const test::TempDir dir;
  const std::string path = dir.path() / "front";
  boost::asio::io_context io;
  std::vector<Endpoint> clients;
  std::vector<StreamSocket> sockets;
  std::vector<Error> trouble;
};

TEST_F(LocalListenerTest, HasOnePortInBothFamiliesAndSaysWhich) {
  const auto front = open({{loopback_v4(), loopback_v6()}, {}}).value();
  const auto names = front->names();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0].substr(0, 14), "tcp 127.0.0.1:");
  tcp::socket v4(io);
  tcp::socket v6(io);
  v4.connect(endpoint_of(names[0]));
  v6.connect(endpoint_of(names[1]));
  ASSERT_TRUE(come(2));
  EXPECT_EQ(clients[0], from_asio(v4.local_endpoint()));
}

TEST_F(LocalListenerTest, SaysWhichPortIsTaken) {
  const auto front = open({{loopback_v4()}, {}}).value();
  const auto taken = front->names().at(0);
  const auto second = open({{from_asio(endpoint_of(taken))}, {}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(), "bind " + taken + ": address already in use");
}

TEST_F(LocalListenerTest, AcceptsOnAUnixSocketAndRemovesIt) {
  auto front = open({{}, path}).value();
  EXPECT_EQ(front->names(), std::vector<std::string>{"unix " + path});
  boost::asio::local::stream_protocol::socket client(io);
  client.connect({path});
  ASSERT_TRUE(come(1));
  EXPECT_EQ(clients[0], Endpoint());
  front.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(LocalListenerTest, ReportsAShortageOfDescriptorsAndGoesOn) {
  for (const SocketAddress& address : {SocketAddress{{loopback_v4()}, {}}, SocketAddress{{}, path}}) {
    clients.clear();
    trouble.clear();
    const auto front = open(address).value();
    StreamSocket client(io);
    if (address.is_unix())
      client.connect(boost::asio::local::stream_protocol::endpoint(path));
    else
      client.connect(endpoint_of(front->names().at(0)));
    {
      const FewDescriptors shortage;
      ASSERT_TRUE(run_until(io, [&] { return !trouble.empty(); }));
    }
    EXPECT_EQ(trouble[0].code, Errc::out_of_resources);
    EXPECT_TRUE(come(1));
  }
}

TEST_F(LocalListenerTest, ResetsAConnectionThatItsUserDrops) {
  const auto front = open({{loopback_v4()}, {}}).value();
  tcp::socket client(io);
  client.connect(endpoint_of(front->names().at(0)));
  ASSERT_TRUE(come(1));
  sockets[0].close();
  EXPECT_EQ(read_error(client), boost::asio::error::connection_reset);
}

}  // namespace
}  // namespace udtcat::bridge
