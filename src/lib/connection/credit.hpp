// SPDX-License-Identifier: Apache-2.0
/// Credit: how much one end may send on a stream, and how the other decides it. See docs/spec/stream.md §4.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/session/session.hpp"

namespace udtcat::connection {

using TimePoint = std::chrono::steady_clock::time_point;

inline constexpr std::uint32_t kSoleWindowBytes = 16 * kMiB;     // spec: stream.md §4
inline constexpr std::uint64_t kWindowBudgetBytes = 128 * kMiB;  // guess: for a transport that states no limit (libudt)

inline constexpr std::uint64_t kLeastWindowBytes = 16 * kKiB;  // spec: stream.md §4

/// The credit of a new stream. The only one has much, so that slow start need not wait for what the consumer says to
/// the first bytes; of many all that may be open keep within the memory.
/// memory_bytes   as TransportOptions has it
[[nodiscard]] inline std::uint32_t initial_window_bytes(const SessionOptions& session, std::uint64_t memory_bytes) {
  if (!session.one_stream)
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        memory_bytes / std::max<std::size_t>(session.streams, 1), kLeastWindowBytes, session::kInitialWindowBytes));
  const std::uint64_t share = memory_bytes / 4;  // guess: the rest is for growth
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(share, session::kInitialWindowBytes, kSoleWindowBytes));
}

/// The limit to which all windows of a session grow together. Initial windows are granted without asking, one a stream.
/// Threads: unsynchronised.
class WindowBudget {
 public:
  enum class Streams { one, many };
  explicit WindowBudget(std::uint64_t limit_bytes, Streams streams = Streams::many)
      : limit_bytes_(limit_bytes), streams_(streams) {}
  void take_initial(std::uint64_t bytes) { taken_bytes_ += bytes; }
  [[nodiscard]] bool try_take(std::uint64_t bytes) {
    if (bytes > left_bytes()) return false;
    taken_bytes_ += bytes;
    return true;
  }
  void give_back(std::uint64_t bytes) { taken_bytes_ -= bytes; }
  [[nodiscard]] std::uint64_t left_bytes() const { return limit_bytes_ - std::min(limit_bytes_, taken_bytes_); }
  /// Its stream is the only one.
  [[nodiscard]] bool alone() const { return streams_ == Streams::one; }
  /// No stream leaves the others, if there may be some, with less than a quarter.
  [[nodiscard]] std::uint64_t most_per_stream_bytes() const { return limit_bytes_ - (alone() ? 0 : limit_bytes_ / 4); }
  /// The most that a stream is given at once when its consumer begins.
  [[nodiscard]] std::uint64_t first_share_bytes() const { return left_bytes() / (alone() ? 2 : 4); }

 private:
  const std::uint64_t limit_bytes_;
  const Streams streams_;
  std::uint64_t taken_bytes_ = 0;
};

/// The sender's half: how far it may go.
/// Threads: unsynchronised.
class SendCredit {
 public:
  explicit SendCredit(std::uint64_t initial_window_bytes) : limit_bytes_(initial_window_bytes) {}
  [[nodiscard]] std::uint64_t available_bytes() const { return limit_bytes_ - sent_bytes_; }
  [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_; }
  /// bytes   at most available_bytes()
  void on_sent(std::uint64_t bytes);
  /// False if the limit would shrink: a violation.
  [[nodiscard]] bool on_grant(std::uint64_t limit_bytes);

 private:
  std::uint64_t limit_bytes_;
  std::uint64_t sent_bytes_ = 0;
};

/// The receiver's half: how much it has promised to hold, and when to promise more.
/// Threads: unsynchronised. The budget must outlive it.
class ReceiveCredit {
 public:
  ReceiveCredit(std::uint64_t initial_window_bytes, WindowBudget& budget);
  ~ReceiveCredit();
  ReceiveCredit(const ReceiveCredit&) = delete;
  ReceiveCredit& operator=(const ReceiveCredit&) = delete;

  /// False if the peer sent more than it was granted: a violation.
  [[nodiscard]] bool on_received(std::uint64_t bytes);
  /// Grants credit: the consumer took bytes. Gives the new limit when it is time to announce one.
  /// rtt   of the connection, as far as it is known
  [[nodiscard]] std::optional<std::uint64_t> on_consumed(std::uint64_t bytes, TimePoint now,
                                                         std::chrono::microseconds rtt);

  [[nodiscard]] std::uint64_t received_bytes() const { return received_bytes_; }
  [[nodiscard]] std::uint64_t consumed_bytes() const { return consumed_bytes_; }
  [[nodiscard]] std::uint64_t window_bytes() const { return window_bytes_; }

 private:
  void grow(std::uint64_t bytes);

  WindowBudget& budget_;
  std::uint64_t window_bytes_;
  std::uint64_t limit_bytes_;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t consumed_bytes_ = 0;
  std::optional<TimePoint> measured_since_;  // the consumer has begun; when it had taken measured_from_bytes_
  std::uint64_t measured_from_bytes_ = 0;
};

}  // namespace udtcat::connection
