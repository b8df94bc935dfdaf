// SPDX-License-Identifier: Apache-2.0
/// The transfers into a directory that are under way.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <udtcat/result.hpp>

#include "lib/core/log.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::trees {

/// A transfer that begins again takes the place of itself: its sender has gone, and its session does not know it yet.
/// Threads: internally synchronised.
class ActiveTransfers {
 public:
  static constexpr std::chrono::milliseconds kLookForOver{500};  // guess: Owner::is_over does not notify
  static constexpr std::size_t kMaxApart = 4'096;  // guess: hosts that are alike, in the life of a listener

  /// A transfer, by its sender.
  struct Owner {
    std::uint64_t host = 0;                       ///< that its sender is at
    std::string address{};                        ///< for messages
    std::function<void(const Error& why)> end{};  ///< ends the transfer, and tells its sender why; for any thread
    std::function<bool()> is_silent{};            ///< its sender does not answer; for any thread; none: it does
    std::function<bool()> is_over{};              ///< for its own thread while it waits; none: it goes on
  };

  /// A transfer's place, while it lives; ActiveTransfers outlives it.
  class Slot {
   public:
    Slot(ActiveTransfers& transfers, std::string name) : transfers_(transfers), name_(std::move(name)) {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() { transfers_.release(name_); }

    /// Of the transfer, and of no other that is under way.
    [[nodiscard]] const std::string& name() const { return name_; }
    /// Why this one was ended; none: it has not been begun again.
    [[nodiscard]] std::optional<Error> replaced() const { return transfers_.replaced(name_); }

   private:
    ActiveTransfers& transfers_;
    const std::string name_;
  };

  /// Ends the same transfer, if there is one, and waits until it has ended.
  /// job      by which a transfer is known when it begins again
  /// apart    the job's name when another host runs an equal job
  /// errors: Errc::connection_broken: Owner::is_over()
  [[nodiscard]] Result<std::unique_ptr<Slot>> enter(const std::string& job, const std::string& apart, Owner owner) {
    const core::MutexLock lock(mutex_);
    const auto equal = active_.find(job);
    const bool is_anothers = equal != active_.end() && equal->second.owner.host != owner.host &&
                             !(equal->second.owner.is_silent && equal->second.owner.is_silent());
    if (is_anothers && apart_.size() < kMaxApart) apart_.insert(apart);
    const std::string& name = is_anothers || apart_.contains(apart) ? apart : job;
    bool is_told = false;
    for (auto earlier = active_.find(name); earlier != active_.end(); earlier = active_.find(name)) {
      end(earlier->second, owner.address);
      if (owner.is_over && owner.is_over())
        return fail(Errc::connection_broken, "go on with a transfer", "the transfer is over");
      if (released_.wait_for(mutex_, kLookForOver) == std::cv_status::timeout && !std::exchange(is_told, true))
        core::log().warn("{}: waits for the transfer of the same name that ends", owner.address);
    }
    active_[name] = {.owner = std::move(owner)};
    return std::make_unique<Slot>(*this, name);
  }

 private:
  struct Active {
    Owner owner{};
    std::optional<Error> replaced{};
  };

  static void end(Active& earlier, const std::string& address) {
    if (earlier.replaced) return;
    earlier.replaced = Error{Errc::peer_interrupted, "go on with a transfer",
                             "replaced by the same transfer, begun again from " + address};
    earlier.owner.end(*earlier.replaced);
  }
  [[nodiscard]] std::optional<Error> replaced(const std::string& name) {
    const core::MutexLock lock(mutex_);
    return active_.at(name).replaced;
  }
  void release(const std::string& name) {
    const core::MutexLock lock(mutex_);
    active_.erase(name);
    released_.notify_all();
  }

  core::Mutex mutex_;
  core::Condition released_;
  std::map<std::string, Active> active_ UDTCAT_GUARDED_BY(mutex_);
  std::set<std::string> apart_ UDTCAT_GUARDED_BY(mutex_);  // names of jobs whose equals ran at another host
};

}  // namespace udtcat::trees
