// SPDX-License-Identifier: Apache-2.0
/// The accounts and the name of this machine, as owners and fingerprints of files need them.
#pragma once

#include <cstdint>

#include <udtcat/result.hpp>

#include "trees/disk/attributes.hpp"

struct stat;

namespace udtcat::trees {

struct OwnerIds {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

/// The owner with the names that the numbers have here. Answers are remembered; may wait for the system's directory of
/// users.
/// errors: Errc::local_read_failed: nobody could be asked
/// Threads: any.
[[nodiscard]] Result<Owner> owner_of(std::uint32_t uid, std::uint32_t gid);
/// The ids of the names where they are known here, else the numbers themselves, as tar has it.
/// errors: Errc::local_write_failed: nobody could be asked, or it is the one number that chown(2) takes for none
[[nodiscard]] Result<OwnerIds> ids_of(const Owner& owner);

/// Whether this directory is the home of the account whose it is, or may be: nobody could be asked.  Threads: any.
[[nodiscard]] bool is_home(const struct stat& directory);

/// A number by which machines differ: of /etc/machine-id.
[[nodiscard]] std::uint64_t this_machine();

}  // namespace udtcat::trees
