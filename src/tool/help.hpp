/// What --help prints.
#pragma once

#include <string>

namespace udtcat::tool {

/// Synopsis, options, exit statuses, examples.
[[nodiscard]] std::string help_text();
/// Of `udtcat rsh`.
[[nodiscard]] std::string rsh_help_text();
/// Of `udtcat rsh-daemon`.
[[nodiscard]] std::string rsh_daemon_help_text();
[[nodiscard]] std::string gridftp_help_text();
/// Of `udtcat gridftp gateway`.
[[nodiscard]] std::string gateway_help_text();

}  // namespace udtcat::tool
