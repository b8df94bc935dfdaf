// SPDX-License-Identifier: Apache-2.0
/// The counters of a transfer, while it runs and at its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lib/core/mutex.hpp"

namespace udtcat::trees {

/// Threads: internally synchronised.
class TransferCounters {
 public:
  /// Reports a name that one end cannot read, or the other cannot have.
  using WarningHandler = std::function<void(const std::string& line)>;

  /// on_warning   called by any of the transfer's threads
  explicit TransferCounters(WarningHandler on_warning) : on_warning_(std::move(on_warning)) {}

  std::atomic<bool> has_begun{false};         ///< the other end has said what it wants
  std::atomic<std::uint64_t> entries{0};      ///< that are at the receiver
  std::atomic<std::uint64_t> files{0};        ///< of these
  std::atomic<std::uint64_t> bytes{0};        ///< of files, holes included, that are there or under way
  std::atomic<std::uint64_t> moved_bytes{0};  ///< of these, those that went over the path
  std::atomic<std::uint64_t> all_entries{0};  ///< that there are; 0: not known
  std::atomic<std::uint64_t> all_bytes{0};    ///< of their files; likewise
  std::atomic<std::uint64_t> passed_over{0};  ///< sockets, which are nothing without their process
  std::atomic<std::uint64_t> errors{0};
  std::atomic<std::uint64_t> losses{0};  ///< kinds of attributes that a file system there does not keep

  /// The file that is just moving.
  void begin_file(const std::string& path) {
    const core::MutexLock lock(mutex_);
    current_ = path;
  }
  [[nodiscard]] std::string current_file() {
    const core::MutexLock lock(mutex_);
    return current_;
  }
  /// The transfer is of this name, among others; one that comes again at once is the same.
  void add_name(std::string_view name) {
    const core::MutexLock lock(mutex_);
    if (names_ > 0 && name == last_name_) return;
    if (++names_ == 1) first_name_ = name;
    last_name_ = name;
  }
  /// "photos", "photos and 2 more"; empty before the first name is known.
  [[nodiscard]] std::string names() {
    const core::MutexLock lock(mutex_);
    return names_ < 2 ? first_name_ : first_name_ + " and " + std::to_string(names_ - 1) + " more";
  }
  /// An entry was counted that is not there after all.
  void take_back_entry() {
    if (entries > 0) --entries;
  }
  void complain(const std::string& line) {
    ++errors;
    on_warning_(line);
  }
  /// A file at the receiver lacks an attribute.
  void lose(const std::string& line) {
    ++losses;
    on_warning_(line);
  }

 private:
  const WarningHandler on_warning_;
  core::Mutex mutex_;
  std::string current_ UDTCAT_GUARDED_BY(mutex_);
  std::uint64_t names_ UDTCAT_GUARDED_BY(mutex_) = 0;
  std::string first_name_ UDTCAT_GUARDED_BY(mutex_);
  std::string last_name_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::trees
