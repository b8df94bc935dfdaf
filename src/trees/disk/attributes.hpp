// SPDX-License-Identifier: Apache-2.0
/// All that a file system keeps of a name besides its content, as tar does: mode, time, owner, extended attributes.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "lib/bridge/descriptor.hpp"

struct stat;

namespace udtcat::trees {

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

/// The part of attributes that a file system keeps; file_system_traits.hpp finds it out.
struct AttributeTraits {
  bool owners = false;                    ///< and the attributes of security.* and trusted.*: needs root
  std::chrono::nanoseconds time_unit{1};  ///< times are cut to multiples of it
  bool modes = true;                      ///< else each file has a mode of the mount's
};

/// Whether a file has these attributes already, as far as its file system can keep them, but for the extended ones.
[[nodiscard]] bool has_attributes(const struct stat& status, const Attributes& attributes,
                                  const AttributeTraits& attribute_traits);

/// A time as a file system with that unit keeps it.
[[nodiscard]] FileTime cut_to(const FileTime& time, std::chrono::nanoseconds unit);

/// The attributes at a name, whose status the caller has; a symbolic link's are its own.
/// errors: Errc::local_read_failed
[[nodiscard]] Result<Attributes> read_attributes(const files::FileLocation& location, const struct stat& status);

/// Something of a file that its file system does not keep.
struct Loss {
  std::string what;   ///< "mode", "time", "owner", "attributes of user.*"
  std::string cause;  ///< for people
};
using Losses = std::vector<Loss>;

/// Gives what is open, also by O_PATH, its attributes; a symbolic link has no mode. Nothing is changed that is so
/// already. An extended attribute that is not among them is removed, but for labels of security.*, which are this
/// host's own; a capability is removed.
/// is_new    it was just made by us
/// returns   what could not be had, looked at afterwards; a time that is cut to the file system's unit is no loss
/// errors: Errc::local_write_failed: it cannot be looked at
[[nodiscard]] Result<Losses> write_attributes(const bridge::Descriptor& opened, const Attributes& attributes,
                                              const AttributeTraits& attribute_traits, bool is_new,
                                              const std::string& shown);

/// Sets the mode of an opened file, also by O_PATH, that is no symbolic link.  errors: Errc::local_write_failed
[[nodiscard]] Status set_mode(const bridge::Descriptor& opened, std::uint32_t mode, const std::string& shown);

}  // namespace udtcat::trees
