/// Knows when nothing has moved for too long.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::gridftp {

/// Looks once in each patience whether the count is still the same.
/// Threads: confined to the io_context thread.
class SilenceWatch {
 public:
  /// A count of what has moved so far; none: it is not the peer that is waited for.
  using Moved = std::function<std::optional<std::uint64_t>()>;

  /// moved   empty: nothing ever does.  on_silence   is called once, at most
  SilenceWatch(boost::asio::io_context& io, std::chrono::milliseconds patience, Moved moved,
               std::function<void()> on_silence)
      : timer_(io), patience_(patience), moved_(std::move(moved)), on_silence_(std::move(on_silence)) {
    wait();
  }
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  void wait() {
    timer_.expires_after(patience_);
    timer_.async_wait(lifetime_.guard([this, before = count()](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      const auto now = count();
      if (!now || now != before) return wait();
      over_ = true;
      on_silence_();
    }));
  }
  [[nodiscard]] std::optional<std::uint64_t> count() const { return moved_ ? moved_() : 0; }

  boost::asio::steady_timer timer_;
  const std::chrono::milliseconds patience_;
  const Moved moved_;
  const std::function<void()> on_silence_;
  bool over_ = false;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
