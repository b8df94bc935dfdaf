// SPDX-License-Identifier: Apache-2.0
#include "support/producer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "support/bytes.hpp"

namespace udtcat::test {

Producer::Producer(std::uint64_t seed, std::uint64_t bytes, Afterwards afterwards) : pipe_(make_pipe()) {
  set_non_blocking(pipe_.writing);
  if (afterwards == Afterwards::end) end();
  thread_ = std::thread([this, seed, bytes] { write_all(seed, bytes); });
}

Producer::~Producer() {
  set_event(stop_);
  if (thread_.joinable()) thread_.join();
}

void Producer::end() { set_event(end_); }

void Producer::finish() {
  finishes_ = true;
  end();
}

Digest Producer::digest() const {
  constexpr auto kLimit = std::chrono::seconds(10);  // guess: only ever waited out by a test that fails
  return all_taken_.wait_for(kLimit) == std::future_status::ready
             ? all_taken_.get()
             : Digest{.bytes = taken_.load(), .sha256 = "(not taken)"};
}

void Producer::write_all(std::uint64_t seed, std::uint64_t bytes) {
  constexpr std::size_t kChunkBytes = 64 * 1024;
  RandomSequence sequence(seed);
  Digester digester;
  std::vector<std::byte> chunk(kChunkBytes);
  bool writing = true;
  for (std::uint64_t left = bytes; left > 0 && writing && !finishes_;) {
    const auto part = std::span(chunk).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, chunk.size())));
    sequence.fill(part);
    digester.add(part);
    left -= part.size();
    writing = write_part(part);
  }
  if (writing) {
    all_.set_value(digester.finish());
    wait_for_end();
  }
  pipe_.writing.close();
}

bool Producer::write_part(std::span<const std::byte> part) {
  while (!part.empty()) {
    if (!wait_until_writable()) return false;
    const auto written = ::write(pipe_.writing.fd(), part.data(), part.size());
    if (written < 0 && errno == EAGAIN) continue;
    if (written < 0) return false;  // the process is gone, which the test learns from the process
    taken_ += static_cast<std::uint64_t>(written);
    part = part.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

bool Producer::wait_until_writable() const {
  std::array<pollfd, 2> events{{{.fd = pipe_.writing.fd(), .events = POLLOUT, .revents = 0},
                                {.fd = stop_.fd(), .events = POLLIN, .revents = 0}}};
  ::poll(events.data(), events.size(), -1);
  return events[1].revents == 0;
}

void Producer::wait_for_end() const {
  std::array<pollfd, 2> events{
      {{.fd = end_.fd(), .events = POLLIN, .revents = 0}, {.fd = stop_.fd(), .events = POLLIN, .revents = 0}}};
  ::poll(events.data(), events.size(), -1);
}

}  // namespace udtcat::test
