// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/wake_event.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/core/invariant.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::bridge {
namespace {

void poll_for(std::span<pollfd> descriptors, int timeout_ms) {
  while (::poll(descriptors.data(), static_cast<nfds_t>(descriptors.size()), timeout_ms) < 0)
    UDTCAT_INVARIANT(errno == EINTR,
                     "poll of one or two descriptors on our stack needs no memory and has no bad argument");
}

}  // namespace

Result<WakeEvent> WakeEvent::make() {
  Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) return core::fail_by_errno(Errc::out_of_resources, "make an eventfd");
  return WakeEvent(std::move(event));
}

void WakeEvent::raise() const {
  const std::uint64_t one = 1;
  const bool raised = ::write(number(), &one, sizeof one) == sizeof one || errno == EAGAIN;
  UDTCAT_INVARIANT(raised, "an eventfd takes a count, or has so many already that it is readable");
}

WakeEvent::Wake WakeEvent::wait(int other, short events) const {
  std::array<pollfd, 2> descriptors{pollfd{number(), POLLIN, 0}, pollfd{other, events, 0}};
  poll_for(descriptors, -1);
  return descriptors[0].revents != 0 ? Wake::raised : Wake::ready;
}

WakeEvent::Wake WakeEvent::wait_for(std::chrono::milliseconds timeout) const {
  std::array<pollfd, 1> descriptors{pollfd{number(), POLLIN, 0}};
  poll_for(descriptors, static_cast<int>(timeout.count()));
  return descriptors[0].revents != 0 ? Wake::raised : Wake::timeout;
}

}  // namespace udtcat::bridge
