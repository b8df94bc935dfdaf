// SPDX-License-Identifier: Apache-2.0
/// A child's stdin and stdout as one local stream.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <system_error>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/bridge/descriptor.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// When the child's input and output count as complete.
enum class ChildCompletion {
  taken,    ///< that it has read all, as of any pipe
  success,  ///< that it has ended with status 0, besides
};

/// Only async_finish() ends the child's stdin, as its end means that the input is complete. Where the stream is aborted
/// or destroyed before, the child's watchdog holds stdin open.
/// Threads: confined to the io_context thread.
class ChildStream final : public LocalStream {
 public:
  /// input, output   our ends of the child's pipes; not open: that half is off. The child must outlive the stream.
  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<LocalStream>> make(boost::asio::io_context& io, ChildProcess& child,
                                                                 Descriptor input, Descriptor output,
                                                                 ChildCompletion completion);
  ~ChildStream() override;
  ChildStream(const ChildStream&) = delete;
  ChildStream& operator=(const ChildStream&) = delete;

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override;
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;
  [[nodiscard]] std::string source_name() const override { return "command"; }
  [[nodiscard]] std::string sink_name() const override { return "command"; }

 private:
  ChildStream(boost::asio::io_context& io, ChildProcess& child, const StdioHalves& halves, ChildCompletion completion);
  [[nodiscard]] bool awaits_status(bool half_is_on) const {
    return half_is_on && completion_ == ChildCompletion::success;
  }
  void complete(std::error_code error, std::function<void(std::error_code)> handler);
  void on_child_ended();

  ChildProcess& child_;
  const StdioHalves halves_;
  const ChildCompletion completion_;
  bool source_ended_ = false;
  WaitHandler waiting_;                              // for the child's end, behind that of its output
  std::function<void(std::error_code)> completing_;  // what was written, by the child's status or by write_error_
  std::error_code write_error_;
  std::unique_ptr<LocalStream> pipes_;
  boost::asio::steady_timer timeout_;
  core::Lifetime lifetime_;
};

[[nodiscard]] std::error_code error_of(const ChildExit& end);

}  // namespace udtcat::bridge
