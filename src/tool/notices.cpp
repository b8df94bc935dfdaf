#include "tool/notices.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"

namespace udtcat::tool {

std::optional<std::string> protection_notice(Protection protection) {
  switch (protection) {
    case Protection::private_:
      return std::nullopt;
    case Protection::safe:
      return "--protect safe: the data cannot be changed on the way, but everybody on the path can read it";
    case Protection::auth:
      return "--protect auth: the peer has the key, but everybody on the path can read and change the data";
    case Protection::clear:
      break;
  }
  return "WARNING: --protect clear: no key, no encryption, no check. Anybody can be the other side, and everybody on "
         "the path can read and "
         "change the data";
}

std::string plain_notice() {
  return "WARNING: --plain: no key, no encryption, no proof. Anybody can be the other side, everybody on the path can "
         "read and change the data, and nothing shows that the last byte arrived";
}

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

LocalStream::ReadResult WaitingNotice::read_some(std::span<std::byte> into) {
  const ReadResult read = stdio_->read_some(into);
  if (read.state == ReadState::would_block) return read;
  has_read_ = true;
  timer_.cancel();
  return read;
}

void WaitingNotice::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  has_written_ = true;
  stdio_->async_write_some(from, std::move(handler));
}

void WaitingNotice::async_finish(FinishHandler handler) {
  stdio_->async_finish(lifetime_.guard([this, handler = std::move(handler)](std::error_code error) {
    if (!error && has_written_ && !has_read_) {
      timer_.expires_after(patience_);
      timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
        if (!cancelled && !has_read_) notice_();
      }));
    }
    handler(error);
  }));
}

void WaitingNotice::abort() {
  lifetime_.end();
  timer_.cancel();
  stdio_->abort();
}

}  // namespace udtcat::tool
