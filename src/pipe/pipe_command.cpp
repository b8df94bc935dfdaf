// SPDX-License-Identifier: Apache-2.0
#include "pipe/pipe_command.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/io_context.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/connection.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>

#include "bench/bench_service.hpp"
#include "lib/bridge/child_process.hpp"
#include "lib/bridge/child_stream.hpp"
#include "lib/bridge/child_termination.hpp"
#include "lib/bridge/forwarding_stream.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "pipe/open_stdin_warning.hpp"
#include "tool/cli/applications.hpp"
#include "tool/run/endpoint_setup.hpp"
#include "tool/run/peer_listener.hpp"
#include "tool/run/rejected_connections.hpp"
#include "tool/run/session_run.hpp"
#include "tool/run/transfer_event.hpp"
#include "tool/run/warnings.hpp"

namespace udtcat::pipe {

namespace {

/// The command of --exec, which takes the place of stdin and stdout.
/// Threads: confined to the main thread. It must outlive the stream that it gives.
class PipedCommand {
 public:
  /// on_gone   called when the command has ended, and again when its termination is over
  PipedCommand(boost::asio::io_context& io, std::function<void()> on_gone) : io_(io), child_(io, std::move(on_gone)) {}

  /// Runs the command; once. Where its output is not sent, its stdout is ours.
  /// errors: Errc::local_connect_failed, Errc::out_of_resources
  /// peer   runs as $UDTCAT_PEER; none: that is not set
  [[nodiscard]] Result<std::unique_ptr<LocalStream>> start(const PipeOptions& options, const StdioHalves& halves,
                                                           const std::optional<PeerIdentity>& peer);
  /// The stream has failed: a command that lives is ended by signals, as asked for by its user or not.
  void terminate(bool interrupted) { child_.terminate(interrupted); }
  [[nodiscard]] bool is_gone() const { return child_.is_gone(); }

