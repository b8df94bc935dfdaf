// SPDX-License-Identifier: Apache-2.0
/// The transfers into a directory that are under way.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "lib/core/mutex.hpp"
#include "trees/wire.hpp"

namespace udtcat::trees {

/// A transfer that begins again takes the place of itself: its sender has gone, and its session does not know it yet.
/// Threads: internally synchronised.
class TransferClaims {
 public:
  /// A transfer's place, while it lives; the claims outlive it.
  class Claim {
   public:
    Claim(TransferClaims& claims, std::string job) : claims_(claims), job_(std::move(job)) {}
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() { claims_.release(job_); }

    /// The same transfer has begun again, and has cut this one's wire.
    [[nodiscard]] bool is_taken_over() const { return claims_.is_taken_over(job_); }

   private:
    TransferClaims& claims_;
    const std::string job_;
  };

  /// Cuts the wire of the same transfer, if there is one, and waits until that has ended.
  /// job   by which a transfer is known when it begins again
  [[nodiscard]] Claim claim(const std::string& job, Wire& wire) {
    const core::MutexLock lock(mutex_);
    for (auto earlier = under_way_.find(job); earlier != under_way_.end(); earlier = under_way_.find(job)) {
      earlier->second.is_taken_over = true;
      earlier->second.wire->cut();
      released_.wait(mutex_);
    }
    under_way_[job] = {.wire = &wire};
    return Claim(*this, job);
  }

 private:
  struct UnderWay {
    Wire* wire = nullptr;
    bool is_taken_over = false;
  };

  [[nodiscard]] bool is_taken_over(const std::string& job) {
    const core::MutexLock lock(mutex_);
    return under_way_.at(job).is_taken_over;
  }
  void release(const std::string& job) {
    const core::MutexLock lock(mutex_);
    under_way_.erase(job);
    released_.notify_all();
  }

  core::Mutex mutex_;
  core::Condition released_;
  std::map<std::string, UnderWay> under_way_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::trees
