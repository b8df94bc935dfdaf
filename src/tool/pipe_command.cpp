// SPDX-License-Identifier: Apache-2.0
/// udtcat HOST PORT, udtcat -l [ADDR:]PORT: one peer, one stream, bridged to stdin and stdout, or to a command.
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/io_context.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/connection.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/bridge/child_stream.hpp"
#include "lib/bridge/child_termination.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/commands.hpp"
#include "tool/notices.hpp"
#include "tool/peer_listener.hpp"
#include "tool/requests.hpp"
#include "tool/session_run.hpp"

namespace udtcat::tool {

namespace {

/// The command that --exec puts behind a pipe, in place of stdin and stdout.
/// Threads: confined to the main thread. It must outlive the stream that it gives.
class PipedCommand {
 public:
  /// on_gone   called when the command has ended, and again when its termination is over
  PipedCommand(boost::asio::io_context& io, std::function<void()> on_gone) : io_(io), child_(io, std::move(on_gone)) {}

  /// Runs the command; once. Where nothing is to be read from it, its stdout is ours.
  /// errors: Errc::local_connect_failed, Errc::out_of_resources
  /// peer   runs as $UDTCAT_PEER; none: that is not set
  [[nodiscard]] Result<std::unique_ptr<LocalStream>> start(const PipeOptions& options, const StdioHalves& halves,
                                                           const std::optional<PeerIdentity>& peer);
  /// The stream has failed: a command that lives is ended by signals, as asked for by its user or not.
  void terminate(bool interrupted) { child_.terminate(interrupted); }
  [[nodiscard]] bool is_gone() const { return child_.is_gone(); }

 private:
  boost::asio::io_context& io_;
  bridge::KeptChild child_;
};

Result<std::unique_ptr<LocalStream>> PipedCommand::start(const PipeOptions& options, const StdioHalves& halves,
                                                         const std::optional<PeerIdentity>& peer) {
  const bridge::ChildRequest request{.program = "/bin/sh",
                                     .words = {"sh", "-c", *options.exec},
                                     .pipe_stdout = halves.read,
                                     .pipe_stderr = false,
                                     .core_limit_bytes = options.core_limit_bytes,
                                     .variables = {peer_variable(peer)}};
  UDTCAT_CHECK(child_.start(request, [](const bridge::ChildEnd& end) {
    const std::error_code error = bridge::error_of(end);
    core::log().debug("the command {}", error ? error.message() : "ended well");
  }));
  auto pipes = child_.process().take_pipes();
  // Where the command gets no input, its stdin ends at once.
  if (!halves.write) {
    pipes.input = {};
    child_.process().end_input();
  }
  return bridge::ChildStream::make(io_, child_.process(), std::move(pipes.input), std::move(pipes.output),
                                   bridge::ChildProof::success);
}

/// One connection whose one stream is bridged, from either end.
/// Tells the run when the stream, the connection and the command have ended, in whatever order they do.
/// Threads: confined to the main thread.
class PipeSession {
 public:
  /// `run` and `options` must outlive this.
  PipeSession(SessionRun& run, const PipeOptions& options, std::unique_ptr<Connection> connection);

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
  const PipeOptions& options_;
  PipedCommand command_;                          // of --exec
  const std::unique_ptr<Connection> connection_;  // its stream leads into the command
  bool has_stream_ = false;
  std::optional<StreamOutcome> outcome_;
  std::optional<Status> closed_;
};

/// Whether stdin is a pipe or a file that is not empty, as opposed to a terminal or the null device.
bool stdin_has_data() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size > 0);
}

PipeSession::PipeSession(SessionRun& run, const PipeOptions& options, std::unique_ptr<Connection> connection)
    : run_(run),
      options_(options),
      command_(run.io(), [this] { finish_if_all_ended(); }),
      connection_(std::move(connection)) {
  core::log().info("connected to {}", peer_text(*connection_));
  connection_->on_closed([this](const Status& status) { on_closed(status); });
  run_.follow(*connection_);
}

