// SPDX-License-Identifier: Apache-2.0
/// ssh's stderr on its way to ours.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::ssh {

/// Prompts and warnings before the login are passed on at once. Later text is held until the login has proved to be a
/// shell: another login may print errors about our script.
///
///   before_login ── hold() ──► holding ── pass(), or it holds kMaxHeldBytes ──► passing
///   before_login ── pass() ──► passing             └── drop() ──► dropping
///   passing ── ours cannot be written ──► dropping
///
/// Threads: confined to the io_context thread.
class SshStderr {
 public:
  static constexpr std::size_t kMaxHeldBytes = std::size_t{64} * 1024;  // guess: more than any script says at a login
  static constexpr std::chrono::milliseconds kCaution{50};  // guess: stdout's UDTCAT LOGIN may come later by this

  /// to        closed at the end
  /// on_over   called once all text has been written or dropped; not from inside a call of this
  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<SshStderr>> start(boost::asio::io_context& io, int from, int to,
                                                                std::function<void()> on_over);

  void hold();
  void pass();
  void drop();
  /// ssh has ended: later text is of another process that holds its stderr open.
  void expect_no_more();
  [[nodiscard]] bool is_over() const { return source_is_over_ && held_.empty() && writing_.empty(); }

 private:
  enum class State { before_login, holding, passing, dropping };

  SshStderr(boost::asio::io_context& io, std::function<void()> on_over);
  void read();
  void read_piece();
  void tell_if_over();
  void advance();
  void go_on();
  void write();
  void write_rest(std::span<const std::byte> rest);
  void on_written(std::error_code error);

  std::function<void()> on_over_;
  State state_ = State::before_login;
  bool source_is_over_ = false;
  bool expects_no_more_ = false;
  bool reads_ = false;              // a wait is under way
  std::vector<std::byte> held_;     // not written yet
  std::vector<std::byte> writing_;  // being written
  boost::asio::steady_timer caution_;
  std::unique_ptr<LocalStream> from_;
  std::unique_ptr<LocalStream> to_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::ssh
