/// One connection whose one stream is bridged to stdin and stdout, or to a command, from either end.
#pragma once

#include <memory>
#include <optional>

#include <udtcat/bridges.hpp>
#include <udtcat/connection.hpp>

#include "tool/options.hpp"
#include "tool/piped_command.hpp"
#include "tool/session_run.hpp"

namespace udtcat::tool {

/// Tells the run when the stream, the connection and the command have ended, in whatever order they do.
/// Threads: confined to the main thread.
class PipeSession {
 public:
  /// `run` and `options` must outlive this.
  PipeSession(SessionRun& run, const Options& options, std::unique_ptr<Connection> connection);

  /// The connecting end opens the stream.
  void open();
  /// The listening end waits for it, and refuses any further one.
  void await();

 private:
  [[nodiscard]] Result<std::unique_ptr<LocalStream>> make_local();
  void accept(StreamId id);
  void on_outcome(const StreamOutcome& outcome);
  void on_closed(const Status& status);
  void finish_if_all_ended();

  SessionRun& run_;
  const Options& options_;
  PipedCommand command_;                          // of --exec
  const std::unique_ptr<Connection> connection_;  // its stream leads into the command
  bool has_stream_ = false;
  std::optional<StreamOutcome> outcome_;
  std::optional<Status> closed_;
};

}  // namespace udtcat::tool
