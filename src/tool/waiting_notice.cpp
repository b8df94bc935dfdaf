#include "tool/waiting_notice.hpp"

#include <utility>

namespace udtcat::tool {

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
