// SPDX-License-Identifier: Apache-2.0
/// STUN's Binding at the place's own port, for anybody (docs/spec/meet.md §1). No input or output here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/core/ip_prefix.hpp"
#include "lib/net/stun.hpp"

namespace udtcat::meet {

/// A few short requests a second are answered at once, since clients of other makes ask once. Beyond them an address
/// gets no more bytes than came from it: a request that is shorter than its answer is answered when it is sent again.
/// Threads: unsynchronised.
class BindingService {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static constexpr std::size_t kAnswersASecond = 2000;         // guess: 100 kB/s
  static constexpr std::size_t kAnswersASecondOfPrefix = 100;  // guess: a site whose hosts all start at once
  static constexpr std::size_t kShortAnswersASecond = 10;      // guess: 320 bytes/s do no harm to anybody
  static constexpr std::size_t kMaxShortRequests = 1024;       // guess: 100 kB

  /// Total: any datagram may come.
  /// returns  empty: no answer
  [[nodiscard]] std::vector<std::byte> answer(std::span<const std::byte> datagram, const Endpoint& from, TimePoint now);

  [[nodiscard]] std::uint64_t answered() const { return answered_; }
  [[nodiscard]] std::uint64_t over_rate() const { return over_rate_; }

 private:
  /// An address and a transaction.
  using ShortRequest = std::pair<std::vector<std::byte>, net::StunTransactionId>;

  void begin_second(TimePoint now);
  [[nodiscard]] bool is_paid(std::size_t request_bytes, std::size_t answer_bytes, ShortRequest request);
  [[nodiscard]] bool is_within_rate(const Endpoint& from);

  std::map<ShortRequest, std::size_t> short_requests_;  // the bytes that came; kMaxShortRequests at most
  std::list<ShortRequest> oldest_first_;                // of the same
  core::PrefixCounts answers_;                          // of this second; kAnswersASecond at most
  std::size_t short_answers_ = 0;                       // of this second, to what was sent once
  TimePoint second_began_{};
  std::uint64_t answered_ = 0;
  std::uint64_t over_rate_ = 0;
};

}  // namespace udtcat::meet
