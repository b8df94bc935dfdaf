#include "lib/transport/libudt/libudt_error.hpp"

#include <utility>

#include <udt/udt.h>

namespace udtcat::transport::libudt {

Error last_error(Errc otherwise, std::string what) {
  UDT::ERRORINFO& said = UDT::getlasterror();
  std::string cause = said.getErrorMessage();
  while (!cause.empty() && (cause.back() == '.' || cause.back() == '\n')) cause.pop_back();
  // Not a switch: libudt's codes are constants of its own object file, not of the compiler.
  const int code = said.getErrorCode();
  if (code == CUDTException::ECONNLOST || code == CUDTException::ENOCONN || code == CUDTException::EINVSOCK)
    return Error{Errc::connection_broken, std::move(what), std::move(cause)};
  if (code == CUDTException::ERESOURCE || code == CUDTException::ETHREAD || code == CUDTException::ENOBUF)
    return Error{Errc::out_of_resources, std::move(what), std::move(cause)};
  return Error{otherwise, std::move(what), std::move(cause)};
}

bool last_error_is_try_again() {
  const int code = UDT::getlasterror_code();
  return code == CUDTException::ETIMEOUT || code == CUDTException::EASYNCRCV || code == CUDTException::EASYNCSND;
}

bool last_error_is_no_socket() { return UDT::getlasterror_code() == CUDTException::EINVSOCK; }

}  // namespace udtcat::transport::libudt
