// SPDX-License-Identifier: Apache-2.0
#include "forward/forward_command.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <udtcat/bridges.hpp>
#include <udtcat/peering.hpp>

#include "forward/outage.hpp"
#include "forward/peer_log.hpp"
#include "forward/redial.hpp"
#include "lib/bridge/socket_stream.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/process_setup.hpp"
#include "tool/identity/peers_file.hpp"
#include "tool/run/peer_listener.hpp"
#include "tool/run/session_run.hpp"
#include "tool/run/transfer_event.hpp"
#include "tool/run/warnings.hpp"
#include "tool/status/stats_text.hpp"

namespace udtcat::forward {

namespace {

constexpr std::size_t kMaxSessions = 16;                 // spec: docs/man/udtcat-forward.1, Clients
constexpr std::size_t kMostSessions = 2 * kMaxSessions;  // with those that do not answer
constexpr std::chrono::hours kAskUdpAgain{1};            // guess: what a packet filter waits for its administrator
constexpr std::chrono::seconds kTidyInterval{1};         // guess: by so much a client may wait in vain for longer

/// Each client is carried by a stream, each stream of the peer connected to a service.
/// Threads: confined to the io_context thread.
class SocketForwardSession final : public ForwardSession {
 public:
  /// services   none: it serves none
  /// peers      of a listener with a key pair
  SocketForwardSession(Connection& connection, bool listens, Services* services, std::shared_ptr<tool::PeersFile> peers,
                       ErrorHandler on_error)
      : connection_(connection),
        listens_(listens),
        peers_(std::move(peers)),
        peer_(connection.peer_identity()),
        on_error_(std::move(on_error)),
        services_(allowed()) {
    if (services != nullptr) services->serve(connection, [this](const std::string& name) { return may_pass(name); });
  }

  /// A connector lists its services in the handshake; a listener's refusal shows which it lacks.
  [[nodiscard]] bool is_for(const std::string& service) const override {
    const auto& served = connection_.peer_services();
    return may_pass(service) && (!listens_ || std::ranges::find(served, service) != served.end());
  }

  /// The whole session of a peer that is no longer listed has ended.
  [[nodiscard]] bool has_lost_services() override {
    if (peers_ && peer_ && peers_->list().find(peer_->key) == nullptr) return false;
    const auto before = std::exchange(services_, allowed());
    if (!services_) return false;
    return !before || std::ranges::any_of(*before, [this](const std::string& each) { return !may_pass(each); });
  }

  void take(bridge::StreamSocket client, const Endpoint& address, const std::string& service,
            EndHandler ended) override {
    connection_.open_stream(std::make_unique<bridge::SocketStream>(std::move(client), bridge::GracefulClose::receipted),
                            lifetime_.guard([this, address, ended = std::move(ended)](const StreamOutcome& outcome) {
                              if (outcome.error && bridge::is_loggable(*outcome.error))
                                on_error_(address, *outcome.error);
                              ended();
                            }),
                            service);
  }

 private:
  /// The services that the peers file allows the peer; none: all.
  [[nodiscard]] std::optional<std::vector<std::string>> allowed() const {
    if (!peers_ || !peer_) return std::nullopt;
    const tool::Peer* const listed = peers_->list().find(peer_->key);
    if (listed == nullptr) return std::vector<std::string>();
    return listed->services.empty() ? std::nullopt : std::optional(listed->services);
  }
  [[nodiscard]] bool may_pass(const std::string& service) const {
    if (!peers_ || !peer_) return true;
    const tool::Peer* const listed = peers_->list().find(peer_->key);
    return listed != nullptr &&
           (listed->services.empty() || std::ranges::find(listed->services, service) != listed->services.end());
  }

  Connection& connection_;
  const bool listens_;
  const std::shared_ptr<tool::PeersFile> peers_;
  const std::optional<PeerIdentity> peer_;
  const ErrorHandler on_error_;
  std::optional<std::vector<std::string>> services_;  // as allowed() was
  core::Lifetime lifetime_;
};

std::vector<std::string> service_names(const ForwardOptions& options) {
  std::vector<std::string> names;
  for (const ServiceOption& each : options.services) names.push_back(each.name);
  for (const LocalListenerOption& each : options.listeners) names.push_back(each.service);
  return names;
}

/// Threads: confined to the main thread.
class ForwardCommand {
 public:
  ForwardCommand(const ForwardOptions& options, tool::Console& console, const ForwardSessionFactoryBuilder& builder)
      : options_(options),
        run_(options, console),
        tidy_timer_(run_.io()),
        udp_timer_(run_.io()),
        forward_(run_.io(), options.wait, options.listens ? SessionSource::accepted : SessionSource::dialled,
                 builder ? builder(run_.io()) : own_factory(),
                 {.on_want = [this] { want(); },
                  .on_up = [this](Connection& connection) { on_up(connection); },
                  .on_gone = [this](Connection& connection, const Status& how) { on_gone(connection, how); }}),
        outage_(to_string(options.peer), Clock::now()),
        peer_log_(run_.io()) {}

