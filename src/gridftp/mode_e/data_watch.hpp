// SPDX-License-Identifier: Apache-2.0
/// The figures of what carries the data of a transfer: of sessions, and of bare UDT4 connections. TCP gives none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include <udtcat/connection.hpp>

#include "tool/figures.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread.
class DataWatch : public std::enable_shared_from_this<DataWatch> {
 public:
  /// A carrier has come.
  /// returns  what it keeps as long as it is one; `figures` is called until then, and then the last time
  [[nodiscard]] std::shared_ptr<void> enter(std::function<ConnectionStats()> figures) {
    has_several_ = !live_.empty();
    const std::uint64_t number = next_++;
    live_.emplace(number, std::move(figures));
    return {this, [self = shared_from_this(), number](void*) { self->leave(number); }};
  }

  /// Of all carriers together. No evidence of several at a time: what holds one is not what holds the transfer.
  [[nodiscard]] ConnectionStats stats() const {
    ConnectionStats all = gone_;
    for (const auto& [number, figures] : live_) all = tool::sum(all, figures());
    if (has_several_) all.evidence = {};
    return all;
  }

 private:
  void leave(std::uint64_t number) {
    gone_ = tool::sum(gone_, live_.at(number)());
    gone_.silence = {};
    live_.erase(number);
  }

  std::map<std::uint64_t, std::function<ConnectionStats()>> live_;  // in the order in which they came
  ConnectionStats gone_;
  std::uint64_t next_ = 0;
  bool has_several_ = false;
};

}  // namespace udtcat::gridftp
