// SPDX-License-Identifier: Apache-2.0
/// Our own program, as what is sent to a far side that has none. The preset `static` builds one that runs everywhere.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

namespace udtcat::ssh {

struct PushedProgram {
  std::string system{};  ///< on which it runs: "Linux x86_64"
  std::vector<std::byte> bytes{};
  std::string sha256_hex{};  ///< of `bytes`
};

/// udtcat-static beside this program, or else this program, without what a debugger wants.
/// errors: Errc::local_read_failed, Errc::cipher_failed
[[nodiscard]] Result<PushedProgram> own_program();
/// errors: Errc::local_read_failed, Errc::cipher_failed
[[nodiscard]] Result<PushedProgram> program_at(const std::filesystem::path& path);

/// Removes from an ELF program what its loader does not read, nine tenths of one with debug information. A file that is
/// no ELF program stays as it is. Total.  source: elf(5)
void strip(std::vector<std::byte>& program);

/// The bytes in the format of gzip(1).  errors: Errc::out_of_resources
[[nodiscard]] Result<std::vector<std::byte>> packed(std::span<const std::byte> bytes);

}  // namespace udtcat::ssh
