#include "rsh/daemon.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/requests.hpp"

namespace udtcat::rsh {

namespace {

constexpr std::size_t kMostCommands = 256;  // guess: each is a process and a session

}  // namespace

Status Daemon::start(const tool::Options& options, tool::FoundKey found) {
  UDTCAT_TRY(listener_,
             tool::start_listener(run_.io(), options, std::move(found), refusals_, run_.console(),
                                  [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); }));
  run_.on_interrupt([this](const Error& why) { stop(why); });
  return {};
}

void Daemon::take(std::unique_ptr<Connection> connection) {
  if (ends_.size() >= kMostCommands)
    return connection->abort({Errc::stream_refused, "run another command", "256 run already"});
  const std::string peer = connection->peer().to_string();
  core::log().info("{} connected", peer);
  const auto place = ends_.emplace(ends_.end());
  *place = std::make_unique<FarEnd>(
      run_.io(), std::move(connection),
      [this, peer](const ControlMessage& request) {
        auto launch = list_.launch(request);
        if (!launch) core::log().warn("{}: {}", peer, launch.error().message());
        return launch;
      },
      nullptr, [this, place, peer](const Status& status) { on_over(place, peer, status); });
}

void Daemon::on_over(Ends::iterator place, const std::string& peer, const Status& status) {
  if (status)
    core::log().info("{} disconnected", peer);
  else
    core::log().warn("{} disconnected: {}", peer, status.error().message());
  // Posted: this is its own handler.
  boost::asio::post(run_.io(), [this, place] {
    ends_.erase(place);
    if (stopping_ && ends_.empty()) run_.finish(std::nullopt);
  });
}

void Daemon::stop(const Error& why) {
  stopping_ = true;
  listener_->stop();
  if (ends_.empty()) return run_.finish(why);
  for (const auto& end : ends_) end->abort(why);
}

}  // namespace udtcat::rsh
