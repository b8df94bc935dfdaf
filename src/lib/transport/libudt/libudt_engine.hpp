/// Debian's libudt as an Engine; or, where absent.cpp is linked in its place, the lack of it.
#pragma once

#include <memory>

#include "lib/transport/engine.hpp"

namespace udtcat::transport::libudt {

extern const bool kIsLinked;

/// errors: Errc::out_of_resources; Errc::bad_argument where it is not linked
[[nodiscard]] Result<std::unique_ptr<Engine>> make_libudt_engine(boost::asio::io_context& io,
                                                                 const TransportOptions& options);

}  // namespace udtcat::transport::libudt
