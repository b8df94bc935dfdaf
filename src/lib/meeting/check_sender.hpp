// SPDX-License-Identifier: Apache-2.0
/// Connectivity checks to the candidates of offers, within limits: nobody turns a listener against a third party.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/core/ip_prefix.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/meeting/candidates.hpp"

namespace udtcat::meeting {

/// At most kChecksAMinute go to one address and kChecksAMinuteOfHost to one host, whoever asks (RFC 8445 §19.5.1), and
/// few addresses have some at a time: where there are more, the others get none for a minute.
/// Threads: unsynchronised; time is a parameter.
class CheckQuota {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kChecksAMinute = 10;        // spec: meet.md §7
  static constexpr std::size_t kChecksAMinuteOfHost = 30;  // spec: meet.md §7: three ends behind one NAT
  static constexpr std::size_t kMaxAddresses = 512;        // guess: 64 offers

  /// Whether one may be sent now, which is counted.
  [[nodiscard]] bool take(const Endpoint& address, TimePoint now);

 private:
  struct Count {
    TimePoint since;
    std::size_t sent = 0;
  };
  template <typename Key>
  [[nodiscard]] static bool is_left(const std::map<Key, Count>& counts, const Key& key, std::size_t limit,
                                    TimePoint now);
  template <typename Key>
  static void add(std::map<Key, Count>& counts, const Key& key, TimePoint now);

  std::map<std::string, Count> counts_;
  std::map<core::Prefix, Count> host_counts_;  // no more than there are addresses
};

/// Checks to the candidates of one offer, in rounds: docs/spec/meet.md §7.
/// Threads: confined to the io_context thread.
class CheckSender {
 public:
  using Send = std::function<void(const Endpoint& to)>;

  /// quota          outlives this
  /// answer_takes   until the connector has the answer and sends, too: then the first check goes to candidates that are
  ///                a translator's
  CheckSender(boost::asio::io_context& io, CheckQuota& quota, std::vector<Candidate> candidates,
              std::chrono::milliseconds answer_takes, Send send);
  /// One check to each, so that some are left of a minute's (CheckQuota); while the rounds last, none.
  void send_again();

 private:
  void send_to(bool hosts, bool translated);
  void send_round();

  CheckQuota& quota_;
  const std::vector<Candidate> candidates_;
  const Send send_;
  std::size_t sent_ = 0;  // rounds
  std::chrono::steady_clock::time_point began_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer first_translated_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meeting
