// SPDX-License-Identifier: Apache-2.0
/// udtcat HOST PORT and udtcat -l [ADDR:]PORT with --from or --to: local clients and services as streams of sessions,
/// until stopped; or what another ForwardSessionMaker makes of them.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <udtcat/bridges.hpp>
#include <udtcat/peering.hpp>

#include "lib/bridge/socket_stream.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/commands.hpp"
#include "tool/forward.hpp"
#include "tool/notices.hpp"
#include "tool/peer_listener.hpp"
#include "tool/peers_file.hpp"
#include "tool/process_setup.hpp"
#include "tool/redial.hpp"
#include "tool/session_run.hpp"

namespace udtcat::tool {

namespace {

constexpr std::size_t kMaxSessions = 16;                 // spec: docs/man/udtcat.1, FORWARDS: of one connector
constexpr std::size_t kMostSessions = 2 * kMaxSessions;  // with those that do not answer
constexpr std::chrono::seconds kTidyInterval{1};         // guess: by so much a client may wait in vain for longer

/// A client is a stream, a stream a connection to a service.
/// Threads: confined to the io_context thread.
class SocketForwardSession final : public ForwardSession {
 public:
  /// services   none: it serves none
  /// peers      of a listener with a key pair
  SocketForwardSession(Connection& connection, bool listens, Services* services, std::shared_ptr<PeersFile> peers,
                       TroubleHandler on_trouble)
      : connection_(connection),
        listens_(listens),
        peers_(std::move(peers)),
        peer_(connection.peer_identity()),
        on_trouble_(std::move(on_trouble)),
        services_(allowed()) {
    if (services != nullptr) services->serve(connection, [this](const std::string& name) { return may_pass(name); });
  }

  /// A connector has said what it serves; what a listener does shows.
  [[nodiscard]] bool is_for(const std::string& service) const override {
    const auto& served = connection_.peer_services();
    return may_pass(service) && (!listens_ || std::ranges::find(served, service) != served.end());
  }

  [[nodiscard]] bool has_lost_services() override {
    const auto before = std::exchange(services_, allowed());
    if (!services_) return false;
    return !before || std::ranges::any_of(*before, [this](const std::string& each) { return !may_pass(each); });
  }

  void take(bridge::StreamSocket client, const Endpoint& address, const std::string& service,
            EndHandler ended) override {
    connection_.open_stream(std::make_unique<bridge::SocketStream>(std::move(client), bridge::SocketEnd::receipted),
                            lifetime_.guard([this, address, ended = std::move(ended)](const StreamOutcome& outcome) {
                              if (outcome.error && bridge::is_trouble(*outcome.error))
                                on_trouble_(address, *outcome.error);
                              ended();
                            }),
                            service);
  }

 private:
  /// The names that may pass between the peer and us, by the list in force; none: all.
  [[nodiscard]] std::optional<std::vector<std::string>> allowed() const {
    if (!peers_ || !peer_) return std::nullopt;
    const Peer* const listed = peers_->list().find(peer_->key);
    if (listed == nullptr) return std::vector<std::string>();
    return listed->services.empty() ? std::nullopt : std::optional(listed->services);
  }
  [[nodiscard]] bool may_pass(const std::string& service) const {
    const auto names = allowed();
    return !names || std::ranges::find(*names, service) != names->end();
  }

  Connection& connection_;
  const bool listens_;
  const std::shared_ptr<PeersFile> peers_;
  const std::optional<PeerIdentity> peer_;
  const TroubleHandler on_trouble_;
  std::optional<std::vector<std::string>> services_;  // as allowed() was
  core::Lifetime lifetime_;
};

/// Threads: confined to the main thread.
class ForwardCommand {
 public:
  ForwardCommand(const PipeOptions& options, Console& console, const ForwardSessionMaker& make_session)
      : options_(options),
        run_(options, console),
        tidy_timer_(run_.io()),
        forward_(run_.io(), options.wait, make_session ? make_session : own_maker(),
                 {.on_want = [this] { want(); },
                  .on_up = [this](const Connection& connection) { on_up(connection); },
                  .on_gone = [this](Connection& connection, const Status& how) { on_gone(connection, how); }}) {}

  [[nodiscard]] ExitStatus run(FoundKey found) {
    allow_descriptors(kAllDescriptors);
    if (auto started = start(std::move(found)); !started) return run_.fail_to_start(std::move(started.error()));
    run_.watch([this] { return forward_.total(); });
    run_.show([this](ProcessPicture& picture) { fill(picture); });
    run_.on_interrupt([this](const Error& why) { stop(why); });
    return run_.run();
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] ForwardSessionMaker own_maker() {
    return [this](Connection& connection, TroubleHandler on_trouble) {
      return std::make_unique<SocketForwardSession>(connection, options_.listens, services_.get(), peers_,
                                                    std::move(on_trouble));
    };
  }

  [[nodiscard]] Status start(FoundKey found);
  void announce_fronts();
  void want();
  void on_up(const Connection& connection);
  void on_gone(Connection& connection, const Status& how);
  void keep_tidy();
  void on_failure(const Error& error);
  [[nodiscard]] Error lost(const Error& why) const;
  void fill(ProcessPicture& picture) const;
  void stop(const Error& why);

