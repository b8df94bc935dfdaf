#include <cerrno>

#include "gridftp/files/open_beneath.hpp"

namespace udtcat::gridftp {

bridge::Descriptor open_beneath(int, const std::string&, int) {
  errno = ENOSYS;
  return {};
}

}  // namespace udtcat::gridftp