  [[nodiscard]] tool::ExitStatus run(tool::FoundCredentials found) {
    tool::allow_descriptors(tool::kAllDescriptors);
    run_.console().date_lines();
    if (auto started = start(std::move(found)); !started) return run_.fail_to_start(std::move(started.error()));
    run_.watch([this] { return forward_.total(); });
    if (redial_) run_.progress().wait_for(dialling());
    run_.publish([this](tool::ProcessSnapshot& snapshot) { add_to(snapshot); });
    run_.on_interrupt([this](const Error& why) { stop(why); });
    return run_.run();
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] ForwardSessionFactory own_factory() {
    return [this](Connection& connection, ErrorHandler on_error) {
      return std::make_unique<SocketForwardSession>(connection, options_.listens, services_.get(), peers_,
                                                    std::move(on_error));
    };
  }

  [[nodiscard]] Status start(tool::FoundCredentials found);
  void announce_listeners();
  void want();
  void on_up(Connection& connection);
  void on_gone(Connection& connection, const Status& how);
  void keep_tidy();
  void ask_udp_again();
  void on_failure(const Error& error);
  [[nodiscard]] Error lost(const Error& why) const;
  [[nodiscard]] std::string dialling() const { return "dialling " + to_string(options_.peer); }
  void add_to(tool::ProcessSnapshot& snapshot) const;
  void stop(const Error& why);

  const ForwardOptions& options_;
  tool::SessionRun run_;
  boost::asio::steady_timer tidy_timer_;
  boost::asio::steady_timer udp_timer_;
  std::unique_ptr<Services> services_;  // where there are some
  Forward forward_;
  std::shared_ptr<tool::PeersFile> peers_;
  std::unique_ptr<Redial> redial_;                // a connector's
  std::unique_ptr<tool::PeerListener> listener_;  // a listener's
  Outage outage_;                                 // of a connector's peer
  PeerLog peer_log_;                              // a listener's
  bool is_stopping_ = false;
};

Status ForwardCommand::start(tool::FoundCredentials found) {
  UDTCAT_TRY(auto services, resolve_services(options_.services, options_.socket_family));
  const auto warn = [this](const Endpoint& peer, const Error& error) {
    const bool named = peer.family() != AddressFamily::any;
    core::log().warn("{}{}", named ? forward_.name_of(peer) + ": " : "", error.message());
  };
  if (!services.empty()) services_ = make_services(run_.io(), std::move(services), warn, options_.socket_family);
  for (const LocalListenerOption& each : options_.listeners) {
    UDTCAT_TRY(const SocketAddress address, resolve_local_listener(each, options_.socket_family));
    UDTCAT_CHECK(forward_.open_listener(address, each.service));
  }
  announce_listeners();
  peers_ = found.peers;
  if (peers_)
    for (const std::string& complaint : peers_->unknown_services(service_names(options_)))
      core::log().warn("{}", complaint);
  const auto take = [this](std::unique_ptr<Connection> connection) { forward_.add(std::move(connection)); };
  if (options_.listens) {
    UDTCAT_TRY(listener_, tool::PeerListener::start(run_, options_, std::move(found), take, tool::Severity::notice));
    if (peers_) run_.on_reload([this] { forward_.recheck(); });
    return {};
  }
  redial_ = std::make_unique<Redial>(run_.io(), options_, std::move(found.credentials), take,
                                     [this](const Error& error) { on_failure(error); });
  redial_->start();
  return {};
}

void ForwardCommand::announce_listeners() {
  const std::string where = options_.listens ? "the peers" : to_string(options_.peer);
  // The user cannot know a port that the system chose.
  const bool drawn = std::ranges::any_of(
      options_.listeners, [](const auto& each) { return !each.address.is_unix() && each.address.tcp.port == 0; });
  for (const std::string& name : forward_.listener_names()) {
    const std::string line = fmt::format("forwarding {}, to {}", name, where);
    tool::LogEvent event{.kind = tool::EventKind::listening, .message = line, .object = name};
    if (drawn) {
      run_.console().event(event);
    } else {
      event.severity = tool::Severity::info;
      tool::log_event(event);
    }
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
    forward_.tidy_up(Clock::now());
    keep_tidy();
  });
}

/// A firewall may have been opened: new clients then go by UDP, and the session over TCP ends with its last stream.
void ForwardCommand::ask_udp_again() {
  udp_timer_.cancel();
  if (!forward_.is_by_tcp()) return;
  udp_timer_.expires_after(kAskUdpAgain);
  udp_timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    redial_->try_udp();
    ask_udp_again();
  });
}