  const PipeOptions& options_;
  SessionRun run_;
  boost::asio::steady_timer tidy_timer_;
  std::unique_ptr<Services> services_;  // where there are some
  Forward forward_;
  std::shared_ptr<PeersFile> peers_;
  std::unique_ptr<Redial> redial_;          // a connector's
  std::unique_ptr<PeerListener> listener_;  // a listener's
  bool was_up_ = false;
  std::optional<Clock::time_point> gone_since_;  // the last session; of a connector that has had one
  bool told_absence_ = false;
};

Status ForwardCommand::start(FoundKey found) {
  UDTCAT_TRY(auto services, resolve_services(options_.services, options_.socket_family));
  const auto warn = [](const Endpoint& peer, const Error& error) {
    core::log().warn("{}: {}", peer.to_string(), error.message());
  };
  if (!services.empty()) services_ = make_services(run_.io(), std::move(services), warn);
  for (const FrontOption& each : options_.fronts) {
    UDTCAT_TRY(const SocketAddress address, resolve_front(each, options_.socket_family));
    UDTCAT_CHECK(forward_.open_front(address, each.service));
  }
  announce_fronts();
  peers_ = found.peers;
  const auto take = [this](std::unique_ptr<Connection> connection) { forward_.add(std::move(connection)); };
  if (options_.listens) {
    UDTCAT_TRY(listener_, PeerListener::start(run_, options_, std::move(found), take));
    if (peers_) run_.on_reload([this] { forward_.recheck(); });
    return {};
  }
  UDTCAT_TRY(auto addresses, resolve(options_.peer, options_.family));
  redial_ = std::make_unique<Redial>(run_.io(), options_, std::move(found.credentials), take,
                                     [this](const Error& error) { on_failure(error); });
  redial_->want(std::move(addresses));
  return {};
}

void ForwardCommand::announce_fronts() {
  const std::string where = options_.listens ? "the peers" : to_string(options_.peer);
  // The user cannot know a port that the system chose.
  const bool drawn = std::ranges::any_of(
      options_.fronts, [](const auto& each) { return !each.place.is_unix() && each.place.tcp.port == 0; });
  for (const std::string& name : forward_.front_names()) {
    const std::string line = fmt::format("forwarding {}, to {}", name, where);
    drawn ? run_.console().line("udtcat: " + line) : core::log().info("{}", line);
  }
}

void ForwardCommand::want() {
  if (!redial_ || options_.once) return;
  if (forward_.answering() >= kMaxSessions || forward_.sessions() >= kMostSessions) return;
  redial_->want();
  redial_->retry_soon();
}

/// The sessions of a connector are all with one peer.
void ForwardCommand::keep_tidy() {
  tidy_timer_.expires_after(kTidyInterval);
  tidy_timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled || forward_.sessions() < 2) return;
    forward_.tidy_up();
    keep_tidy();
  });
}

void ForwardCommand::on_up(const Connection& connection) {
  was_up_ = true;
  told_absence_ = false;
  core::log().info("{} connected", peer_text(connection));
  if (redial_ && forward_.sessions() > 1) keep_tidy();
  if (!gone_since_) return;
  const auto away = std::chrono::duration<double>(Clock::now() - *gone_since_).count();
  run_.console().line(fmt::format("udtcat: {} is back after {:.0f} s", to_string(options_.peer), away));
  gone_since_.reset();
}

void ForwardCommand::on_gone(Connection& connection, const Status& how) {
  if (!redial_) {
    const std::string peer = peer_text(connection);
    const bool well = how || how.error().code == Errc::peer_interrupted || how.error().code == Errc::interrupted;
    if (well) return core::log().info("{} disconnected", peer);
    return core::log().warn("{} disconnected: {}", peer, how.error().message());
  }
  const Error why = how ? Error{Errc::peer_interrupted, "the other end closed the session", {}} : how.error();
  if (options_.once) return run_.finish(lost(why));
  redial_->on_lost(Clock::now() - connection.stats().made_at);
  if (forward_.sessions() > 0) return core::log().info("a session is over{}", how ? "" : ": " + why.message());
  gone_since_ = Clock::now();
  core::log().warn("{} is gone: {}; dialling again", to_string(options_.peer), why.message());
  redial_->want();
}

Error ForwardCommand::lost(const Error& why) const {
  return {why.code, "session with " + to_string(options_.peer) + " is lost", why.message()};
}

void ForwardCommand::on_failure(const Error& error) {
  // Before there was a session the user may have the wrong key, or the wrong host, and is told at once.
  const bool is_refused = error.code == Errc::authentication_failed || error.code == Errc::parameters_refused;
  if (options_.once || (is_refused && !was_up_)) return run_.finish(error);
  core::log().debug("{}", error.message());
  if (forward_.wants_session())
    redial_->retry_soon();
  else if (forward_.sessions() > 0)
    return redial_->cancel();
  if (forward_.sessions() > 0 || gone_since_ || std::exchange(told_absence_, true)) return;
  core::log().warn("{}; dialling on", error.message());
}

void ForwardCommand::fill(ProcessPicture& picture) const {
  forward_.fill(picture);
  if (listener_) listener_->fill(picture);
}

void ForwardCommand::stop(const Error& why) {
  if (listener_) listener_->stop();
  if (redial_) redial_->cancel();
  tidy_timer_.cancel();
  forward_.stop(why, [this, why] { run_.finish(why); });
}

}  // namespace

ExitStatus forward_command(const PipeOptions& options, FoundKey found, Console& console,
                           const ForwardSessionMaker& make_session) {
  ForwardCommand command(options, console, make_session);
  return command.run(std::move(found));
}

}  // namespace udtcat::tool
