#include "gridftp/xio/wake_event.hpp"

#include <cerrno>
#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/core/invariant.hpp"

namespace udtcat::gridftp::xio {

Result<WakeEvent> WakeEvent::make() {
  bridge::Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) return fail(Errc::out_of_resources, "make an eventfd", errno_text(errno));
  return WakeEvent(std::move(event));
}

void WakeEvent::raise() const {
  const std::uint64_t one = 1;
  const bool raised = ::write(waited_.number(), &one, sizeof one) == sizeof one || errno == EAGAIN;
  UDTCAT_INVARIANT(raised, "an eventfd takes a count, or has so many already that it is readable");
}

}  // namespace udtcat::gridftp::xio
