/// udtcat HOST PORT --from [ADDR:]PORT: local TCP connections as streams of one session; or another ForwardMaker's.
#include <memory>
#include <optional>
#include <utility>

#include <udtcat/bridges.hpp>
#include <udtcat/peering.hpp>

#include "lib/core/log.hpp"
#include "tool/commands.hpp"
#include "tool/process_setup.hpp"
#include "tool/requests.hpp"
#include "tool/session_run.hpp"

namespace udtcat::tool {

namespace {

/// Threads: confined to the main thread.
class Forwarder {
 public:
  Forwarder(SessionRun& run, const PipeOptions& options, std::vector<Endpoint> fronts, const ForwardMaker& make_forward)
      : run_(run), options_(options), fronts_(std::move(fronts)), make_forward_(make_forward) {}

  void start(std::unique_ptr<Connection> connection) {
    connection_ = std::move(connection);
    const std::string peer = connection_->peer().to_string();
    connection_->on_closed([this](const Status& status) { on_closed(status); });
    auto forward = make_forward_(run_.io(), *connection_, fronts_, [](const Endpoint& client, const Error& error) {
      core::log().warn("{}: {}", client.to_string(), error.message());
    });
    if (!forward) return run_.finish(std::move(forward.error()));
    forward_ = std::move(*forward);
    run_.follow(*connection_);
    announce(peer);
    run_.show([this](ProcessPicture& picture) { fill(picture); });
  }

 private:
  void announce(const std::string& peer) {
    for (const Endpoint& local : forward_->local_endpoints()) {
      const std::string line = "forwarding tcp " + local.to_string() + " to " + peer;
      // The user cannot know a port that the system chose.
      if (options_.front.port == 0)
        run_.console().line("udtcat: " + line);
      else
        core::log().info("{}", line);
    }
  }

  void fill(ProcessPicture& picture) const {
    picture.all = connection_->stats();
    for (const Endpoint& local : forward_->local_endpoints()) picture.forwarding.push_back("tcp " + local.to_string());
    picture.peers = {picture_of(1, options_.session.expected_peer, connection_->peer().to_string(), picture.all)};
  }

  void on_closed(const Status& status) {
    const std::string what = "session with " + to_string(options_.peer);
    if (status) return run_.finish(Error{Errc::peer_interrupted, what, "the other end closed it"});
    run_.finish(Error{status.error().code, what + " is lost", status.error().message()});
  }

  SessionRun& run_;
  const PipeOptions& options_;
  const std::vector<Endpoint> fronts_;
  const ForwardMaker& make_forward_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<TcpForward> forward_;  // after the connection, which must outlive it
};

}  // namespace

ExitStatus forward_command(const PipeOptions& options, FoundKey key, Console& console,
                           const ForwardMaker& make_forward) {
  allow_descriptors(kAllDescriptors);
  SessionRun run(options, console);
  auto fronts = resolve(options.front, options.family);
  if (!fronts) return run.fail_to_start(std::move(fronts.error()));
  auto request = make_dial_request(options, std::move(key.key));
  if (!request) return run.fail_to_start(std::move(request.error()));
  Forwarder forwarder(run, options, one_per_family(*fronts), make_forward);
  const auto dialer = dial(run.io(), std::move(*request), [&](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run.finish(std::move(connection.error()));
    forwarder.start(std::move(*connection));
  });
  return run.run();
}

}  // namespace udtcat::tool
