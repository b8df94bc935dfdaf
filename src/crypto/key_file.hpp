/// A key file: who may read it, and what is in it.
#pragma once

#include <string>

#include <udtcat/key.hpp>
#include <udtcat/result.hpp>

namespace udtcat::crypto {

/// errors: Errc::bad_argument for a file that cannot be read, that others can read, or that holds no key. A file that is
/// not on a disk (a pipe, /dev/stdin) is read up to the end of its first line and no further.
[[nodiscard]] Result<Key> read_key_file(const std::string& path);

}  // namespace udtcat::crypto
