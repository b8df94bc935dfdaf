// SPDX-License-Identifier: Apache-2.0
#include "files/tree_hash.hpp"

#include <algorithm>
#include <bit>

namespace udtcat::files {

namespace {

constexpr std::byte kLeafPrefix{0};  // spec: RFC 9162 §2.1.1
constexpr std::byte kNodePrefix{1};  // spec: RFC 9162 §2.1.1
constexpr int kMaxHeight = 63;       // spec: leaves are counted in 64 bits

Digest hash_of_node(const Digest& left, const Digest& right) { return digest_of({{&kNodePrefix, 1}, left, right}); }

}  // namespace

Digest hash_of_leaf(std::span<const std::byte> leaf) { return digest_of({{&kLeafPrefix, 1}, leaf}); }

const Digest& hash_of_zeros() {
  static const Digest digest = hash_of_leaf(std::vector<std::byte>(kLeafBytes));
  return digest;
}

void TreeHash::add(const Digest& leaf, std::uint64_t count) {
  std::vector<Digest> perfect{leaf};  // [n]: the root of 2^n such leaves
  while (count > 0) {
    // The largest subtree that can stand next: no larger than the smallest that is there, nor than what is left.
    const int room = leaves_ == 0 ? kMaxHeight : std::countr_zero(leaves_);
    const int height = std::min(room, static_cast<int>(std::bit_width(count)) - 1);
    while (std::ssize(perfect) <= height) perfect.push_back(hash_of_node(perfect.back(), perfect.back()));
    Digest subtree = perfect[static_cast<std::size_t>(height)];
    for (std::uint64_t rest = leaves_ >> height; (rest & 1U) != 0; rest >>= 1U) {
      subtree = hash_of_node(complete_.back(), subtree);
      complete_.pop_back();
    }
    complete_.push_back(subtree);
    leaves_ += std::uint64_t{1} << height;
    count -= std::uint64_t{1} << height;
  }
}

Digest TreeHash::root() const {
  if (complete_.empty()) return digest_of({});
  Digest root = complete_.back();
  for (auto left = complete_.rbegin() + 1; left != complete_.rend(); ++left) root = hash_of_node(*left, root);
  return root;
}

}  // namespace udtcat::files
