// SPDX-License-Identifier: Apache-2.0
/// In place of all its neighbours, in programs that are to start without waiting for libudt.
#include "lib/transport/engine.hpp"

namespace udtcat::transport::libudt {

const bool kIsLinked = false;

Result<std::unique_ptr<Engine>> make_libudt_engine(boost::asio::io_context&, const TransportOptions&) {
  return fail(Errc::bad_argument, "use the transport libudt", "this program was made without it");
}

}  // namespace udtcat::transport::libudt
