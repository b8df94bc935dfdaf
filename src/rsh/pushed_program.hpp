// SPDX-License-Identifier: Apache-2.0
/// Our own program, as what is copied to a far side that has none. The preset `static` builds one that runs everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

namespace udtcat::rsh {

struct PushedProgram {
  std::string path{};    ///< here
  std::string system{};  ///< on which it runs: "Linux x86_64"
  std::uint64_t size_bytes = 0;
  std::string sha256_hex{};
};

/// errors: Errc::local_read_failed, Errc::cipher_failed
[[nodiscard]] Result<PushedProgram> own_program();

/// errors: Errc::local_read_failed
[[nodiscard]] Result<std::vector<std::byte>> read_program(const std::string& path);

}  // namespace udtcat::rsh
