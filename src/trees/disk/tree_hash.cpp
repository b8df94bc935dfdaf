// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/tree_hash.hpp"

#include <algorithm>
#include <bit>

namespace udtcat::trees {

namespace {

constexpr std::byte kLeafPrefix{0};  // spec: RFC 9162 §2.1.1
constexpr std::byte kNodePrefix{1};  // spec: RFC 9162 §2.1.1
constexpr int kMaxHeight = 63;       // spec: leaves are counted in 64 bits

files::Digest hash_of_node(const files::Digest& left, const files::Digest& right) {
  return files::digest_of({{&kNodePrefix, 1}, left, right});
}

}  // namespace

files::Digest hash_of_leaf(std::span<const std::byte> leaf) { return files::digest_of({{&kLeafPrefix, 1}, leaf}); }

const files::Digest& hash_of_zeros() {
  static const files::Digest digest = hash_of_leaf(std::vector<std::byte>(kChunkBytes));
  return digest;
}

void TreeHash::add(const files::Digest& leaf, std::uint64_t count) {
  std::vector<files::Digest> perfect{leaf};  // [n]: the root of 2^n such leaves
  while (count > 0) {
    // The largest subtree that can stand next: no larger than the smallest that is there, nor than what is left.
    const int room = leaves_ == 0 ? kMaxHeight : std::countr_zero(leaves_);
    const int height = std::min(room, static_cast<int>(std::bit_width(count)) - 1);
    while (std::ssize(perfect) <= height) perfect.push_back(hash_of_node(perfect.back(), perfect.back()));
    files::Digest subtree = perfect[static_cast<std::size_t>(height)];
    for (std::uint64_t rest = leaves_ >> height; (rest & 1U) != 0; rest >>= 1U) {
      subtree = hash_of_node(complete_.back(), subtree);
      complete_.pop_back();
    }
    complete_.push_back(subtree);
    leaves_ += std::uint64_t{1} << height;
    count -= std::uint64_t{1} << height;
  }
}

files::Digest TreeHash::root() const {
  if (complete_.empty()) return files::digest_of({});
  files::Digest root = complete_.back();
  for (auto left = complete_.rbegin() + 1; left != complete_.rend(); ++left) root = hash_of_node(*left, root);
  return root;
}

}  // namespace udtcat::trees
