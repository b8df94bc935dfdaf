// SPDX-License-Identifier: Apache-2.0
/// Whole reads and writes at an offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::files {

/// errors: Errc::local_read_failed, also where the file ends before `into` is full
[[nodiscard]] Status read_leaf(const bridge::Descriptor& file, std::uint64_t offset, std::span<std::byte> into,
                               const std::string& shown);
/// errors: Errc::local_write_failed
[[nodiscard]] Status write_at(const bridge::Descriptor& file, std::uint64_t offset, std::span<const std::byte> from,
                              const std::string& shown);

}  // namespace udtcat::files
