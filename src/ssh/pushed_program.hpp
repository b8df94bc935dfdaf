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

/// For each machine whose udtcat-static-MACHINE (as uname -m prints it) is beside this program, that; for this machine
/// else this program. Without what a debugger wants.
/// errors: Errc::local_read_failed, Errc::cipher_failed
[[nodiscard]] Result<std::vector<PushedProgram>> own_programs();
/// As own_programs(), beside what the link `self` names.  errors: those of own_programs()
[[nodiscard]] Result<std::vector<PushedProgram>> programs_beside(const std::filesystem::path& self);
/// machine   on which it runs
/// errors: Errc::local_read_failed, Errc::cipher_failed
[[nodiscard]] Result<PushedProgram> program_at(const std::filesystem::path& path, const std::string& machine);

/// Removes from an ELF program what its loader does not read, nine tenths of one with debug information. A file that is
/// no ELF program stays as it is. Total.  source: elf(5)
void strip(std::vector<std::byte>& program);

/// The bytes in the format of gzip(1).  errors: Errc::out_of_resources
[[nodiscard]] Result<std::vector<std::byte>> packed(std::span<const std::byte> bytes);

}  // namespace udtcat::ssh
