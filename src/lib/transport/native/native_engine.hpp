/// Our own UDT4 engine as an Engine.
#pragma once

#include <memory>

#include "lib/transport/engine.hpp"

namespace udtcat::transport::native {

/// See make_engine().  errors: Errc::out_of_resources, Errc::cipher_failed
[[nodiscard]] Result<std::unique_ptr<Engine>> make_native_engine(boost::asio::io_context& io,
                                                                 const TransportOptions& options, const Key* key);

}  // namespace udtcat::transport::native
