// SPDX-License-Identifier: Apache-2.0
/// A UdpPort takes another local port where a NAT has forgotten it.
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include "lib/core/shared_bytes.hpp"
#include "lib/transport/native/test_port.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::udp;

/// A NAT: gives each source a port of its own towards `target`, until forget().
class ForgetfulNat {
 public:
  ForgetfulNat(boost::asio::io_context& io, const Endpoint& target)
      : io_(io), target_(boost::asio::ip::make_address("127.0.0.1"), target.port()) {
    read_inside();
  }
  [[nodiscard]] Endpoint inside() const {
    const auto at = inside_.local_endpoint();
    return Endpoint::from_sockaddr(at.data(), at.size()).value();
  }
  /// Mappings so far are dropped: their datagrams are lost in both directions.
  void forget() {
    for (auto& [source, mapping] : mappings_) mapping = nullptr;
  }
  [[nodiscard]] std::size_t sources() const { return mappings_.size(); }

 private:
  struct Mapping {
    Mapping(boost::asio::io_context& io, const udp::endpoint& whose)
        : source(whose), outside(io, udp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0)) {}
    udp::endpoint source;
    udp::socket outside;
    std::array<char, 65'536> bytes{};
  };

  void read_inside() {
    inside_.async_receive_from(boost::asio::buffer(bytes_), from_,
                               [this](const boost::system::error_code& error, std::size_t got) {
                                 if (error) return;
                                 const auto [place, is_new] = mappings_.try_emplace(from_);
                                 if (is_new) read_outside(place->second = std::make_shared<Mapping>(io_, from_));
                                 if (place->second)
                                   place->second->outside.send_to(boost::asio::buffer(bytes_.data(), got), target_);
                                 read_inside();
                               });
  }
  void read_outside(const std::shared_ptr<Mapping>& mapping) {
    mapping->outside.async_receive(
        boost::asio::buffer(mapping->bytes),
        [this, kept = std::weak_ptr(mapping)](const boost::system::error_code& error, std::size_t got) {
          const auto alive = kept.lock();
          if (error || !alive) return;
          inside_.send_to(boost::asio::buffer(alive->bytes.data(), got), alive->source);
          read_outside(alive);
        });
  }

  boost::asio::io_context& io_;
  const udp::endpoint target_;
  udp::socket inside_{io_, udp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0)};
  udp::endpoint from_;
  std::array<char, 65'536> bytes_{};
  std::map<udp::endpoint, std::shared_ptr<Mapping>> mappings_;  // null: dropped
};

class PortBehindANat : public testing::Test {
 protected:
  void connect() {
    far->listen({.has_room = [](bool) { return true; }, .on_link = [this](UdtLink& link) { far_link = &link; }});
    ASSERT_TRUE(near->open(nat.inside(), {}, 5s, [this](const Result<UdtLink*>& link) { near_link = *link; }));
    ASSERT_TRUE(udtcat::test::run_until(io, [&] { return near_link != nullptr && far_link != nullptr; }));
    near_link->use(user);
  }
  bool arrives(std::size_t bytes) {
    near_link->connection.write(core::SharedBytes::adopt(std::vector<std::byte>(bytes)));
    near_link->schedule();
    written += bytes;
    return udtcat::test::run_until(io, [&] { return far_link->connection.readable_bytes() == written; });
  }

  boost::asio::io_context io{1};
  std::unique_ptr<UdpPort> far = test_port(io);
  std::unique_ptr<UdpPort> near = test_port(io);
  ForgetfulNat nat{io, far->local()};
  struct IdleUser final : LinkUser {
    void on_received() override {}
    void on_sent() override {}
  } user;
  UdtLink* near_link = nullptr;
  UdtLink* far_link = nullptr;
  std::size_t written = 0;
};

TEST_F(PortBehindANat, IsAnotherOneWhereThePeerIsSilent) {
  near->let_rebind();
  connect();
  ASSERT_TRUE(arrives(1000));
  nat.forget();
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(arrives(1000));
  EXPECT_GT(std::chrono::steady_clock::now() - before, 3s) << "not at every loss";
  EXPECT_EQ(nat.sources(), 2U);
  EXPECT_TRUE(arrives(100'000)) << "and stays";
  EXPECT_EQ(nat.sources(), 2U);
}

}  // namespace
}  // namespace udtcat::transport::native
