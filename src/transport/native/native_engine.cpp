#include "transport/native/native_engine.hpp"

namespace udtcat::transport::native {

Result<std::unique_ptr<Engine>> make_native_engine(boost::asio::io_context&, const TransportOptions&) {
  return fail(Errc::out_of_resources, "make the native transport", "in the making");
}

}  // namespace udtcat::transport::native
