/// udtcat -l [ADDR:]PORT --to HOST:PORT: a TCP service for many peers, until stopped; or another ServiceMaker's.
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/peering.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/commands.hpp"
#include "tool/figures.hpp"
#include "tool/notices.hpp"
#include "tool/process_setup.hpp"
#include "tool/requests.hpp"
#include "tool/session_run.hpp"

namespace udtcat::tool {

namespace {

/// Threads: confined to the main thread.
class ServedTcp {
 public:
  ServedTcp(SessionRun& run, const PipeOptions& options) : run_(run), options_(options), refusals_(run.io()) {}

  [[nodiscard]] Status start(FoundKey found, const ServiceMaker& make_service) {
    UDTCAT_TRY(auto targets, resolve(options_.service, options_.family));
    UDTCAT_TRY(service_, make_service(run_.io(), std::move(targets), to_string(options_.service),
                                      [](const Endpoint& peer, const Error& error) {
                                        core::log().warn("{}: {}", peer.to_string(), error.message());
                                      }));
    UDTCAT_TRY(listener_,
               start_listener(run_.io(), options_, std::move(found), refusals_, run_.console(),
                              [this](std::unique_ptr<Connection> connection) { add(std::move(connection)); }));
    run_.watch("", [this] { return total(); });
    run_.show([this](ProcessPicture& picture) { fill(picture); });
    run_.on_interrupt([this](const Error& why) { stop(why); });
    return {};
  }

 private:
  void add(std::unique_ptr<Connection> connection) {
    const std::uint64_t number = next_number_++;
    const Endpoint peer = connection->peer();
    core::log().info("{} connected", peer.to_string());
    connection->on_closed([this, number, peer](const Status& status) { on_closed(number, peer, status); });
    service_->serve(*connection);
    connections_.emplace(number, std::move(connection));
  }

  void on_closed(std::uint64_t number, const Endpoint& peer, const Status& status) {
    const bool well =
        status.has_value() || status.error().code == Errc::peer_interrupted || status.error().code == Errc::interrupted;
    if (well)
      core::log().info("{} disconnected", peer.to_string());
    else
      core::log().warn("{} disconnected: {}", peer.to_string(), status.error().message());
    // Posted: this is the connection's own handler.
    boost::asio::post(run_.io(), [this, number] {
      const auto place = connections_.find(number);
      past_ = sum(past_, place->second->stats());
      connections_.erase(place);
      if (stopping_ && connections_.empty()) run_.finish(std::nullopt);
    });
  }

  void stop(const Error& why) {
    stopping_ = true;
    listener_->stop();
    if (connections_.empty()) return run_.finish(why);
    for (const auto& [number, connection] : connections_) connection->abort(why);
  }

  [[nodiscard]] ConnectionStats total() const {
    ConnectionStats all = past_;
    for (const auto& [number, connection] : connections_) all = sum(all, connection->stats());
    return all;
  }

  void fill(ProcessPicture& picture) const {
    picture.all = total();
    picture.refused = refusals_.pictures();
    for (const Endpoint& local : listener_->local_endpoints()) picture.listening.push_back("udp " + local.to_string());
    for (const auto& [number, connection] : connections_)
      picture.peers.push_back(
          picture_of(number, options_.session.expected_peer, connection->peer().to_string(), connection->stats()));
  }

  SessionRun& run_;
  const PipeOptions& options_;
  RefusalLog refusals_;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;  // of each peer that proved the key
  std::uint64_t next_number_ = 1;
  ConnectionStats past_;  // of connections that have gone
  bool stopping_ = false;
  std::unique_ptr<TcpService> service_;  // after the connections, which must outlive it
  std::unique_ptr<Listener> listener_;
};

}  // namespace

ExitStatus serve_command(const PipeOptions& options, FoundKey key, Console& console, const ServiceMaker& make_service) {
  allow_descriptors(kAllDescriptors);
  SessionRun run(options, console);
  ServedTcp server(run, options);
  if (auto started = server.start(std::move(key), make_service); !started)
    return run.fail_to_start(std::move(started.error()));
  return run.run();
}

}  // namespace udtcat::tool
