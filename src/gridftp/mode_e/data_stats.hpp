// SPDX-License-Identifier: Apache-2.0
/// The statistics of the sessions and plain UDT4 connections that carry a transfer's data. TCP has none.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <utility>

#include <udtcat/stats.hpp>

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread.
class DataStats : public std::enable_shared_from_this<DataStats> {
 public:
  using StatsSource = std::function<ConnectionStats()>;

  /// Adds a session or connection.
  /// returns  kept by it until its end; source() is called until then, and a last time then
  [[nodiscard]] std::shared_ptr<void> add(StatsSource source) {
    had_company_ = !live_.empty();
    const auto counted = live_.insert(live_.end(), std::move(source));
    return {this, [self = shared_from_this(), counted](void*) { self->leave(counted); }};
  }

  /// The sums. Of the ends only one that was alone from its beginning: what limits one of several does not limit the
  /// transfer.
  [[nodiscard]] ConnectionStats stats() const {
    ConnectionStats all = gone_;
    for (const StatsSource& source : live_) all = sum(all, source());
    if (had_company_) all.ends = {};
    return all;
  }

 private:
  void leave(std::list<StatsSource>::const_iterator counted) {
    gone_ = sum(gone_, (*counted)());
    gone_.silence = {};
    live_.erase(counted);
  }

  std::list<StatsSource> live_;  // in the order in which they came
  ConnectionStats gone_;
  // Several were there at a time: the ends of the last one began beside theirs.
  bool had_company_ = false;
};

}  // namespace udtcat::gridftp