Result<std::unique_ptr<LocalStream>> PipeSession::make_local() {
  const SessionOptions& wishes = options_.session;
  // Not a byte of stdin is taken for a peer that receives nothing.
  const StdioHalves halves{.read = wishes.sends && connection_->peer_receives(),
                           .write = wishes.receives && connection_->peer_sends()};
  if (options_.exec) return command_.start(options_, halves, connection_->peer_identity());
  if (wishes.sends && !halves.read && stdin_has_data())
    core::log().warn("the other end only sends: standard input is not read");
  auto stdio = make_stdio_stream(run_.io(), STDIN_FILENO, STDOUT_FILENO, halves);
  if (!stdio || !halves.read || !halves.write) return stdio;
  return std::make_unique<WaitingNotice>(run_.io(), std::move(*stdio), [] {
    core::log().warn(
        "all of the peer's data has come; waiting for the end of our own standard input (--recv-only does not)");
  });
}

void PipeSession::open() {
  auto local = make_local();
  if (!local) return run_.finish(std::move(local.error()));
  has_stream_ = true;
  connection_->open_stream(std::move(*local), [this](const StreamOutcome& outcome) { on_outcome(outcome); });
}

void PipeSession::await() {
  connection_->on_stream([this](StreamId id) { accept(id); });
}

void PipeSession::accept(StreamId id) {
  if (has_stream_)
    return connection_->refuse_stream(id, {Errc::stream_refused, "open a stream", "the pipe has one already"});
  auto local = make_local();
  if (!local) return run_.finish(std::move(local.error()));
  has_stream_ = true;
  connection_->accept_stream(id, std::move(*local), [this](const StreamOutcome& outcome) { on_outcome(outcome); });
}

void PipeSession::on_outcome(const StreamOutcome& outcome) {
  outcome_ = outcome;
  core::log().info("{} bytes sent, {} received", outcome.bytes_sent, outcome.bytes_received);
  if (!closed_) connection_->close();
  if (outcome.error)
    command_.terminate(outcome.error->code == Errc::interrupted || outcome.error->code == Errc::peer_interrupted);
  finish_if_all_ended();
}

void PipeSession::on_closed(const Status& status) {
  closed_ = status;
  finish_if_all_ended();
}

void PipeSession::finish_if_all_ended() {
  if (!closed_ || (has_stream_ && !outcome_) || !command_.is_gone()) return;
  // The stream's outcome says whether every byte arrived; how the connection was closed changes nothing about that.
  if (outcome_) return run_.finish(outcome_->error);
  if (!*closed_) return run_.finish(closed_->error());
  run_.finish(Error{Errc::peer_interrupted, "wait for the stream", "the other end left without opening it"});
}

/// Gives the pipe to the first peer that proves the key.
/// Threads: confined to the main thread.
class PipeListener {
 public:
  PipeListener(SessionRun& run, const PipeOptions& options) : run_(run), options_(options) {}

  [[nodiscard]] Status start(FoundKey found) {
    UDTCAT_TRY(listener_,
               PeerListener::start(run_, options_, std::move(found),
                                   [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); }));
    if (options_.accept_timeout) run_.expect_peer_within(*options_.accept_timeout);
    run_.show([this](ProcessPicture& picture) { listener_->fill(picture); });
    return {};
  }

 private:
  void take(std::unique_ptr<Connection> connection) {
    if (pipe_) return connection->abort({Errc::stream_refused, "serve a second peer", "the pipe has a peer"});
    listener_->stop();
    pipe_ = std::make_unique<PipeSession>(run_, options_, std::move(connection));
    pipe_->await();
  }

  SessionRun& run_;
  const PipeOptions& options_;
  std::unique_ptr<PeerListener> listener_;
  std::unique_ptr<PipeSession> pipe_;
};

/// A command has a while to end in its own way.
EndRules end_rules_of(const PipeOptions& options) {
  if (!options.exec) return {};
  return {.tell_peers_grace = kChildGrace, .signal_grace = kChildGrace};
}

}  // namespace

ExitStatus listen_command(const PipeOptions& options, FoundKey found, Console& console) {
  SessionRun run(options, console, end_rules_of(options));
  PipeListener listener(run, options);
  if (auto started = listener.start(std::move(found)); !started) return run.fail_to_start(std::move(started.error()));
  return run.run();
}

ExitStatus connect_command(const PipeOptions& options, FoundKey found, Console& console) {
  SessionRun run(options, console, end_rules_of(options));
  auto request = make_dial_request(options, std::move(found.credentials));
  if (!request) return run.fail_to_start(std::move(request.error()));
  std::unique_ptr<PipeSession> pipe;
  const auto dialer = dial(run.io(), std::move(*request), [&](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run.finish(std::move(connection.error()));
    pipe = std::make_unique<PipeSession>(run, options, std::move(*connection));
    pipe->open();
  });
  return run.run();
}

}  // namespace udtcat::tool
