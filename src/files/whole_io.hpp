// SPDX-License-Identifier: Apache-2.0
/// Reads and writes of all bytes, however many calls that takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::files {

/// All of `into` from where the descriptor stands, or up to the end of the file.
/// shown   for messages.  errors: Errc::local_read_failed
[[nodiscard]] Result<std::size_t> read_whole(const bridge::Descriptor& file, std::span<std::byte> into,
                                             const std::string& shown);
[[nodiscard]] Result<std::size_t> read_whole_at(const bridge::Descriptor& file, std::uint64_t offset,
                                                std::span<std::byte> into, const std::string& shown);
/// errors: Errc::local_write_failed
[[nodiscard]] Status write_whole(const bridge::Descriptor& file, std::span<const std::byte> from,
                                 const std::string& shown);

[[nodiscard]] Status write_whole_at(const bridge::Descriptor& file, std::uint64_t offset,
                                    std::span<const std::byte> from, const std::string& shown);
/// All of a chunk.  errors: Errc::local_read_failed, also where the file ends within it
[[nodiscard]] Status read_exactly_at(const bridge::Descriptor& file, std::uint64_t offset, std::span<std::byte> into,
                                     const std::string& shown);

}  // namespace udtcat::files
