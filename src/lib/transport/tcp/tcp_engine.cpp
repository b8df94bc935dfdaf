// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/engine.hpp"

namespace udtcat::transport::tcp {

Result<std::unique_ptr<Engine>> make_tcp_engine(boost::asio::io_context& /*io*/, const TransportOptions& /*options*/,
                                                const PortSecrets& /*secrets*/) {
  return fail(Errc::bad_argument, "make a transport", "tcp is not there yet");
}

}  // namespace udtcat::transport::tcp
