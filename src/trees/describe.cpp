// SPDX-License-Identifier: Apache-2.0
#include "trees/describe.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "files/sparse.hpp"
#include "files/whole_io.hpp"
#include "lib/core/try.hpp"
#include "trees/zero_pages.hpp"

namespace udtcat::trees {

namespace {

constexpr std::uint64_t kLeavesUnasked = 4'096;  // guess: between two looks at whether the wire is cut

/// Leaves that are alike are told of together.
class RunWriter {
 public:
  RunWriter(EntryId id, MessageWriter& writer) : id_(id), writer_(writer) {}

  enum class Kind { none, zeros, same };

  [[nodiscard]] Status add(Kind kind, std::uint64_t leaf) {
    if (kind != kind_) {
      UDTCAT_CHECK(end());
      kind_ = kind;
      first_ = leaf;
    }
    ++count_;
    return {};
  }
  /// Tells of the leaves so far.
  [[nodiscard]] Status end() {
    const Kind kind = std::exchange(kind_, Kind::none);
    const std::uint64_t count = std::exchange(count_, 0);
    if (kind == Kind::zeros) return writer_.put(Zeros{id_, first_, count});
    if (kind == Kind::same) return writer_.put(Same{id_, first_, count});
    return {};
  }

 private:
  const EntryId id_;
  MessageWriter& writer_;
  Kind kind_ = Kind::none;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<files::Digest> describe_leaves(const Described& file, Comparison* comparison, MessageWriter& writer,
                                      std::vector<std::byte>& memory, Account& account) {
  files::TreeHash tree;
  files::SparseMap map(file.file, file.bytes);
  RunWriter run(file.id, writer);
  const std::uint64_t leaves = files::leaves_of(file.bytes);
  for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) {
    if (leaf % kLeavesUnasked == 0 && writer.is_cut())
      return fail(Errc::connection_broken, "send " + file.path, "the transfer is over");
    const std::uint64_t offset = leaf * files::kLeafBytes;
    memory.resize(std::min<std::uint64_t>(files::kLeafBytes, file.bytes - offset));
    const auto bytes = std::span(memory);
    std::optional<files::Digest> theirs;
    if (comparison != nullptr) {
      UDTCAT_TRY(theirs, comparison->next());
    }
    std::vector<Extent> extents;
    const bool is_hole = map.is_hole(offset, bytes.size());
    if (!is_hole) {
      UDTCAT_CHECK(files::read_leaf(file.file, offset, bytes, file.path));
      extents = extents_of(bytes);
    } else if (bytes.size() < files::kLeafBytes) {
      std::ranges::fill(bytes, std::byte{0});
    }
    const bool is_zero = extents.empty();
    const auto digest =
        is_zero && bytes.size() == files::kLeafBytes ? files::hash_of_zeros() : files::hash_of_leaf(bytes);
    tree.add(digest);
    account.bytes += bytes.size();
    if (theirs == digest) {
      UDTCAT_CHECK(run.add(RunWriter::Kind::same, leaf));
    } else if (is_zero) {
      UDTCAT_CHECK(run.add(RunWriter::Kind::zeros, leaf));
    } else {
      UDTCAT_CHECK(run.end());
      for (const Extent& extent : extents) account.moved_bytes += extent.bytes.size();
      UDTCAT_CHECK(writer.put_leaf({file.id, leaf, digest, std::move(extents)}, memory));
    }
  }
  UDTCAT_CHECK(run.end());
  return tree.root();
}

}  // namespace udtcat::trees
