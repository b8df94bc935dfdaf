// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/relay.hpp"

#include <utility>

namespace udtcat::bridge {

Relay::Relay(LocalStream& from, LocalStream& to, DoneHandler done)
    : from_(from), to_(to), done_(std::move(done)), buffer_(kBufferBytes) {
  wait();
}

void Relay::wait() {
  from_.async_wait_readable(lifetime_.guard([this] { read(); }));
}

void Relay::read() {
  const LocalStream::ReadResult result = from_.read_some(buffer_);
  switch (result.state) {
    case LocalStream::ReadState::data:
      return write(std::span(buffer_).first(result.bytes));
    case LocalStream::ReadState::would_block:
      return wait();
    case LocalStream::ReadState::end:
      return finish();
    case LocalStream::ReadState::failed:
      return std::exchange(done_, nullptr)({.read_error = result.error});
  }
}

void Relay::write(std::span<const std::byte> rest) {
  to_.async_write_some(rest, lifetime_.guard([this, rest](std::error_code error, std::size_t bytes) {
    if (error) return std::exchange(done_, nullptr)({.write_error = error});
    if (bytes < rest.size()) return write(rest.subspan(bytes));
    read();
  }));
}

void Relay::finish() {
  to_.async_finish(
      lifetime_.guard([this](std::error_code error) { std::exchange(done_, nullptr)({.write_error = error}); }));
}

}  // namespace udtcat::bridge
