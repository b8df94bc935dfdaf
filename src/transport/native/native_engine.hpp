/// Our own UDT4 engine as an Engine.
#pragma once

#include <memory>

#include "transport/engine.hpp"

namespace udtcat::transport::native {

/// errors: Errc::out_of_resources
[[nodiscard]] Result<std::unique_ptr<Engine>> make_native_engine(boost::asio::io_context& io,
                                                                 const TransportOptions& options);

}  // namespace udtcat::transport::native
