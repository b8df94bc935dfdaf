// SPDX-License-Identifier: Apache-2.0
/// Sends the contents of a file, chunk by chunk.  spec: docs/spec/trees.md §4
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"
#include "trees/counters.hpp"
#include "trees/disk/name_error.hpp"
#include "trees/message.hpp"
#include "trees/message_io.hpp"
#include "trees/remote_hashes.hpp"

namespace udtcat::trees {

inline constexpr std::size_t kPageBytes = 4'096;  // spec: a page, below which no file system leaves a hole

[[nodiscard]] bool is_zero(std::span<const std::byte> bytes);
/// The parts of a chunk without the pages that are zero; none: all of them are.
[[nodiscard]] std::vector<Extent> extents_of(std::span<const std::byte> chunk);

/// A file as it was announced, and opened.
struct FileContents {
  EntryId id = 0;
  std::uint64_t bytes = 0;
  const bridge::Descriptor& file;
  const std::string& path;                ///< for messages
  const std::function<bool()> is_over{};  ///< the transfer is: asked before each chunk
};

/// Holes are passed over without being read.
/// remote_hashes   null: the receiver has nothing of it
/// memory       of a chunk, which is used again
/// returns      the file's hash
/// errors, of this file: Errc::local_read_failed, also where it is shorter than announced; of the transfer:
/// Errc::connection_broken; those of `writer` and `remote_hashes`
[[nodiscard]] ScopedResult<files::Digest> send_contents(const FileContents& file, RemoteHashes* remote_hashes,
                                                        MessageWriter& writer, std::vector<std::byte>& memory,
                                                        TransferCounters& counters);

/// Reads all of it once more.  returns  the file's hash
/// errors: as send_contents()
[[nodiscard]] ScopedResult<files::Digest> hash_contents(const FileContents& file, std::vector<std::byte>& memory);

}  // namespace udtcat::trees
