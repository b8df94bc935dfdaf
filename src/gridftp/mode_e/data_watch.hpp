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
class DataWatch : public std::enable_shared_from_this<DataWatch> {
 public:
  using Figures = std::function<ConnectionStats()>;

  /// A carrier has come.
  /// returns  kept by the carrier as long as it carries; figures() is called until then, and once more then
  [[nodiscard]] std::shared_ptr<void> enter(Figures figures) {
    had_company_ = !live_.empty();
    const auto carrier = live_.insert(live_.end(), std::move(figures));
    return {this, [self = shared_from_this(), carrier](void*) { self->leave(carrier); }};
  }

  /// Of all carriers together. Evidence is of one that has been alone from its beginning: what holds one of several is
  /// not what holds the transfer.
  [[nodiscard]] ConnectionStats stats() const {
    ConnectionStats all = gone_;
    for (const Figures& figures : live_) all = tool::sum(all, figures());
    if (had_company_) all.evidence = {};
    return all;
  }

 private:
  void leave(std::list<Figures>::const_iterator carrier) {
    gone_ = tool::sum(gone_, (*carrier)());
    gone_.silence = {};
    live_.erase(carrier);
  }

  std::list<Figures> live_;  // in the order in which they came
  ConnectionStats gone_;
  // The carriers that live, or the last that did, were several at a time. One that is left stays so: its evidence began
  // before the others went, and the last to go at the end of a transfer does not speak for those just before it.
  bool had_company_ = false;
};

}  // namespace udtcat::gridftp
