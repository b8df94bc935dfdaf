#include "lib/bridge/stop_event.hpp"

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include <poll.h>

#include "lib/core/invariant.hpp"

namespace udtcat::bridge {
namespace {

void poll_for(std::span<pollfd> descriptors, int timeout_ms) {
  while (::poll(descriptors.data(), static_cast<nfds_t>(descriptors.size()), timeout_ms) < 0)
    UDTCAT_INVARIANT(errno == EINTR,
                     "poll of one or two descriptors on our stack needs no memory and has no bad argument");
}

}  // namespace

StopEvent::StopEvent(Descriptor waited, Descriptor rung) : waited_(std::move(waited)), rung_(std::move(rung)) {}

StopEvent::Wake StopEvent::wait(int number, short events) const {
  std::array<pollfd, 2> descriptors{pollfd{waited_.number(), POLLIN, 0}, pollfd{number, events, 0}};
  poll_for(descriptors, -1);
  return descriptors[0].revents != 0 ? Wake::stop : Wake::ready;
}

StopEvent::Wake StopEvent::wait_for(std::chrono::milliseconds timeout) const {
  std::array<pollfd, 1> descriptors{pollfd{waited_.number(), POLLIN, 0}};
  poll_for(descriptors, static_cast<int>(timeout.count()));
  return descriptors[0].revents != 0 ? Wake::stop : Wake::timeout;
}

}  // namespace udtcat::bridge
