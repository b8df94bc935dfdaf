// SPDX-License-Identifier: Apache-2.0
/// The figures of what carries the data of a transfer: of sessions, and of bare UDT4 connections. TCP gives none.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <utility>

#include <udtcat/connection.hpp>

#include "tool/status/figures.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread.
class DataStats : public std::enable_shared_from_this<DataStats> {
 public:
  using StatsSource = std::function<ConnectionStats()>;

  /// A carrier has come.
  /// returns  kept by the carrier as long as it carries; figures() is called until then, and once more then
  [[nodiscard]] std::shared_ptr<void> add(StatsSource source) {
    had_company_ = !live_.empty();
    const auto counted = live_.insert(live_.end(), std::move(source));
    return {this, [self = shared_from_this(), counted](void*) { self->leave(counted); }};
  }

  /// Of all carriers together. Evidence is of one that has been alone from its beginning: what holds one of several is
  /// not what holds the transfer.
  [[nodiscard]] ConnectionStats stats() const {
    ConnectionStats all = gone_;
    for (const StatsSource& source : live_) all = tool::sum(all, source());
    if (had_company_) all.evidence = {};
    return all;
  }

 private:
  void leave(std::list<StatsSource>::const_iterator counted) {
    gone_ = tool::sum(gone_, (*counted)());
    gone_.silence = {};
    live_.erase(counted);
  }

  std::list<StatsSource> live_;  // in the order in which they came
  ConnectionStats gone_;
  // The carriers that live, or the last that did, were several at a time. One that is left stays so: its evidence began
  // before the others went, and the last to go at the end of a transfer does not speak for those just before it.
  bool had_company_ = false;
};

}  // namespace udtcat::gridftp
