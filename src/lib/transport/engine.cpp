// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/engine.hpp"

namespace udtcat {

bool has_transport(TransportKind kind) { return kind != TransportKind::libudt || transport::libudt::kIsLinked; }

}  // namespace udtcat

namespace udtcat::transport {

Result<std::uint16_t> Engine::open_dialling_port(AddressFamily /*family*/) {
  return fail(Errc::bad_argument, "keep a port", "its transport cannot");
}

Result<std::unique_ptr<Engine>> make_engine(boost::asio::io_context& io, const TransportOptions& options,
                                            const PortSecrets& secrets) {
  switch (options.kind) {
    case TransportKind::automatic:
    case TransportKind::native:
      return native::make_native_engine(io, options, secrets);
    case TransportKind::libudt:
      return libudt::make_libudt_engine(io, options);
    case TransportKind::tcp:
      return tcp::make_tcp_engine(io, options, secrets);
  }
  return fail(Errc::bad_argument, "make a transport", "no such kind");
}

}  // namespace udtcat::transport
