// SPDX-License-Identifier: Apache-2.0
/// All that a file system keeps of a name besides its content, as tar does: mode, time, owner, extended attributes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "lib/bridge/descriptor.hpp"

struct stat;

namespace udtcat::files {

inline constexpr std::uint32_t kModeBits = 07777;  // spec: chmod(2)

/// Nanoseconds since 1970, by its second.
struct FileTime {
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;  ///< below 10^9
  friend auto operator<=>(const FileTime&, const FileTime&) = default;
};

/// Numbers are the source's; names count where the other host has them.
struct Owner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string user;   ///< empty: it has no name
  std::string group;  ///< likewise
  friend bool operator==(const Owner&, const Owner&) = default;
};

struct ExtendedAttribute {
  std::string name;  ///< "user.comment"
  std::string value;
  friend auto operator<=>(const ExtendedAttribute&, const ExtendedAttribute&) = default;
};

struct Attributes {
  std::uint32_t mode = 0;  ///< of kModeBits
  FileTime changed;        ///< the content, by st_mtim
  Owner owner;
  std::vector<ExtendedAttribute> extended;  ///< in the order of their names
};

[[nodiscard]] FileTime changed_time_of(const struct stat& status);

/// Whether a file has these attributes already, but for the extended ones.
[[nodiscard]] bool has_attributes(const struct stat& status, const Attributes& attributes, bool with_owner);

/// The attributes at a name, whose status the caller has; a symbolic link's are its own.
/// errors: Errc::local_read_failed
[[nodiscard]] Result<Attributes> read_attributes(const FileLocation& location, const struct stat& status);

/// The way in which attributes are written.
struct AttributeWishes {
  bool keeps_owner = false;  ///< and the attributes of security.* and trusted.*: needs root, unless they are so already
  bool is_new = false;       ///< it was just made by us
};

/// Gives what is open, also by O_PATH, its attributes; a symbolic link has no mode. Nothing is changed that is so
/// already.
/// errors: Errc::local_write_failed, also where the file system keeps something else than it was given
[[nodiscard]] Status write_attributes(const bridge::Descriptor& opened, const Attributes& attributes,
                                      const AttributeWishes& wishes, const std::string& shown);

/// Of what is open, also by O_PATH, and no symbolic link.  errors: Errc::local_write_failed
[[nodiscard]] Status set_mode(const bridge::Descriptor& opened, std::uint32_t mode, const std::string& shown);

}  // namespace udtcat::files
