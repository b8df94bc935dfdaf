/// The largest value of two consecutive periods.
#pragma once

#include <algorithm>

namespace udtcat::transport::native {

/// A maximum that forgets: what counts is the present period and the one before it.
/// source: draft-ietf-ccwg-bbr, "BBR.MaxBwFilter" (a filter of two probing cycles)
/// Threads: unsynchronised.
template <typename Value>
class RecentMax {
 public:
  void update(Value value) { present_ = std::max(present_, value); }

  /// Begins a new period. One that saw nothing does not end: silence is no reason to forget.
  void advance() {
    if (present_ == Value{}) return;
    previous_ = present_;
    present_ = Value{};
  }

  [[nodiscard]] Value value() const { return std::max(previous_, present_); }

 private:
  Value previous_{};
  Value present_{};
};

}  // namespace udtcat::transport::native
