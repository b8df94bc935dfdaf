// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/path_store.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>

#include "lib/core/invariant.hpp"

namespace udtcat::trees {

PathStore::Number PathStore::add(std::string_view path) {
  Number above = kRoot;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const Node node{above, add_word(path.substr(at, end - at))};
    above = find(node);
    if (above == kNone) {
      above = static_cast<Number>(nodes_.size());
      nodes_.push_back(node);
      paths_.add(above, hash_of(node), [&](Number other) { return hash_of(nodes_[other]); });
    }
    at = end + 1;
  }
  return above;
}

PathStore::Number PathStore::find(std::string_view path) const {
  Number above = kRoot;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::uint32_t word = find_word(path.substr(at, end - at));
    if (word == kNone) return kNone;
    above = find(Node{above, word});
    if (above == kNone) return kNone;
    at = end + 1;
  }
  return above;
}

PathStore::Number PathStore::find(const Node& node) const {
  return paths_.find(hash_of(node), [&](Number other) {
    return nodes_[other].above == node.above && nodes_[other].word == node.word;
  });
}

std::string PathStore::path(Number number) const {
  std::vector<std::string_view> words;
  for (Number at = number; at != kRoot; at = nodes_[at].above) words.push_back(word(nodes_[at].word));
  std::string text(words.back());
  for (auto each = std::next(words.rbegin()); each != words.rend(); ++each) text.append("/").append(*each);
  return text;
}

std::size_t PathStore::bytes() const {
  return chunks_.size() * kChunkBytes + nodes_.capacity() * sizeof(Node) + words_.bytes() + paths_.bytes();
}

std::uint32_t PathStore::find_word(std::string_view word) const {
  return words_.find(std::hash<std::string_view>()(word), [&](std::uint32_t at) { return this->word(at) == word; });
}

std::uint32_t PathStore::add_word(std::string_view word) {
  UDTCAT_INVARIANT(word.size() <= UINT8_MAX, "no word of an entry's path is longer");
  if (const auto known = find_word(word); known != kNone) return known;
  const std::hash<std::string_view> hash;
  const std::size_t bytes = 1 + word.size();
  if (used_ % kChunkBytes + bytes > kChunkBytes) used_ += kChunkBytes - used_ % kChunkBytes;
  if (used_ / kChunkBytes == chunks_.size()) chunks_.push_back(std::make_unique<char[]>(kChunkBytes));
  UDTCAT_INVARIANT(used_ < NumberTable::kNone, "who remembers paths has a bound below 4 GiB");
  const auto at = static_cast<std::uint32_t>(used_);
  char* const to = chunks_[used_ / kChunkBytes].get() + used_ % kChunkBytes;
  *to = static_cast<char>(word.size());
  std::memcpy(to + 1, word.data(), word.size());
  used_ += bytes;
  words_.add(at, hash(word), [&](std::uint32_t other) { return hash(this->word(other)); });
  return at;
}

std::string_view PathStore::word(std::uint32_t at) const {
  const char* const from = chunks_[at / kChunkBytes].get() + at % kChunkBytes;
  return {from + 1, static_cast<std::uint8_t>(*from)};
}

std::size_t PathStore::hash_of(const Node& node) {
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // spec: Fibonacci hashing (Knuth, TAOCP 6.4): high bits
  constexpr int kHighBits = 24;
  return static_cast<std::size_t>((std::uint64_t{node.above} << 32 | node.word) * kSpread >> kHighBits);
}

}  // namespace udtcat::trees
