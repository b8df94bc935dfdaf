// SPDX-License-Identifier: Apache-2.0
/// Congestion controls that are coupled: the flows of a thread to one host. See docs/adr/0078-coupled-flows.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include <udtcat/endpoint.hpp>
#include <udtcat/units.hpp>

#include "lib/core/ip_prefix.hpp"
#include "lib/transport/native/congestion/measures.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Each flow takes the largest rate that it has seen for its own. Where flows share a bottleneck, these together are
/// more than it carries, and a queue stands. Their deliveries together are not more: each takes its part of those.
///
/// Deviates from the RFC, which hands out the sum of the rates that flows ask for, and must be told which of them share
/// a bottleneck: here the two sums show it.
/// source: RFC 8699 §4 (flow group, flow state exchange)
/// Threads: unsynchronised; time is a parameter.
class FlowGroup {
 public:
  struct Report {
    TimePoint now{};
    std::uint64_t newly_delivered_bytes = 0;
    Duration least_rtt{0};
    BitRate bandwidth{};   ///< that the flow takes for its own; zero: not found yet, or more than it has to send
    bool probing = false;  ///< it may have filled the queue
  };

  /// A flow's place in the group, until its destruction.
  class Member {
   public:
    explicit Member(std::shared_ptr<FlowGroup> group) : group_(std::move(group)) {}
    ~Member() { count(BitRate()); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Call with each ACK.
    void on_ack(const Report& report);
    /// Nothing is acknowledged any more.
    void on_timeout() { stop(); }
    /// The part of its bandwidth that this flow may take between probes: 1 where it shares no bottleneck with others.
    [[nodiscard]] double share() const { return counted_ == BitRate() ? 1 : group_->share(); }
    /// A queue that overflows now may be another one's, of the same group.
    [[nodiscard]] bool others_probe(TimePoint now) const {
      return group_->probing_until_ && now < *group_->probing_until_;
    }

   private:
    void count(BitRate bandwidth);
    void stop();

    const std::shared_ptr<FlowGroup> group_;
    std::optional<TimePoint> limited_since_;  // by the path, but for moments by its writer
    TimePoint limited_at_{};                  // last
    BitRate counted_;                         // in the group's sum
  };

 private:
  [[nodiscard]] double share() const;
  void add_delivered(const Report& report);
  [[nodiscard]] Duration span(const Report& report) const;

  std::size_t counted_ = 0;     // members with a part in the sum
  BitRate sum_;                 // of their bandwidths
  RecentMax<BitRate> largest_;  // of what all have delivered in a span
  TimePoint period_began_{};
  TimePoint span_began_{};
  std::uint64_t span_bytes_ = 0;
  std::optional<TimePoint> probing_until_;
};

/// The groups of a thread, by hosts.
/// Threads: unsynchronised.
class FlowGroups {
 public:
  [[nodiscard]] std::shared_ptr<FlowGroup> to_host_of(const Endpoint& peer);

 private:
  std::map<core::Prefix, std::weak_ptr<FlowGroup>> groups_;
};

}  // namespace udtcat::transport::native
