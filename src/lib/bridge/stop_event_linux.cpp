#include <cerrno>
#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/bridge/stop_event.hpp"
#include "lib/core/invariant.hpp"

namespace udtcat::bridge {

Result<StopEvent> StopEvent::make() {
  Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) return fail(Errc::out_of_resources, "make an eventfd", errno_text(errno));
  return StopEvent(std::move(event));
}

void StopEvent::request() const {
  const std::uint64_t one = 1;
  const bool rung = ::write(waited_.number(), &one, sizeof one) == sizeof one || errno == EAGAIN;
  UDTCAT_INVARIANT(rung, "an eventfd takes a count, or has so many already that it is readable");
}

}  // namespace udtcat::bridge
