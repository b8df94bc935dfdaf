// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_stderr.hpp"

#include <array>
#include <system_error>
#include <utility>

#include <udtcat/bridges.hpp>

#include "lib/core/try.hpp"

namespace udtcat::ssh {

SshStderr::SshStderr(boost::asio::io_context& io, std::function<void()> on_over)
    : on_over_(std::move(on_over)), caution_(io) {}

Result<std::unique_ptr<SshStderr>> SshStderr::start(boost::asio::io_context& io, int from, int to,
                                                    std::function<void()> on_over) {
  std::unique_ptr<SshStderr> errors(new SshStderr(io, std::move(on_over)));
  UDTCAT_TRY(errors->from_, make_stdio_stream(io, from, -1, {.read = true, .write = false}));
  UDTCAT_TRY(errors->to_, make_stdio_stream(io, -1, to, {.read = false, .write = true, .until_read = false}));
  errors->go_on();
  return errors;
}

void SshStderr::hold() {
  if (state_ == State::before_login) state_ = State::holding;
}

void SshStderr::pass() {
  if (state_ == State::dropping) return;
  state_ = State::passing;
  write();
}

void SshStderr::drop() {
  state_ = State::dropping;
  held_.clear();
  source_is_over_ = source_is_over_ || expects_no_more_;
}

void SshStderr::expect_no_more() {
  expects_no_more_ = true;
  go_on();
  tell_if_over();
}

void SshStderr::read() {
  read_piece();
  advance();
  go_on();
  tell_if_over();
}

void SshStderr::read_piece() {
  std::array<std::byte, 4096> piece{};
  const auto got = from_->read_some(piece);
  const bool is_empty = got.state == LocalStream::ReadState::would_block;
  source_is_over_ = is_empty ? expects_no_more_ : got.state != LocalStream::ReadState::data;
  if (is_empty) return;
  if (state_ != State::dropping) held_.insert(held_.end(), piece.begin(), piece.begin() + static_cast<int>(got.bytes));
  if (state_ == State::holding && held_.size() >= kMaxHeldBytes) state_ = State::passing;
}

void SshStderr::tell_if_over() {
  if (is_over() && on_over_) std::exchange(on_over_, nullptr)();
}

void SshStderr::advance() {
  if (state_ == State::passing) return write();
  if (state_ != State::before_login || held_.empty()) return;
  caution_.expires_after(kCaution);
  caution_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled && state_ == State::before_login) write();
  }));
}

/// Waits for text while less than kMaxHeldBytes is held. After expect_no_more() it reads only what is there, and
/// nothing while dropping, as another process may write for ever.
void SshStderr::go_on() {
  if (expects_no_more_) {
    source_is_over_ = source_is_over_ || state_ == State::dropping;
    while (!source_is_over_ && held_.size() < kMaxHeldBytes) read_piece();
    return advance();
  }
  if (source_is_over_ || held_.size() >= kMaxHeldBytes) return;
  if (std::exchange(reads_, true)) return;
  from_->async_wait_readable(lifetime_.guard([this] {
    reads_ = false;
    read();
  }));
}

void SshStderr::write() {
  if (!writing_.empty() || held_.empty()) return;
  writing_ = std::exchange(held_, {});
  write_rest(writing_);
}

void SshStderr::write_rest(std::span<const std::byte> rest) {
  to_->async_write_some(rest, lifetime_.guard([this, rest](std::error_code error, std::size_t bytes) {
    if (!error && bytes < rest.size()) return write_rest(rest.subspan(bytes));
    on_written(error);
  }));
}

void SshStderr::on_written(std::error_code error) {
  writing_.clear();
  if (error) drop();
  advance();
  go_on();
  tell_if_over();
}

}  // namespace udtcat::ssh
