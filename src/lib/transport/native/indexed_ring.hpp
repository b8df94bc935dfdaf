/// A queue whose elements keep their number as others leave at its front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace udtcat::transport::native {

/// Grows by doubling and never shrinks below what a connection once needed; bounded by its user.
/// Threads: unsynchronised.
template <typename Element>
class IndexedRing {
 public:
  /// The number of the first element, and one past that of the last.
  [[nodiscard]] std::uint64_t begin_index() const { return begin_; }
  [[nodiscard]] std::uint64_t end_index() const { return end_; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  [[nodiscard]] bool contains(std::uint64_t index) const { return index >= begin_ && index < end_; }

  /// index   one that contains() has
  [[nodiscard]] Element& operator[](std::uint64_t index) { return slots_[index & (slots_.size() - 1)]; }
  [[nodiscard]] const Element& operator[](std::uint64_t index) const { return slots_[index & (slots_.size() - 1)]; }

  Element& push_back(Element element) {
    if (size() == slots_.size()) grow();
    Element& slot = (*this)[end_++];
    slot = std::move(element);
    return slot;
  }
  void pop_front() { std::exchange((*this)[begin_++], Element{}); }

 private:
  void grow() {
    std::vector<Element> larger(slots_.empty() ? kFirstSize : 2 * slots_.size());
    for (std::uint64_t i = begin_; i < end_; ++i) larger[i & (larger.size() - 1)] = std::move((*this)[i]);
    slots_ = std::move(larger);
  }

  static constexpr std::size_t kFirstSize = 64;  // a power of two, as all sizes are
  std::vector<Element> slots_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace udtcat::transport::native
