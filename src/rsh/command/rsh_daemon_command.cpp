/// udtcat rsh-daemon: runs what a list allows for whoever proves the key, until stopped.
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include <udtcat/peering.hpp>

#include "lib/core/log.hpp"
#include "rsh/allow_list.hpp"
#include "rsh/far_end.hpp"
#include "tool/commands.hpp"
#include "tool/refusal_log.hpp"
#include "tool/requests.hpp"
#include "tool/session_run.hpp"
#include "tool/trusted_file.hpp"

namespace udtcat::tool {

namespace {

constexpr std::size_t kMostCommands = 256;  // guess: each is a process and a session

Result<rsh::AllowList> load_list(const std::string& path) {
  const auto text = read_trusted_file(path);
  if (!text) return tl::unexpected(text.error());
  return rsh::AllowList::parse(*text, path);
}

/// Threads: confined to the main thread.
class Daemon {
 public:
  Daemon(SessionRun& run, rsh::AllowList list) : run_(run), list_(std::move(list)), refusals_(run.io()) {}

  [[nodiscard]] Status start(const Options& options, FoundKey found) {
    auto listener = start_listener(run_.io(), options, std::move(found), refusals_, run_.console(),
                                   [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); });
    if (!listener) return tl::unexpected(std::move(listener.error()));
    listener_ = std::move(*listener);
    run_.on_interrupt([this](const Error& why) { send_home(why); });
    return {};
  }

 private:
  using Ends = std::list<std::unique_ptr<rsh::FarEnd>>;

  void take(std::unique_ptr<Connection> connection) {
    if (ends_.size() >= kMostCommands)
      return connection->abort({Errc::stream_refused, "run another command", "256 run already"});
    const std::string peer = connection->peer().to_string();
    core::log().info("{} connected", peer);
    const auto place = ends_.emplace(ends_.end());
    *place = std::make_unique<rsh::FarEnd>(
        run_.io(), std::move(connection),
        [this, peer](const rsh::ControlMessage& request) {
          auto launch = list_.launch(request);
          if (!launch) core::log().warn("{}: {}", peer, launch.error().message());
          return launch;
        },
        nullptr, [this, place, peer](const Status& status) { on_over(place, peer, status); });
  }

  void on_over(Ends::iterator place, const std::string& peer, const Status& status) {
    if (status)
      core::log().info("{} disconnected", peer);
    else
      core::log().warn("{} disconnected: {}", peer, status.error().message());
    // Posted: this is its own handler.
    boost::asio::post(run_.io(), [this, place] {
      ends_.erase(place);
      if (leaving_ && ends_.empty()) run_.finish(std::nullopt);
    });
  }

  void send_home(const Error& why) {
    leaving_ = true;
    listener_->stop();
    if (ends_.empty()) return run_.finish(why);
    for (const auto& end : ends_) end->abort(why);
  }

  SessionRun& run_;
  const rsh::AllowList list_;
  RefusalLog refusals_;
  Ends ends_;
  bool leaving_ = false;
  std::unique_ptr<Listener> listener_;
};

}  // namespace

ExitStatus rsh_daemon_command(const RshDaemonOptions& options, FoundKey key, Console& console) {
  SessionRun run(options.common, console, {.tell_peers_grace = kChildGrace, .signal_grace = kChildGrace});
  auto list = load_list(options.allow);
  if (!list) return run.fail_to_start(std::move(list.error()));
  Daemon daemon(run, std::move(*list));
  if (auto started = daemon.start(options.common, std::move(key)); !started)
    return run.fail_to_start(std::move(started.error()));
  return run.run();
}

}  // namespace udtcat::tool
