/// A key file: who may read it, and what is in it.
#pragma once

#include <string>

#include <udtcat/key.hpp>
#include <udtcat/result.hpp>

namespace udtcat::crypto {

/// The origin of a path, which decides what may lie there.
enum class KeyFileKind {
  any,  ///< the user's own: a pipe or /dev/stdin is fine, and is read up to the end of its first line and no further
  regular,  ///< perhaps a peer's: what is no regular file is refused, and nothing is waited for
};

/// errors: Errc::bad_argument for a file that cannot be read, that others can read, or that holds no key
[[nodiscard]] Result<Key> read_key_file(const std::string& path, KeyFileKind kind = KeyFileKind::any);

}  // namespace udtcat::crypto
