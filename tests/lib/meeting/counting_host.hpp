// SPDX-License-Identifier: Apache-2.0
/// Ports that somebody else's datagrams come to, which are counted and never answered.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include "lib/meeting/candidates.hpp"
#include "lib/net/bind.hpp"
#include "lib/net/stun.hpp"

namespace udtcat::meeting {

/// Threads: confined to the io_context thread.
class CountingHost {
 public:
  CountingHost(boost::asio::io_context& io, std::size_t ports) {
    for (std::size_t i = 0; i < ports; ++i) {
      auto& port = ports_.emplace_back(io);
      receive(port);
    }
  }
  [[nodiscard]] std::vector<Candidate> candidates(Candidate::Kind kind) const {
    std::vector<Candidate> all;
    for (const Port& each : ports_)
      all.push_back({kind, net::loopback(AddressFamily::ipv4).with_port(each.socket.local_endpoint().port())});
    return all;
  }
  /// A connectivity check, as if it were the peer.
  void check(std::uint16_t port) { check(ports_.front(), port); }
  void check_from_each(std::uint16_t port) {
    for (Port& each : ports_) check(each, port);
  }
  [[nodiscard]] std::ptrdiff_t ports_reached() const {
    return std::ranges::count_if(ports_, [](const Port& each) { return each.datagrams > 0; });
  }
  [[nodiscard]] std::uint16_t port() const { return ports_.front().socket.local_endpoint().port(); }
  [[nodiscard]] std::size_t datagrams() const {
    std::size_t sum = 0;
    for (const Port& each : ports_) sum += each.datagrams;
    return sum;
  }
  [[nodiscard]] std::size_t most_at_one_port() const {
    std::size_t most = 0;
    for (const Port& each : ports_) most = std::max(most, each.datagrams);
    return most;
  }

 private:
  struct Port {
    explicit Port(boost::asio::io_context& io) : socket(io, {boost::asio::ip::address_v4::loopback(), 0}) {}
    boost::asio::ip::udp::socket socket;
    boost::asio::ip::udp::endpoint from{};
    std::array<char, 2048> bytes{};
    std::size_t datagrams = 0;
  };
  static void check(Port& from, std::uint16_t port) {
    from.socket.send_to(boost::asio::buffer(net::binding_indication()),
                        {boost::asio::ip::address_v4::loopback(), port});
  }
  void receive(Port& port) {
    port.socket.async_receive_from(boost::asio::buffer(port.bytes), port.from,
                                   [this, &port](const boost::system::error_code& error, std::size_t) {
                                     if (error) return;
                                     ++port.datagrams;
                                     receive(port);
                                   });
  }

  std::list<Port> ports_;
};

}  // namespace udtcat::meeting
