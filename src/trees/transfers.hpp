// SPDX-License-Identifier: Apache-2.0
/// The transfers into a directory that are under way.
#pragma once

#include <map>
#include <string>

#include "lib/core/mutex.hpp"
#include "trees/wire.hpp"

namespace udtcat::trees {

/// A transfer that begins again takes the place of itself: its sender has gone, and its session does not know it yet.
/// Threads: internally synchronised.
class Transfers {
 public:
  /// A transfer's place, while it lives.
  class Claim {
   public:
    Claim(Transfers& transfers, std::string name) : transfers_(transfers), name_(std::move(name)) {}
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() { transfers_.release(name_); }

    /// The same transfer has begun again, and has cut this one's wire.
    [[nodiscard]] bool is_taken_over() const { return transfers_.is_taken_over(name_); }

   private:
    Transfers& transfers_;
    const std::string name_;
  };

  /// Cuts the wire of the same transfer, if there is one, and waits until that has ended.
  [[nodiscard]] Claim claim(const std::string& name, Wire& wire) {
    const core::MutexLock lock(mutex_);
    for (auto earlier = under_way_.find(name); earlier != under_way_.end(); earlier = under_way_.find(name)) {
      earlier->second.is_taken_over = true;
      earlier->second.wire->cut();
      released_.wait(mutex_);
    }
    under_way_[name] = {.wire = &wire};
    return Claim(*this, name);
  }

 private:
  struct UnderWay {
    Wire* wire = nullptr;
    bool is_taken_over = false;
  };

  [[nodiscard]] bool is_taken_over(const std::string& name) {
    const core::MutexLock lock(mutex_);
    return under_way_.at(name).is_taken_over;
  }
  void release(const std::string& name) {
    const core::MutexLock lock(mutex_);
    under_way_.erase(name);
    released_.notify_all();
  }

  core::Mutex mutex_;
  core::Condition released_;
  std::map<std::string, UnderWay> under_way_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::trees
