/// Paths as an FTP client writes them: from the root, or from where it stands.
#pragma once

#include <string>
#include <string_view>

namespace udtcat::gridftp {

/// Absolute, without "." and "..", which ends at the root, and without doubled slashes. Words only: the file system is not asked, and what
/// a symbolic link makes of it is ServedRoot's affair. "~" alone, or in front, is the root.
[[nodiscard]] std::string peer_path(std::string_view directory, std::string_view path);

}  // namespace udtcat::gridftp
