#include "tool/protection_notice.hpp"

namespace udtcat::tool {

std::optional<std::string> protection_notice(Protection protection) {
  switch (protection) {
    case Protection::private_:
      return std::nullopt;
    case Protection::safe:
      return "--protect safe: the data cannot be changed on the way, but everybody on the path can read it";
    case Protection::auth:
      return "--protect auth: the peer has the key, but everybody on the path can read and change the data";
    case Protection::clear:
      break;
  }
  return "WARNING: --protect clear: no key, no encryption, no check. Anybody can be the other side, and everybody on "
         "the path can read and "
         "change the data";
}

std::string plain_notice() {
  return "WARNING: --plain: no key, no encryption, no proof. Anybody can be the other side, everybody on the path can "
         "read and change the data, and nothing shows that the last byte arrived";
}

}  // namespace udtcat::tool
