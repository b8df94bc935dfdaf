#include "tool/refusal_log.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"

namespace udtcat::tool {

std::optional<std::string> RefusalDigest::add(const Endpoint& peer, const Error& why, TimePoint now) {
  if (counted_ == 0 && now - interval_began_ >= kRefusalInterval) told_ = 0;
  if (told_ == kRefusalsTold) {
    ++counted_;
    return std::nullopt;
  }
  if (told_++ == 0) interval_began_ = now;
  return fmt::format("refused {}: {}", peer.to_string(), why.message());
}

std::optional<std::string> RefusalDigest::take_count() {
  told_ = 0;
  const std::size_t count = std::exchange(counted_, 0);
  if (count == 0) return std::nullopt;
  return fmt::format("refused {} more in the last {} s", count, kRefusalInterval.count());
}

std::optional<RefusalDigest::TimePoint> RefusalDigest::count_due() const {
  if (counted_ == 0) return std::nullopt;
  return interval_began_ + kRefusalInterval;
}

void RefusalLog::add(const Endpoint& peer, const Error& why) {
  say(digest_.add(peer, why, std::chrono::steady_clock::now()));
  const auto due = digest_.count_due();
  if (!due || timer_set_) return;
  timer_set_ = true;
  timer_.expires_at(*due);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;  // and perhaps destroyed: `this` is not touched
    timer_set_ = false;
    say(digest_.take_count());
  });
}

void RefusalLog::say(const std::optional<std::string>& line) {
  if (line) core::log().warn("{}", *line);
}

}  // namespace udtcat::tool
