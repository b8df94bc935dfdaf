#include "gridftp/dialogue/local_address.hpp"

#include <boost/asio/ip/udp.hpp>

#include "lib/bridge/asio_terms.hpp"

namespace udtcat::gridftp {

Endpoint local_address_towards(boost::asio::io_context& io, const Endpoint& peer) {
  const auto there = bridge::to_asio(peer);
  boost::asio::ip::udp::socket socket(io);
  boost::system::error_code error;
  socket.connect({there.address(), there.port()}, error);
  const auto here = socket.local_endpoint(error);
  return bridge::from_asio(boost::asio::ip::tcp::endpoint(here.address(), 0));
}

}  // namespace udtcat::gridftp
