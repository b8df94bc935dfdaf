#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "lib/bridge/stop_event.hpp"
#include "lib/core/invariant.hpp"

namespace udtcat::bridge {

Result<StopEvent> StopEvent::make() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return fail(Errc::out_of_resources, "make a pipe", errno_text(errno));
  for (const int end : ends) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  return StopEvent(Descriptor(ends[0]), Descriptor(ends[1]));
}

void StopEvent::request() const {
  const char one = 1;
  const bool rung = ::write(rung_.number(), &one, sizeof one) == sizeof one || errno == EAGAIN;
  UDTCAT_INVARIANT(rung, "a pipe whose reader is ours takes a byte, or is full and so readable");
}

}  // namespace udtcat::bridge
