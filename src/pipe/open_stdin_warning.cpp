// SPDX-License-Identifier: Apache-2.0
#include "pipe/open_stdin_warning.hpp"

#include <sys/stat.h>

namespace udtcat::pipe {

bool has_data(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size > 0);
}

LocalStream::ReadResult OpenStdinWarning::read_some(std::span<std::byte> into) {
  const ReadResult read = inner().read_some(into);
  if (read.state == ReadState::would_block) return read;
  has_read_ = true;
  timer_.cancel();
  return read;
}

void OpenStdinWarning::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  has_written_ = true;
  inner().async_write_some(from, std::move(handler));
}

void OpenStdinWarning::async_finish(FinishHandler handler) {
  inner().async_finish(lifetime_.guard([this, handler = std::move(handler)](std::error_code error) {
    if (!error && has_written_ && !has_read_) {
      timer_.expires_after(timeout_);
      timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
        if (!cancelled && !has_read_) warn_();
      }));
    }
    handler(error);
  }));
}

void OpenStdinWarning::abort() {
  lifetime_.end();
  timer_.cancel();
  inner().abort();
}

}  // namespace udtcat::pipe
