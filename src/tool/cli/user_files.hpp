// SPDX-License-Identifier: Apache-2.0
/// Files of this user's own, in his configuration directory: where they are, and how they are written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

namespace udtcat::tool {

/// The path of a file in the configuration directory, whether it exists or not; none: the user has no home.
/// spec: XDG Base Directory Specification, XDG_CONFIG_HOME
[[nodiscard]] std::optional<std::filesystem::path> user_file(std::string_view name);

/// The path of a file or directory in the cache directory; none: the user has no home.
/// spec: XDG Base Directory Specification, XDG_CACHE_HOME
[[nodiscard]] std::optional<std::string> user_cache(std::string_view name);

/// $HOME, else the home of passwd(5); none: there is neither.
/// Threads: confined to the main thread.
[[nodiscard]] std::optional<std::string> user_home();

/// Whether nothing has this name. A link to nothing has it, as has a file that cannot be looked at: the error comes
/// when it is opened.
[[nodiscard]] bool is_missing(const std::filesystem::path& file);

/// The directory that `file` is to be in, for this user only; one that is there stays as it is.
/// errors: Errc::local_write_failed
[[nodiscard]] Status make_private_directory_of(const std::filesystem::path& file);

/// Writes a file that is not there yet; it is on the disk when this returns. A power cut leaves all of it or nothing,
/// where the file system has files without names.
/// errors: Errc::bad_argument where it is there already; Errc::local_write_failed
[[nodiscard]] Status write_new_file(const std::filesystem::path& file, std::string_view text, unsigned mode);

/// Adds a line to a file for this user only, which is made if it is not there; all of the line or nothing, on the disk
/// when this returns. Of several processes one does so at a time.
/// decide   looks at the file as it is then, and gives the line; none: there is nothing to add
/// errors   Errc::local_write_failed, and those of `decide`
[[nodiscard]] Status append_line(const std::filesystem::path& file,
                                 const std::function<Result<std::optional<std::string>>()>& decide);

/// The text of a regular file of this user or root that nobody else can write to, since it says which programs run, or
/// which peers may come in.
/// errors: Errc::bad_argument, naming the file and what to do
[[nodiscard]] Result<std::string> read_trusted_file(const std::string& path);

/// The beginning of a cache file; empty where there is none, or it is no regular file.
[[nodiscard]] std::string read_cache_file(const std::filesystem::path& file, std::size_t max_bytes);

/// Replaces such a file, for this user only: another process finds the old one or the new one, never a part. One that
/// cannot be written is left: it only saves time.
void replace_cache_file(const std::filesystem::path& file, std::string_view text);

}  // namespace udtcat::tool
