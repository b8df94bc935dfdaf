#include "lib/net/system_error.hpp"

#include <cerrno>
#include <utility>

namespace udtcat::net {

Error system_error(Errc otherwise, std::string what, int errno_value) {
  switch (errno_value) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
      return Error{Errc::out_of_resources, std::move(what), errno_text(errno_value)};
    default:
      return Error{otherwise, std::move(what), errno_text(errno_value)};
  }
}

}  // namespace udtcat::net
