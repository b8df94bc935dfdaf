/// Listening ports, one for each address family.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/native/udp_port.hpp"

namespace udtcat::transport::native {

/// Threads: confined, as Channel.
class NativeAcceptor final : public Acceptor {
 public:
  /// The ports outlive this.
  NativeAcceptor(boost::asio::io_context& io, std::vector<UdpPort*> ports);
  ~NativeAcceptor() override;
  NativeAcceptor(const NativeAcceptor&) = delete;
  NativeAcceptor& operator=(const NativeAcceptor&) = delete;

  void async_accept(ChannelHandler handler) override;
  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override;

 private:
  struct Waiting {
    UdpPort* port;
    Link* link;
  };
  void hand_on();
  [[nodiscard]] bool has_room(bool proved) const;

  boost::asio::io_context& io_;
  const std::vector<UdpPort*> ports_;
  std::deque<Waiting> waiting_;     // let in, and nobody has asked for them yet
  std::size_t waiting_proved_ = 0;  // of them
  ChannelHandler handler_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