 private:
  boost::asio::io_context& io_;
  bridge::SupervisedChild child_;
};

Result<std::unique_ptr<LocalStream>> PipedCommand::start(const PipeOptions& options, const StdioHalves& halves,
                                                         const std::optional<PeerIdentity>& peer) {
  const bridge::ChildRequest request{.program = "/bin/sh",
                                     .words = {"sh", "-c", *options.exec},
                                     .pipe_stdout = halves.read,
                                     .pipe_stderr = false,
                                     .core_limit_bytes = options.core_limit_bytes,
                                     .variables = {tool::peer_variable(peer)}};
  UDTCAT_CHECK(child_.start(request, [](const bridge::ChildExit& end) {
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
                                   bridge::ChildCompletion::success);
}

/// A local stream that tells which of its halves has ended, for progress.
/// Threads: confined to the main thread.
class ObservedStream final : public bridge::ForwardingStream {
 public:
  struct Ends {
    std::function<void()> all_read;     ///< its source has given its last byte
    std::function<void()> all_written;  ///< its sink has its last byte, and perhaps not taken it yet
  };

  ObservedStream(std::unique_ptr<LocalStream> inner, Ends ends)
      : ForwardingStream(std::move(inner)), ends_(std::move(ends)) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override {
    const ReadResult read = inner().read_some(into);
    if (read.state == ReadState::end) ends_.all_read();
    return read;
  }
  void async_finish(FinishHandler handler) override {
    ends_.all_written();
    inner().async_finish(std::move(handler));
  }

 private:
  const Ends ends_;
};

/// The bytes of a regular file behind its offset; none: it is no regular file.
std::optional<std::uint64_t> bytes_left_in(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const off_t at = ::lseek(descriptor, 0, SEEK_CUR);
  return at < 0 || at > status.st_size ? std::nullopt : std::optional<std::uint64_t>(status.st_size - at);
}

/// One connection whose one stream is bridged, from either end.
/// Tells the run when the stream, the connection and the command have ended, in whatever order they do.
/// Threads: confined to the main thread.
class PipeSession {
 public:
  PipeSession(tool::SessionRun& run, const PipeOptions& options, std::unique_ptr<Connection> connection);

  /// The connecting end opens the stream.
  void open();
  /// The listening end waits for it, and refuses any further one.
  void await();

 private:
  [[nodiscard]] Result<std::unique_ptr<LocalStream>> make_local();
  [[nodiscard]] Result<std::unique_ptr<LocalStream>> make_stdio(const StdioHalves& halves);
  [[nodiscard]] std::optional<tool::Amount> amount(const ConnectionStats& stats) const;
  void say_what_is_left();
  void accept(StreamId id);
  void on_outcome(const StreamOutcome& outcome);
  void on_closed(const Status& status);
  void finish_if_all_ended();

  tool::SessionRun& run_;
  const PipeOptions& options_;
  PipedCommand command_;                          // of --exec
  const std::unique_ptr<Connection> connection_;  // its stream leads into the command
  const std::optional<std::uint64_t> stdin_bytes_ = bytes_left_in(STDIN_FILENO);
  StdioHalves halves_{};
  bool has_stream_ = false;
  bool all_read_ = false;     // of the local stream, and there was something to be read
  bool all_written_ = false;  // to it, or nothing is to be written
  std::optional<StreamOutcome> outcome_;
  std::optional<Status> closed_;
};

PipeSession::PipeSession(tool::SessionRun& run, const PipeOptions& options, std::unique_ptr<Connection> connection)
    : run_(run),
      options_(options),
      command_(run.io(), [this] { finish_if_all_ended(); }),
      connection_(std::move(connection)) {
  tool::LogEvent event = tool::peer_event(tool::EventKind::peer_up, *connection_);
  event.severity = tool::Severity::info;
  event.message = "connected to " + tool::peer_text(*connection_);
  tool::log_event(event);
  connection_->on_closed([this](const Status& status) { on_closed(status); });
  run_.follow(*connection_);
  run_.progress().measure([this](const ConnectionStats& stats) { return amount(stats); });
}

/// The amount that the user gave, else the size of the file that is read.
std::optional<tool::Amount> PipeSession::amount(const ConnectionStats& stats) const {
  const bool sends = options_.session.sends && connection_->peer_receives();
  const bool receives = options_.session.receives && connection_->peer_sends();
  if (options_.expected_bytes) {
    const std::uint64_t done = !receives ? stats.bytes_sent
                               : !sends  ? stats.bytes_received
                                         : std::max(stats.bytes_sent, stats.bytes_received);
    return tool::Amount{done, *options_.expected_bytes};
  }
  if (!sends || options_.exec || !stdin_bytes_) return std::nullopt;
  return tool::Amount{stats.bytes_sent, *stdin_bytes_};
}

/// A half of the local stream has ended: says what the run still waits for, unless data come from the peer.
void PipeSession::say_what_is_left() {
  constexpr std::size_t kShownCommandBytes = 32;  // guess: the program and its verb
  if (!all_written_) return;
  if (options_.exec && halves_.write)
    return run_.progress().wait_for_program(
        fmt::format("waiting for '{}' to end", core::printable(*options_.exec, kShownCommandBytes)));
  if (all_read_) run_.progress().wait_for("all read, waiting for the other end to take it");
}

Result<std::unique_ptr<LocalStream>> PipeSession::make_local() {
  const SessionOptions& settings = options_.session;
  // stdin is not read for a peer that receives nothing.
  halves_ = {.read = settings.sends && connection_->peer_receives(),
             .write = settings.receives && connection_->peer_sends()};
  all_written_ = !halves_.write;
  if (options_.exec) run_.console().clear_status();  // the command may write behind it
  UDTCAT_TRY(auto local,
             options_.exec ? command_.start(options_, halves_, connection_->peer_identity()) : make_stdio(halves_));
  ObservedStream::Ends ends{.all_read =
                                [this] {
                                  all_read_ = halves_.read;
                                  say_what_is_left();
                                },
                            .all_written =
                                [this] {
                                  all_written_ = true;
                                  say_what_is_left();
                                }};
  return std::make_unique<ObservedStream>(std::move(local), std::move(ends));
}

Result<std::unique_ptr<LocalStream>> PipeSession::make_stdio(const StdioHalves& halves) {
  if (options_.session.sends && !halves.read && has_data(STDIN_FILENO))
    core::log().warn("the other end only sends: standard input is not read");
  auto stdio = make_stdio_stream(run_.io(), STDIN_FILENO, STDOUT_FILENO, halves);
  if (!stdio || !halves.read || !halves.write) return stdio;
  return std::make_unique<OpenStdinWarning>(run_.io(), std::move(*stdio), [] {
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
  tool::TransferOutcome ended = tool::transfer_of(*connection_, "stream", tool::status_of(outcome.error));
  ended.bytes_sent = outcome.bytes_sent;
  ended.bytes_received = outcome.bytes_received;
  run_.log_transfer(ended);
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

/// Gives the pipe to the first peer that proves the key and asks for one. Peers for a bench are served beside it.
/// Threads: confined to the main thread.
class PipeListener {
 public:
  PipeListener(tool::SessionRun& run, const PipeOptions& options)
      : run_(run), options_(options), bench_(run.io(), {}), rejected_(run.io()) {}
  ~PipeListener() { bench_.abort_all({Errc::interrupted, "serve a bench", "the pipe beside it is over"}); }

  [[nodiscard]] Status start(tool::FoundCredentials found) {
    UDTCAT_TRY(listener_, tool::PeerListener::start(
                              run_, options_, std::move(found),
                              [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); }));
    run_.on_interrupt([this](const Error& why) {
      bench_.abort_all(why);
      run_.finish(why);
    });
    if (options_.accept_timeout) run_.expect_peer_within(*options_.accept_timeout);
    run_.progress().wait_for(options_.ticket.made ? "waiting for the other end at " + to_string(*options_.via)
                                                  : "waiting for a peer on " + listener_->addresses());
    run_.publish([this](tool::ProcessSnapshot& snapshot) { listener_->add_to(snapshot); });
    return {};
  }

 private:
  void take(std::unique_ptr<Connection> connection) {
    if (connection->application() == tool::kBench) return bench_.serve(std::move(connection));
    if (pipe_)
      return rejected_.reject(std::move(connection),
                              {Errc::stream_refused, "serve a second peer", "the pipe has a peer"});
    listener_->stop();
    pipe_ = std::make_unique<PipeSession>(run_, options_, std::move(connection));
    pipe_->await();
  }

  tool::SessionRun& run_;
  const PipeOptions& options_;
  bench::BenchService bench_;
  tool::RejectedConnections rejected_;
  std::unique_ptr<tool::PeerListener> listener_;
  std::unique_ptr<PipeSession> pipe_;
};

tool::ExitPolicy exit_policy_of(const PipeOptions& options) {
  if (!options.exec) return {.says_moved_when_cut = true};
  return {.tell_peers_grace = tool::kChildGrace, .signal_grace = tool::kChildGrace, .says_moved_when_cut = true};
}

}  // namespace

tool::ExitStatus listen_command(const PipeOptions& options, tool::FoundCredentials found, tool::Console& console) {
  tool::SessionRun run(options, console, exit_policy_of(options));
  PipeListener listener(run, options);
  if (auto started = listener.start(std::move(found)); !started) return run.fail_to_start(std::move(started.error()));
  return run.run();
}

tool::ExitStatus connect_command(const PipeOptions& options, tool::FoundCredentials found, tool::Console& console) {
  tool::SessionRun run(options, console, exit_policy_of(options));
  auto request = tool::make_dial_request(options, std::move(found.credentials));
  if (!request) return run.fail_to_start(std::move(request.error()));
  std::unique_ptr<PipeSession> pipe;
  run.progress().wait_for("dialling " + to_string(options.peer));
  const auto dialer = dial(run.io(), std::move(*request), [&](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run.finish(std::move(connection.error()));
    run.say_if_by_tcp((*connection)->stats(), options.peer.host, options.peer.port);
    pipe = std::make_unique<PipeSession>(run, options, std::move(*connection));
    pipe->open();
  });
  return run.run();
}

}  // namespace udtcat::pipe
