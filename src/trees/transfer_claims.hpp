// SPDX-License-Identifier: Apache-2.0
/// The transfers into a directory that are under way.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"

namespace udtcat::trees {

/// A transfer that begins again takes the place of itself: its sender has gone, and its session does not know it yet.
/// Threads: internally synchronised.
class TransferClaims {
 public:
  static constexpr std::size_t kMaxApart = 4'096;  // guess: hosts that are alike, in the life of a listener

  /// A transfer, by its sender.
  struct Claimant {
    std::uint64_t host = 0;                       ///< that its sender is at
    std::string address{};                        ///< for messages
    std::function<void(const Error& why)> end{};  ///< ends the transfer, and tells its sender why; for any thread
    std::function<bool()> is_silent{};            ///< its sender does not answer; for any thread; none: it does
  };

  /// A transfer's place, while it lives; the claims outlive it.
  class Claim {
   public:
    Claim(TransferClaims& claims, std::string name) : claims_(claims), name_(std::move(name)) {}
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() { claims_.release(name_); }

    /// Of the transfer, and of no other that is under way.
    [[nodiscard]] const std::string& name() const { return name_; }
    /// Why this one was ended; none: nobody has claimed it.
    [[nodiscard]] std::optional<Error> replaced() const { return claims_.replaced(name_); }

   private:
    TransferClaims& claims_;
    const std::string name_;
  };

  /// Ends the same transfer, if there is one, and waits until it has ended.
  /// job      by which a transfer is known when it begins again
  /// apart    the same for one from this host, where another host has an equal one under way
  [[nodiscard]] Claim claim(const std::string& job, const std::string& apart, Claimant claimant) {
    const core::MutexLock lock(mutex_);
    const auto equal = under_way_.find(job);
    const bool is_anothers = equal != under_way_.end() && equal->second.claimant.host != claimant.host &&
                             !(equal->second.claimant.is_silent && equal->second.claimant.is_silent());
    if (is_anothers && apart_.size() < kMaxApart) apart_.insert(apart);
    const std::string& name = is_anothers || apart_.contains(apart) ? apart : job;
    for (auto earlier = under_way_.find(name); earlier != under_way_.end(); earlier = under_way_.find(name)) {
      end(earlier->second, claimant.address);
      released_.wait(mutex_);
    }
    under_way_[name] = {.claimant = std::move(claimant)};
    return Claim(*this, name);
  }

 private:
  struct UnderWay {
    Claimant claimant{};
    std::optional<Error> replaced{};
  };

  static void end(UnderWay& earlier, const std::string& address) {
    if (earlier.replaced) return;
    earlier.replaced = Error{Errc::peer_interrupted, "go on with a transfer",
                             "replaced by the same transfer, begun again from " + address};
    earlier.claimant.end(*earlier.replaced);
  }
  [[nodiscard]] std::optional<Error> replaced(const std::string& name) {
    const core::MutexLock lock(mutex_);
    return under_way_.at(name).replaced;
  }
  void release(const std::string& name) {
    const core::MutexLock lock(mutex_);
    under_way_.erase(name);
    released_.notify_all();
  }

  core::Mutex mutex_;
  core::Condition released_;
  std::map<std::string, UnderWay> under_way_ UDTCAT_GUARDED_BY(mutex_);
  std::set<std::string> apart_ UDTCAT_GUARDED_BY(mutex_);  // of hosts that are told apart from now on
};

}  // namespace udtcat::trees
