// SPDX-License-Identifier: Apache-2.0
/// Globus' C headers, and its errors made of ours.
#pragma once

#include <array>

extern "C" {
#include <globus_xio_driver.h>
#include <globus_xio_load.h>
#include <globus_xio_system.h>
#include <globus_xio_util.h>
}

#include <udtcat/result.hpp>

#include "lib/bridge/wake_event.hpp"

namespace udtcat::gridftp::xio {

// All of these only on a thread of Globus.

[[nodiscard]] globus_result_t to_globus(const Error& error);
[[nodiscard]] globus_result_t end_of_file();
[[nodiscard]] globus_result_t no_such_command(int command);

/// One wait for a WakeEvent, as Globus' event loop knows it. The operation that waits can be cancelled there, or time
/// out; the callback then has the error.
/// Threads: as Globus calls: one wait at a time.
class EventWait {
 public:
  explicit EventWait(const bridge::WakeEvent& event) : event_(event) {}
  EventWait(const EventWait&) = delete;
  EventWait& operator=(const EventWait&) = delete;
  ~EventWait();

  /// `callback` gets `argument`, on a thread of Globus, once the event is raised. It may be called before this returns.
  [[nodiscard]] globus_result_t start(globus_xio_operation_t operation, globus_xio_system_data_callback_t callback,
                                      void* argument);

 private:
  const bridge::WakeEvent& event_;
  globus_xio_system_file_handle_t system_ = nullptr;
  std::array<std::byte, bridge::WakeEvent::kBytes> count_{};
};

}  // namespace udtcat::gridftp::xio
