// SPDX-License-Identifier: Apache-2.0
/// A request of CKSM.  spec: GFD.047 §4; docs/spec/gridftp.md §4
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace udtcat::gridftp {

struct ChecksumRequest {
  std::string algorithm;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> bytes;  ///< none: up to the end of the file
  std::string path;
};

/// "MD5 0 -1 /path", as it stands behind CKSM; none: it is written otherwise. Total.
[[nodiscard]] std::optional<ChecksumRequest> parse_checksum_request(const std::string& text);

}  // namespace udtcat::gridftp
