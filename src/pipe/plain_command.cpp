// SPDX-License-Identifier: Apache-2.0
#include "pipe/pipe_command.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <unistd.h>

#include <udtcat/bridges.hpp>
#include <udtcat/plain.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/run/endpoint_setup.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::pipe {

namespace {

/// The one connection of a run, from either end.
/// Threads: confined to the main thread.
class PlainRun {
 public:
  PlainRun(tool::SessionRun& run, const PipeOptions& options) : run_(run), options_(options) {}

  [[nodiscard]] Status connect() {
    run_.progress().wait_for("dialling " + to_string(options_.peer));
    UDTCAT_TRY(DialRequest request, tool::make_dial_request(options_, std::nullopt));
    dialer_ = dial_plain(run_.io(), std::move(request), [this](Result<std::unique_ptr<PlainPipe>> pipe) {
      if (!pipe) return run_.finish(std::move(pipe.error()));
      bridge(std::move(*pipe));
    });
    return {};
  }

  [[nodiscard]] Status listen() {
    UDTCAT_TRY(ListenRequest request, tool::make_listen_request(options_, std::nullopt));
    UDTCAT_TRY(listener_, listen_plain(run_.io(), std::move(request),
                                       [this](std::unique_ptr<PlainPipe> pipe) { take(std::move(pipe)); }));
    if (options_.accept_timeout) run_.expect_peer_within(*options_.accept_timeout);
    run_.progress().wait_for("waiting for a peer");
    return tool::announce_listener(options_, std::nullopt, *listener_, run_.console());
  }

 private:
  void take(std::unique_ptr<PlainPipe> pipe) {
    listener_->stop();
    bridge(std::move(pipe));
  }

  void bridge(std::unique_ptr<PlainPipe> pipe) {
    pipe_ = std::move(pipe);
    const std::string peer = pipe_->peer().to_string();
    tool::log_event({.kind = tool::EventKind::peer_up,
                     .severity = tool::Severity::info,
                     .message = "connected to " + peer,
                     .address = peer});
    run_.follow(*pipe_);
    const auto& settings = options_.session;
    auto stdio =
        make_stdio_stream(run_.io(), STDIN_FILENO, STDOUT_FILENO, {.read = settings.sends, .write = settings.receives});
    if (!stdio) return run_.finish(std::move(stdio.error()));
    pipe_->bridge(std::move(*stdio), settings.receives, [this](const StreamOutcome& outcome) {
      run_.log_transfer({.address = pipe_->peer().to_string(),
                         .object = "stream",
                         .bytes_sent = outcome.bytes_sent,
                         .bytes_received = outcome.bytes_received,
                         .duration = std::chrono::steady_clock::now() - pipe_->stats().made_at,
                         .result = tool::status_of(outcome.error)});
      run_.finish(outcome.error);
    });
  }

  tool::SessionRun& run_;
  const PipeOptions& options_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<PlainPipe> pipe_;
};

}  // namespace

tool::ExitStatus plain_command(const PipeOptions& options, tool::Console& console) {
  tool::SessionRun run(options, console);
  PlainRun plain(run, options);
  const Status started = options.listens ? plain.listen() : plain.connect();
  if (!started) return run.fail_to_start(started.error());
  return run.run();
}

}  // namespace udtcat::pipe
