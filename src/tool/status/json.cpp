// SPDX-License-Identifier: Apache-2.0
#include "tool/status/json.hpp"

namespace udtcat::tool {

std::string to_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace udtcat::tool
