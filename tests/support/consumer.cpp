// SPDX-License-Identifier: Apache-2.0
#include "support/consumer.hpp"

#include <array>
#include <span>
#include <vector>

#include <poll.h>
#include <unistd.h>

namespace udtcat::test {

namespace {

/// Until `event` is set or `stop` is; false for `stop`.
bool wait_for(const Descriptor& event, const Descriptor& stop) {
  std::array<pollfd, 2> events{
      {{.fd = event.fd(), .events = POLLIN, .revents = 0}, {.fd = stop.fd(), .events = POLLIN, .revents = 0}}};
  ::poll(events.data(), events.size(), -1);
  return events[1].revents == 0;
}

}  // namespace

Consumer::Consumer(Begin begin_when) : pipe_(make_pipe()) {
  if (begin_when == Begin::at_once) begin();
  thread_ = std::thread([this] { end_.set_value(read_all()); });
}

Consumer::~Consumer() { quit(); }

void Consumer::begin() { set_event(begin_); }

void Consumer::quit() {
  set_event(stop_);
  if (thread_.joinable()) thread_.join();
}

bool Consumer::wait_for_end(std::chrono::milliseconds limit) const {
  return ended_.wait_for(limit) == std::future_status::ready;
}

Digest Consumer::digest() const {
  constexpr auto kLimit = std::chrono::seconds(10);  // guess: only ever waited out by a test that fails
  return wait_for_end(kLimit) ? ended_.get() : Digest{.bytes = read_.load(), .sha256 = "(no end of file)"};
}

Digest Consumer::read_all() {
  constexpr std::size_t kChunkBytes = 256 * 1024;
  std::vector<std::byte> chunk(kChunkBytes);
  Digester digester;
  if (wait_for(begin_, stop_)) {
    while (wait_for(pipe_.reading, stop_)) {
      const auto got = ::read(pipe_.reading.fd(), chunk.data(), chunk.size());
      if (got < 0) die("read a pipe that is readable");
      if (got == 0) break;
      digester.add(std::span(chunk).first(static_cast<std::size_t>(got)));
      read_ += static_cast<std::uint64_t>(got);
    }
  }
  pipe_.reading.close();
  return digester.finish();
}

}  // namespace udtcat::test
