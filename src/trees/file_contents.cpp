// SPDX-License-Identifier: Apache-2.0
#include "trees/file_contents.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "lib/core/try.hpp"
#include "trees/disk/chunk_reader.hpp"

namespace udtcat::trees {

namespace {

/// Joins consecutive chunks of one kind in one message.
class RunWriter {
 public:
  RunWriter(EntryId id, MessageWriter& writer) : id_(id), writer_(writer) {}

  enum class Kind { none, zeros, copy };

  [[nodiscard]] ScopedStatus add(Kind kind, std::uint64_t chunk) {
    if (kind != kind_) {
      UDTCAT_CHECK(end());
      kind_ = kind;
      first_ = chunk;
    }
    ++count_;
    return {};
  }
  /// Writes the message of the chunks so far.
  [[nodiscard]] ScopedStatus end() {
    const Kind kind = std::exchange(kind_, Kind::none);
    const std::uint64_t count = std::exchange(count_, 0);
    if (kind == Kind::zeros) return of_transfer(writer_.put(Zeros{id_, first_, count}));
    if (kind == Kind::copy) return of_transfer(writer_.put(CopyChunks{id_, first_, count}));
    return {};
  }

 private:
  const EntryId id_;
  MessageWriter& writer_;
  Kind kind_ = Kind::none;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
};

ScopedResult<std::optional<Chunk>> next_of(const FileContents& file, ChunkReader& reader) {
  if (file.is_over()) return of_transfer(fail(Errc::connection_broken, "send " + file.path, "the transfer is over"));
  return of_name(reader.next());
}

}  // namespace

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

std::vector<Extent> extents_of(std::span<const std::byte> chunk) {
  std::vector<Extent> extents;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= chunk.size(); at += kPageBytes) {
    const bool is_end = at >= chunk.size();
    if (!is_end && !is_zero(chunk.subspan(at, std::min(kPageBytes, chunk.size() - at)))) continue;
    const std::size_t end = std::min(at, chunk.size());
    if (end > begin) extents.push_back({static_cast<std::uint32_t>(begin), chunk.subspan(begin, end - begin)});
    begin = at + kPageBytes;
  }
  if (begin < chunk.size()) extents.push_back({static_cast<std::uint32_t>(begin), chunk.subspan(begin)});
  return extents;
}

ScopedResult<files::Digest> send_contents(const FileContents& file, RemoteHashes* remote_hashes, MessageWriter& writer,
                                          std::vector<std::byte>& memory, TransferCounters& counters) {
  TreeHash tree;
  ChunkReader reader(file.file, file.bytes, memory, file.path);
  RunWriter run(file.id, writer);
  for (;;) {
    UDTCAT_TRY(const auto chunk, next_of(file, reader));
    if (!chunk) break;
    std::optional<files::Digest> theirs;
    if (remote_hashes != nullptr) {
      UDTCAT_TRY(theirs, of_transfer(remote_hashes->next()));
    }
    std::vector<Extent> extents = extents_of(chunk->content);
    const bool is_zero = extents.empty();
    const auto digest = is_zero && chunk->bytes == kChunkBytes ? hash_of_zeros() : hash_of(*chunk);
    tree.add(digest);
    counters.bytes += chunk->bytes;
    if (theirs == digest) {
      UDTCAT_CHECK(run.add(RunWriter::Kind::copy, chunk->number));
    } else if (is_zero) {
      UDTCAT_CHECK(run.add(RunWriter::Kind::zeros, chunk->number));
    } else {
      UDTCAT_CHECK(run.end());
      for (const Extent& extent : extents) counters.moved_bytes += extent.bytes.size();
      UDTCAT_CHECK(of_transfer(writer.put_data({file.id, chunk->number, digest, std::move(extents)}, memory)));
    }
  }
  UDTCAT_CHECK(run.end());
  return tree.root();
}

ScopedResult<files::Digest> hash_contents(const FileContents& file, std::vector<std::byte>& memory) {
  TreeHash tree;
  ChunkReader reader(file.file, file.bytes, memory, file.path);
  for (;;) {
    UDTCAT_TRY(const auto chunk, next_of(file, reader));
    if (!chunk) return tree.root();
    tree.add(hash_of(*chunk));
  }
}

}  // namespace udtcat::trees
