// SPDX-License-Identifier: Apache-2.0
/// Completions that outlive their owner do nothing.
#pragma once

#include <memory>
#include <utility>

namespace udtcat::core {

/// Wraps handlers so that they are dropped once this object is gone. A member of every class that hands `this` to an
/// asynchronous operation, declared last so that it ends first.
/// Threads: confined: the guarded handlers must run on the thread that destroys the owner.
class Lifetime {
 public:
  template <typename Function>
  [[nodiscard]] auto guard(Function function) const {
    return [alive = std::weak_ptr<const int>(token_), function = std::move(function)](auto&&... arguments) mutable {
      if (!alive.expired()) function(std::forward<decltype(arguments)>(arguments)...);
    };
  }
  /// Drops every handler guarded so far.
  void end() { token_ = std::make_shared<const int>(0); }

 private:
  std::shared_ptr<const int> token_ = std::make_shared<const int>(0);
};

}  // namespace udtcat::core
