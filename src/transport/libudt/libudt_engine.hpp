/// Debian's libudt as an Engine.
#pragma once

#include <memory>

#include "transport/engine.hpp"

namespace udtcat::transport::libudt {

/// errors: Errc::out_of_resources
[[nodiscard]] Result<std::unique_ptr<Engine>> make_libudt_engine(boost::asio::io_context& io,
                                                                 const TransportOptions& options);

}  // namespace udtcat::transport::libudt
