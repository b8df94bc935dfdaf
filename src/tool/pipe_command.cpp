/// udtcat HOST PORT, udtcat -l [ADDR:]PORT: one peer, one stream, stdin and stdout.
#include <memory>
#include <optional>
#include <utility>

#include <udtcat/peering.hpp>

#include "tool/commands.hpp"
#include "tool/pipe_session.hpp"
#include "tool/refusal_log.hpp"
#include "tool/requests.hpp"
#include "tool/session_run.hpp"

namespace udtcat::tool {

namespace {

/// Gives the pipe to the first peer that proves the key.
/// Threads: confined to the main thread.
class PipeListener {
 public:
  PipeListener(SessionRun& run, const Options& options) : run_(run), options_(options), refusals_(run.io()) {}

  [[nodiscard]] Status start(FoundKey found) {
    auto listener = start_listener(run_.io(), options_, std::move(found), refusals_, run_.console(),
                                   [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); });
    if (!listener) return tl::unexpected(std::move(listener.error()));
    listener_ = std::move(*listener);
    if (options_.accept_timeout) run_.expect_peer_within(*options_.accept_timeout);
    return {};
  }

 private:
  void take(std::unique_ptr<Connection> connection) {
    if (pipe_) return connection->abort({Errc::stream_refused, "serve a second peer", "the pipe is taken"});
    listener_->stop();
    pipe_ = std::make_unique<PipeSession>(run_, options_, std::move(connection));
    pipe_->await();
  }

  SessionRun& run_;
  const Options& options_;
  RefusalLog refusals_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<PipeSession> pipe_;
};

/// A command has a while to end in its own way.
Manners manners_of(const Options& options) {
  if (!options.exec) return {};
  return {.tell_peers_grace = kChildGrace, .signal_grace = kChildGrace};
}

}  // namespace

ExitStatus listen_command(const Options& options, FoundKey key, Console& console) {
  SessionRun run(options, console, manners_of(options));
  PipeListener listener(run, options);
  if (auto started = listener.start(std::move(key)); !started) return run.fail_to_start(std::move(started.error()));
  return run.run();
}

ExitStatus connect_command(const Options& options, FoundKey key, Console& console) {
  SessionRun run(options, console, manners_of(options));
  auto request = make_dial_request(options, std::move(key.key));
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
