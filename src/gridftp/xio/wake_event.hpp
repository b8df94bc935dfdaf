/// Tells the host program's event loop that one of its operations can go on.
#pragma once

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::gridftp::xio {

/// A descriptor that is readable once raised, until somebody has read kBytes from it. Raised twice it is readable once.
/// Threads: internally synchronised.
class WakeEvent {
 public:
  static constexpr std::size_t kBytes = 8;  // spec: eventfd(2)

  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<WakeEvent> make();

  void raise() const;
  [[nodiscard]] int number() const { return waited_.number(); }

 private:
  explicit WakeEvent(bridge::Descriptor waited) : waited_(std::move(waited)) {}

  bridge::Descriptor waited_;
};

}  // namespace udtcat::gridftp::xio
