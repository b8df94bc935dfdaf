#include "lib/session/hand_off.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "lib/core/text.hpp"

namespace udtcat::session {

namespace {

constexpr const char* kTimes = "/proc/thread-self/schedstat";  // spec: proc(5)
constexpr int kLookedAwayAfter = 5;                            // guess: times of a pause say nothing of a busy thread

}  // namespace

std::optional<CoreTime> CoreTime::parse(std::string_view text) {
  const auto take = [&text]() -> std::optional<std::chrono::nanoseconds> {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const auto number = core::parse_number<std::int64_t>(word);
    if (!number) return std::nullopt;
    return std::chrono::nanoseconds(*number);
  };
  const auto had = take();
  const auto waited = take();
  if (!had || !waited) return std::nullopt;
  return CoreTime{*had, *waited};
}

std::optional<CoreTime> CoreTime::of_this_thread() {
  const int file = ::open(kTimes, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 128> text{};  // three numbers
  const ssize_t bytes = ::read(file, text.data(), text.size());
  ::close(file);
  if (bytes <= 0) return std::nullopt;
  return parse({text.data(), static_cast<std::size_t>(bytes)});
}

boost::asio::execution_context::id HandOff::id;

void HandOff::look(TimePoint now, std::optional<CoreTime> times) {
  const auto before = std::exchange(times_, times);
  const auto passed = now - std::exchange(looked_at_, now);
  if (!times) pays_ = true;
  if (!times || !before || passed > kLookedAwayAfter * kLookEvery) return;
  const auto had = times->had - before->had;
  const auto waited = times->waited - before->waited;
  const bool busy = 2 * (had + waited) >= passed;
  const bool crowded = 4 * waited >= had + waited;
  const bool has_a_core = 20 * had >= 19 * passed;
  pays_ = pays_ ? !(busy && crowded) : has_a_core;
}

}  // namespace udtcat::session
