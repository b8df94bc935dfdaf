// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/half_descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <tuple>

#include <sys/socket.h>
#include <unistd.h>

namespace udtcat::bridge {
namespace {

IoResult from_result(ssize_t result) {
  if (result >= 0) return {.state = IoResult::State::moved, .bytes = static_cast<std::size_t>(result)};
  // EINTR counts as would_block, so that the stop event is polled before the next attempt.
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {.state = IoResult::State::would_block};
  return {.state = IoResult::State::failed, .error = last_error()};
}

std::optional<IoResult> unless_unsupported(const IoResult& result) {
  for (const std::errc unsupported :
       {std::errc::operation_not_supported, std::errc::invalid_argument, std::errc::function_not_supported})
    if (result.error == unsupported) return std::nullopt;
  return result;
}

}  // namespace

HalfDescriptor::HalfDescriptor(int number, Half half)
    : given_(number), kind_(kind_of(number)), own_(reopen_non_blocking(number, kind_, half)) {
  if (kind_ == DescriptorKind::fifo) enlarge_pipe(number);
}

IoResult HalfDescriptor::read_some(std::span<std::byte> into) const {
  if (kind_ == DescriptorKind::socket) return from_result(::recv(number(), into.data(), into.size(), MSG_DONTWAIT));
  return from_result(::read(number(), into.data(), into.size()));
}

IoResult HalfDescriptor::write_some(std::span<const std::byte> from) const {
  if (kind_ == DescriptorKind::socket)
    return from_result(::send(number(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  // poll() promises room for PIPE_BUF bytes of a pipe or terminal; files and devices have no consumer to wait for.
  const bool whole = never_waits() || (kind_ != DescriptorKind::fifo && kind_ != DescriptorKind::terminal);
  return from_result(
      ::write(number(), from.data(), whole ? from.size() : std::min<std::size_t>(from.size(), PIPE_BUF)));
}

// A file always blocks, so a thread reads ahead and writes behind.
std::optional<IoResult> HalfDescriptor::read_now(std::span<std::byte> into) const {
  if (never_waits()) return read_some(into);
  if (kind_ == DescriptorKind::file) return std::nullopt;
  return unless_unsupported(from_result(read_without_waiting(number(), into)));
}

std::optional<IoResult> HalfDescriptor::write_now(std::span<const std::byte> from) const {
  if (never_waits()) return write_some(from);
  if (kind_ == DescriptorKind::file) return std::nullopt;
  return unless_unsupported(from_result(write_without_waiting(number(), from)));
}

std::error_code HalfDescriptor::end_writing() const {
  if (kind_ != DescriptorKind::socket || ::shutdown(number(), SHUT_WR) == 0) return {};
  return last_error();
}

void HalfDescriptor::close_as_a_failure(bool on) const {
  if (kind_ != DescriptorKind::socket || !given_.is_open()) return;
  const linger reset{.l_onoff = on ? 1 : 0, .l_linger = 0};
  std::ignore =
      ::setsockopt(given_.number(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);  // fails where it is not TCP
}

std::error_code HalfDescriptor::close() {
  std::ignore = own_.close();  // pipe or terminal: nothing is stored that could be lost
  return given_.close();
}

}  // namespace udtcat::bridge
