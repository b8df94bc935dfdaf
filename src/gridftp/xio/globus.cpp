// SPDX-License-Identifier: Apache-2.0
#include "gridftp/xio/globus.hpp"

namespace udtcat::gridftp::xio {

globus_result_t to_globus(const Error& error) {
  return globus_error_put(globus_error_construct_error(GLOBUS_XIO_MODULE, nullptr, GLOBUS_XIO_ERROR_SYSTEM_ERROR,
                                                       "udtcat", "udtcat", 0, "udtcat: %s", error.message().c_str()));
}

globus_result_t end_of_file() {
  GlobusXIOName(udtcat);
  return GlobusXIOErrorEOF();
}

globus_result_t no_such_command(int command) {
  GlobusXIOName(udtcat);
  return GlobusXIOErrorInvalidCommand(command);
}

EventWait::~EventWait() {
  if (system_ != nullptr) globus_xio_system_file_destroy(system_);
}

globus_result_t EventWait::start(globus_xio_operation_t operation, globus_xio_system_data_callback_t callback,
                                 void* argument) {
  if (system_ == nullptr)
    if (const globus_result_t made = globus_xio_system_file_init(&system_, event_.number()); made != GLOBUS_SUCCESS)
      return made;
  const globus_xio_iovec_t room{count_.data(), count_.size()};
  return globus_xio_system_file_register_read(operation, system_, 0, &room, 1, count_.size(), callback, argument);
}

}  // namespace udtcat::gridftp::xio
