/// Says why a pipe does not end although all has come.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/local_stream.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::tool {

inline constexpr std::chrono::milliseconds kNoticePatience{3'000};  // guess: an input that is about to end has ended

/// Stdin and stdout as they are. Where bytes were written to the end, and of the source nothing has ever been read, neither a byte nor its
/// end, `notice` is called once, after a while.
/// Threads: confined to the main thread.
class WaitingNotice final : public LocalStream {
 public:
  WaitingNotice(boost::asio::io_context& io, std::unique_ptr<LocalStream> stdio, std::function<void()> notice,
                std::chrono::milliseconds patience = kNoticePatience)
      : stdio_(std::move(stdio)), notice_(std::move(notice)), patience_(patience), timer_(io) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override { stdio_->async_wait_readable(std::move(handler)); }
  void receipted() override { stdio_->receipted(); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;
  [[nodiscard]] std::string source_name() const override { return stdio_->source_name(); }
  [[nodiscard]] std::string sink_name() const override { return stdio_->sink_name(); }

 private:
  const std::unique_ptr<LocalStream> stdio_;
  const std::function<void()> notice_;
  const std::chrono::milliseconds patience_;
  bool has_written_ = false;
  bool has_read_ = false;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