void ForwardCommand::on_up(Connection& connection) {
  if (!redial_) return peer_log_.on_come(connection);
  run_.say_if_by_tcp(connection.stats(), options_.peer.host, options_.peer.port);
  if (forward_.sessions() > 1) keep_tidy();
  if (options_.transport.kind == TransportKind::automatic && !options_.once) ask_udp_again();
  run_.progress().wait_for({});
  tool::LogEvent event = tool::peer_event(tool::EventKind::peer_up, connection);
  const auto line = outage_.end(Clock::now(), connection.peer());
  event.message = line.value_or(tool::peer_text(connection) + " connected");
  event.severity = line ? tool::Severity::notice : tool::Severity::info;
  tool::log_event(event);
}

void ForwardCommand::on_gone(Connection& connection, const Status& how) {
  if (!redial_) return peer_log_.on_gone(connection, how);
  const Error why = how ? Error{Errc::peer_interrupted, "the other end closed the session", {}} : how.error();
  if (options_.once && !is_stopping_) return run_.finish(lost(why));
  redial_->on_lost(Clock::now() - connection.stats().made_at);
  const bool has_others = forward_.sessions() > 0;
  const ConnectionStats moved = connection.stats();
  tool::LogEvent event =
      tool::peer_event(has_others ? tool::EventKind::session_lost : tool::EventKind::peer_gone, connection);
  event.result = how ? std::string(tool::kComplete) : why.message();
  const bool is_expected = is_stopping_ || (has_others && how);
  event.severity = is_expected ? tool::Severity::info : tool::Severity::warning;
  if (has_others) {
    const std::string reason = how ? "" : ": " + why.message();
    event.message = fmt::format("{}: one of its sessions is over{}", to_string(options_.peer), reason);
    return tool::log_event(event);
  }
  tool::add_bytes(event, moved);
  event.duration = Clock::now() - moved.made_at;
  event.message = fmt::format("{} is gone after {}, {}", to_string(options_.peer), tool::clock_text(*event.duration),
                              tool::payload_text(moved));
  if (is_stopping_) return tool::log_event(event);
  event.message += fmt::format(": {}; dialling again", why.message());
  outage_.begin(why, Clock::now());
  run_.progress().wait_for(dialling());
  tool::log_event(event);
  redial_->want();
}

Error ForwardCommand::lost(const Error& why) const {
  return {why.code, "session with " + to_string(options_.peer) + " is lost", why.message()};
}

void ForwardCommand::on_failure(const Error& error) {
  // A refusal before the first session means a wrong key or host, and ends the run.
  if (options_.once || (is_refusal(error) && !outage_.was_here())) return run_.finish(error);
  core::log().debug("{}", error.message());
  if (const auto line = outage_.on_failure(error, Clock::now()))
    tool::log_event({.kind = tool::EventKind::redial,
                     .severity = tool::Severity::warning,
                     .message = *line,
                     .address = to_string(options_.peer),
                     .reason = error.message(),
                     .duration = outage_.snapshot(Clock::now()).value_or(tool::DialingSnapshot{}).age});
  if (is_refusal(error)) forward_.on_refused(redial_->addresses(), error, Clock::now());
  if (forward_.wants_session())
    redial_->retry_soon();
  else if (forward_.sessions() > 0)
    redial_->cancel();
}

void ForwardCommand::add_to(tool::ProcessSnapshot& snapshot) const {
  forward_.add_to(snapshot);
  if (listener_) listener_->add_to(snapshot);
  if (redial_) snapshot.redials = redial_->redials();
  if (redial_ && redial_->is_dialling()) snapshot.dialing = outage_.snapshot(Clock::now());
}

void ForwardCommand::stop(const Error& why) {
  is_stopping_ = true;
  if (listener_) listener_->stop();
  if (redial_) redial_->cancel();
  tidy_timer_.cancel();
  forward_.stop(why, [this, why] {
    peer_log_.flush();
    run_.finish(why);
  });
}

}  // namespace

tool::ExitStatus forward_command(const ForwardOptions& options, tool::FoundCredentials found, tool::Console& console,
                                 const ForwardSessionFactoryBuilder& builder) {
  ForwardCommand command(options, console, builder);
  return command.run(std::move(found));
}

}  // namespace udtcat::forward
