// SPDX-License-Identifier: Apache-2.0
#include "trees/describe.hpp"

#include <optional>
#include <utility>

#include "lib/core/try.hpp"
#include "trees/disk/leaf_reader.hpp"
#include "trees/zero_pages.hpp"

namespace udtcat::trees {

namespace {

/// Leaves that are alike are told of together.
class RunWriter {
 public:
  RunWriter(EntryId id, MessageWriter& writer) : id_(id), writer_(writer) {}

  enum class Kind { none, zeros, same };

  [[nodiscard]] ScopedStatus add(Kind kind, std::uint64_t leaf) {
    if (kind != kind_) {
      UDTCAT_CHECK(end());
      kind_ = kind;
      first_ = leaf;
    }
    ++count_;
    return {};
  }
  /// Tells of the leaves so far.
  [[nodiscard]] ScopedStatus end() {
    const Kind kind = std::exchange(kind_, Kind::none);
    const std::uint64_t count = std::exchange(count_, 0);
    if (kind == Kind::zeros) return of_transfer(writer_.put(Zeros{id_, first_, count}));
    if (kind == Kind::same) return of_transfer(writer_.put(Same{id_, first_, count}));
    return {};
  }

 private:
  const EntryId id_;
  MessageWriter& writer_;
  Kind kind_ = Kind::none;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
};

ScopedResult<std::optional<Leaf>> next_of(const Described& file, LeafReader& reader) {
  if (file.is_over()) return of_transfer(fail(Errc::connection_broken, "send " + file.path, "the transfer is over"));
  return of_name(reader.next());
}

}  // namespace

ScopedResult<files::Digest> describe_leaves(const Described& file, Comparison* comparison, MessageWriter& writer,
                                            std::vector<std::byte>& memory, Tally& tally) {
  TreeHash tree;
  LeafReader reader(file.file, file.bytes, memory, file.path);
  RunWriter run(file.id, writer);
  for (;;) {
    UDTCAT_TRY(const auto leaf, next_of(file, reader));
    if (!leaf) break;
    std::optional<files::Digest> theirs;
    if (comparison != nullptr) {
      UDTCAT_TRY(theirs, of_transfer(comparison->next()));
    }
    std::vector<Extent> extents = extents_of(leaf->content);
    const bool is_zero = extents.empty();
    const auto digest = is_zero && leaf->bytes == kLeafBytes ? hash_of_zeros() : hash_of(*leaf);
    tree.add(digest);
    tally.bytes += leaf->bytes;
    if (theirs == digest) {
      UDTCAT_CHECK(run.add(RunWriter::Kind::same, leaf->number));
    } else if (is_zero) {
      UDTCAT_CHECK(run.add(RunWriter::Kind::zeros, leaf->number));
    } else {
      UDTCAT_CHECK(run.end());
      for (const Extent& extent : extents) tally.moved_bytes += extent.bytes.size();
      UDTCAT_CHECK(of_transfer(writer.put_leaf({file.id, leaf->number, digest, std::move(extents)}, memory)));
    }
  }
  UDTCAT_CHECK(run.end());
  return tree.root();
}

ScopedResult<files::Digest> hash_leaves_of(const Described& file, std::vector<std::byte>& memory) {
  TreeHash tree;
  LeafReader reader(file.file, file.bytes, memory, file.path);
  for (;;) {
    UDTCAT_TRY(const auto leaf, next_of(file, reader));
    if (!leaf) return tree.root();
    tree.add(hash_of(*leaf));
  }
}

}  // namespace udtcat::trees
