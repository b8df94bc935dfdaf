// SPDX-License-Identifier: Apache-2.0
/// The host program's side in tests: waits on events as its loop would, with a deadline.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "gridftp/xio/link.hpp"
#include "lib/bridge/wake_event.hpp"

namespace udtcat::gridftp::xio {

/// Whether the event was raised within the time; it is not any more.
inline bool raised(const bridge::WakeEvent& event, std::chrono::milliseconds limit) {
  pollfd waited{event.number(), POLLIN, 0};
  if (::poll(&waited, 1, static_cast<int>(limit.count())) != 1) return false;
  std::array<std::byte, bridge::WakeEvent::kBytes> count{};
  return ::read(event.number(), count.data(), count.size()) == bridge::WakeEvent::kBytes;
}

template <typename Ask>
auto await(const bridge::WakeEvent& event, Ask ask) -> decltype(ask()) {
  for (;;) {
    auto answer = ask();
    const bool done = [&] {
      if constexpr (requires { answer.done; })
        return answer.done;
      else
        return answer.has_value();
    }();
    if (done) return answer;
    if (!raised(event, std::chrono::seconds(60))) {
      ADD_FAILURE() << "nothing happens";
      return answer;
    }
  }
}

inline std::span<const std::byte> view_of(const std::string& text) { return std::as_bytes(std::span(text)); }

inline OperationState write_all(XioLink& link, const std::string& text) {
  bool started = false;
  return await(link.write_event(), [&] {
    return std::exchange(started, true) ? link.write_progress() : link.start_write({view_of(text)});
  });
}

struct Got {
  std::string text;
  OperationState progress;
};
inline Got read_some(XioLink& link, std::size_t room, std::size_t at_least) {
  Got got{std::string(room, '\0'), {}};
  bool started = false;
  got.progress = await(link.read_event(), [&] {
    if (std::exchange(started, true)) return link.read_progress();
    return link.start_read({std::as_writable_bytes(std::span(got.text))}, at_least);
  });
  got.text.resize(got.progress.bytes);
  return got;
}

inline OperationState close(XioLink& link) {
  bool started = false;
  return await(link.write_event(),
               [&] { return std::exchange(started, true) ? link.close_progress() : link.start_close(); });
}

inline OperationState wait_open(XioLink& link) {
  return await(link.read_event(), [&] { return link.open_progress(); });
}

}  // namespace udtcat::gridftp::xio
