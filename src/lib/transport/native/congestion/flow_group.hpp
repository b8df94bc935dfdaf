// SPDX-License-Identifier: Apache-2.0
/// Congestion controls that are coupled: of one engine and thread, to one host. See docs/adr/0078-coupled-flows.md.
#pragma once

#include <cstdint>
#include <list>
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
/// Deviates from the RFC, which divides the sum of the rates that the flows' controls calculate, and must be told which
/// of them share a bottleneck: here the two sums show it.
/// source: RFC 8699 §4 (flow group, flow state exchange)
/// Threads: unsynchronised; time is a parameter.
class FlowGroup {
 public:
  struct Report {
    TimePoint now{};
    std::uint64_t newly_delivered_bytes = 0;
    Duration least_rtt{0};
    BitRate bandwidth{};   ///< that the flow takes for its own; zero: its path does not limit it, or not so far
    bool queued = false;   ///< a queue stands in its path
    bool probing = false;  ///< it may have filled the queue
  };

  /// A flow's place in the group, until its destruction.
  class Member {
   public:
    explicit Member(std::shared_ptr<FlowGroup> group) : group_(std::move(group)) {}
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Call with each ACK.
    void on_ack(const Report& report);
    /// Nothing is acknowledged any more.
    void on_timeout() { stop(); }
    /// The part of its bandwidth that this flow may take between probes: 1 where it shares no bottleneck with others.
    [[nodiscard]] double share() const { return counted_ == BitRate() ? 1 : group_->share(); }
    /// Another one probes, or did until lately: a queue that overflows may be its.
    [[nodiscard]] bool others_probe(TimePoint now) const {
      return group_->prober_ != nullptr && group_->prober_ != this && now < group_->probing_until_;
    }

   private:
    friend class FlowGroup;
    void on_limited(const Report& report);
    void count(BitRate bandwidth);
    void stop();

    const std::shared_ptr<FlowGroup> group_;
    std::optional<TimePoint> limited_since_;  // since when the path limits it, short pauses of its writer included
    TimePoint limited_at_{};                  // when it last did
    Duration steady_{0};                      // for so long it does, or does not, before that counts
    BitRate counted_;                         // in the group's sum
    std::list<Member*>::iterator place_;      // where it is counted
  };

 private:
  [[nodiscard]] double share() const;
  void add_delivered(const Report& report);
  void end_span(const Report& report);

  std::list<Member*> counted_;  // those with a part in the sum
  BitRate sum_;                 // of their bandwidths
  RecentMax<BitRate> largest_;  // of what all have delivered in a span
  double eased_ = 1;            // grows while no queue stands: what was delivered is then less than there is
  bool queued_ = false;         // in this span
  TimePoint period_began_{};
  TimePoint span_began_{};
  std::uint64_t span_bytes_ = 0;
  const Member* prober_ = nullptr;  // the last one
  TimePoint probing_until_{};
};

/// The groups of an engine and thread, by hosts.
/// Threads: unsynchronised.
class FlowGroups {
 public:
  [[nodiscard]] std::shared_ptr<FlowGroup> to_host_of(const Endpoint& peer);

 private:
  std::map<core::Prefix, std::weak_ptr<FlowGroup>> groups_;
};

}  // namespace udtcat::transport::native
