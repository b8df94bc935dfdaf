// SPDX-License-Identifier: Apache-2.0
/// Wakes a thread that waits on a descriptor.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::bridge {

/// A descriptor that is readable once raised, until kBytes have been read from it; raised twice it is readable once.
/// The waits below read nothing: after raise() each of them says so.
/// Threads: internally synchronised.
class WakeEvent {
 public:
  static constexpr std::size_t kBytes = 8;  // spec: eventfd(2)
  enum class Wake { ready, timeout, raised };

  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<WakeEvent> make();

  void raise() const;
  [[nodiscard]] int number() const { return event_.number(); }
  /// Waits until this is raised or poll() has something to say of `other`: `events`, an error or a hang-up.
  [[nodiscard]] Wake wait(int other, short events) const;
  [[nodiscard]] Wake wait_for(std::chrono::milliseconds timeout) const;

 private:
  explicit WakeEvent(Descriptor event) : event_(std::move(event)) {}

  Descriptor event_;
};

}  // namespace udtcat::bridge
