/// How a thread that waits on a descriptor is told to stop.
#pragma once

#include <chrono>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::bridge {

/// Once requested it stays so: every wait after that says stop.
/// Threads: internally synchronised.
class StopEvent {
 public:
  enum class Wake { ready, timeout, stop };

  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<StopEvent> make();

  void request() const;
  /// Waits until poll() has something to say of `number`: `events`, an error or a hang-up.
  [[nodiscard]] Wake wait(int number, short events) const;
  [[nodiscard]] Wake wait_for(std::chrono::milliseconds timeout) const;

 private:
  explicit StopEvent(Descriptor waited, Descriptor rung = {});

  Descriptor waited_;  // readable once stop is requested
  Descriptor rung_;    // what request() writes to; not open where `waited_` serves for both
};

}  // namespace udtcat::bridge
