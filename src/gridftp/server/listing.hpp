/// Directories as FTP clients want to read them.  spec: RFC 3659 §7 (MLSD, MLST), RFC 959 (NLST, LIST)
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gridftp/server/served_root.hpp"

namespace udtcat::gridftp {

enum class ListingForm { facts, names, long_lines };

/// "20261122064500", in UTC, as MDTM and the fact Modify have it.
[[nodiscard]] std::string time_text(std::int64_t seconds);
/// "Type=file;Size=20;Modify=20261122064500;Perm=r;UNIX.mode=0644; name". A name with a line end, which no line can carry, is written
/// with '?' in its place.
[[nodiscard]] std::string facts_line(const FileFacts& facts, bool read_only);
/// A line each, ended by CR LF. A name with a line end is left out, but for long lines, which are for people.
[[nodiscard]] std::string listing_text(std::span<const FileFacts> all, ListingForm form, bool read_only);

}  // namespace udtcat::gridftp
