/// The command that --exec puts behind a pipe, in place of stdin and stdout.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_ending.hpp"
#include "lib/bridge/child_process.hpp"
#include "tool/options.hpp"

namespace udtcat::tool {

/// Threads: confined to the main thread. It must outlive the stream that it gives.
class PipedCommand {
 public:
  /// on_gone   called when the command has ended, and what end_it() does is done
  PipedCommand(boost::asio::io_context& io, std::function<void()> on_gone) : io_(io), on_gone_(std::move(on_gone)) {}

  PipedCommand(const PipedCommand&) = delete;
  PipedCommand& operator=(const PipedCommand&) = delete;
  /// A command that lives is killed, and its group with it.
  ~PipedCommand() = default;

  /// Runs the command; once. Where nothing is to be read from it, its stdout is ours.
  /// errors: Errc::local_connect_failed, Errc::out_of_resources
  [[nodiscard]] Result<std::unique_ptr<LocalStream>> start(const Options& options, const StdioHalves& halves);
  /// The stream has failed: a command that lives is ended by signals, as asked for by its user or not.
  void end_it(bool interrupted);
  [[nodiscard]] bool is_gone() const { return !child_ || (child_->end() && (!ending_ || ending_->is_over())); }

 private:
  boost::asio::io_context& io_;
  const std::function<void()> on_gone_;
  std::unique_ptr<bridge::ChildProcess> child_;
  std::optional<bridge::ChildEnding> ending_;
};

}  // namespace udtcat::tool
