// SPDX-License-Identifier: Apache-2.0
#include "ssh/far_server.hpp"

#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/net/bind_errors.hpp"
#include "ssh/candidates.hpp"
#include "ssh/greeting.hpp"
#include "tool/cli/process_setup.hpp"
#include "tool/cli/shell_words.hpp"
#include "tool/run/endpoint_setup.hpp"

namespace udtcat::ssh {

namespace {

constexpr int kPortsWithoutTcp = 4;   // guess: another program seldom has so many in a row
constexpr std::uint16_t kNoPort = 0;  // spec: docs/spec/rsh.md §1

/// The addresses of this connection's ends, as ssh's server saw them.  spec: ssh(1), SSH_CONNECTION
struct SshConnection {
  std::optional<Endpoint> near;
  std::optional<Endpoint> far;
};

SshConnection ssh_connection(std::uint16_t port) {
  const auto connection = tool::environment("SSH_CONNECTION");
  if (!connection) return {};
  const auto words = tool::split_words(*connection);
  constexpr std::size_t kNearAddress = 0;
  constexpr std::size_t kFarAddress = 2;
  if (!words || words->size() <= kFarAddress) return {};
  const auto at = [&](std::size_t index) -> std::optional<Endpoint> {
    const auto addresses = resolve({(*words)[index], port}, AddressFamily::any);
    return addresses && !addresses->empty() ? std::optional(addresses->front()) : std::nullopt;
  };
  return {.near = at(kNearAddress), .far = at(kFarAddress)};
}

/// Once: the command that is run for the peer is not to see it.
std::optional<NearEnd> take_near_end() {
  const auto text = tool::environment(NearEnd::kVariable);
  ::unsetenv(NearEnd::kVariable);
  return text ? parse_near_end(*text) : std::nullopt;
}

}  // namespace

tool::ExitPolicy far_end_exit_policy() {
  return {.failure = tool::ExitStatus::own_failure,
          .tell_peers_grace = tool::kChildGrace,
          .signal_grace = tool::kChildGrace};
}

void name_this_host(tool::Console& console) {
  utsname system{};
  std::ignore = ::uname(&system);  // fails for no valid argument
  console.name_host(system.nodename);
}

FarServer::FarServer(tool::SessionRun& run, const FarOptions& options, Handlers handlers)
    : run_(run), options_(options), handlers_(std::move(handlers)), timeout_(run.io()) {}

Status FarServer::start() {
  UDTCAT_TRY(Key key, Key::generate());
  if (auto status = bind(key); !status) {
    if (status.error().code != Errc::cannot_bind) return status;
    core::log().info("{}: no port is left for UDP", status.error().message());
  }
  const std::uint16_t port = listener_ ? listener_->local_endpoints().front().port() : kNoPort;
  const SshConnection ssh = ssh_connection(port);
  std::vector<Endpoint> addresses;
  if (ssh.far) addresses.push_back(*ssh.far);
  if (const auto near = take_near_end()) {
    for (const Endpoint& each : near->addresses) near_candidates_.push_back({Candidate::Kind::host, each});
    if (ssh.near) near_candidates_.push_back(as_candidate(ssh.near->with_port(near->port), near->addresses));
    const auto own = host_candidates(port);
    addresses.insert(addresses.end(), own.begin(), own.end());
    // Before the near end knows the port: a firewall of this side is open when its first packet comes.
    if (listener_) checks_.emplace(run_.io(), *listener_, *near, ssh.near);
  }
  addresses = each_once(addresses);
  if (addresses.size() > kMaxCandidates) addresses.resize(kMaxCandidates);
  UDTCAT_CHECK(tool::print(to_text({port, std::move(key), std::move(addresses)})));
  UDTCAT_TRY(ssh_input_, SshInput::start(run_.io(), STDIN_FILENO,
                                         {.on_request = [this](const auto& message) { on_ssh_message(message); },
                                          .on_end = [this] { on_ssh_end(); }}));
  timeout_.expires_after(*options_.accept_timeout);
  timeout_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled && chosen_ == nullptr && !is_over_ssh_)
      run_.finish(Error{Errc::cannot_reach, "wait for the near end", "no peer proved the key in time"});
  });
  run_.on_interrupt([this](const Error& why) {
    if (!handlers_.abort_all(why)) run_.finish(why);
  });
  return {};
}

Status FarServer::bind(const Key& key) {
  Status status = fail(Errc::cannot_bind, "bind");
  int without_tcp_too = 0;
  for (const std::uint16_t port : ports_of(options_.ports)) {
    auto options = static_cast<const tool::Options&>(options_);
    options.local.port = port;
    options.transport.single_use = true;
    UDTCAT_TRY(ListenRequest request, tool::make_listen_request(options, key.duplicate()));
    auto listener = listen(
        run_.io(), std::move(request), [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); },
        [](const Endpoint& peer, const Error& why) {
          core::log().info("refused {}: {}", peer.to_string(), why.message());
        });
    if (listener) {
      const auto without_tcp = (*listener)->tcp_failure();
      if (without_tcp) core::log().info("{}", without_tcp->message());
      if (!without_tcp || !listener_) listener_ = std::move(*listener);
      if (!without_tcp || ++without_tcp_too == kPortsWithoutTcp) return {};
      continue;
    }
    if (listener_) return {};
    status = tl::unexpected(std::move(listener.error()));
    if (!net::another_port_may_do(status.error(), port)) break;
  }
  if (listener_) return {};
  return status;
}

void FarServer::take(std::unique_ptr<Connection> connection) {
  if (chosen_ != nullptr || is_over_ssh_ || authenticated_.size() >= kMaxConnections)
    return connection->abort({Errc::stream_refused, "serve a second peer", "the near end has a connection already"});
  core::log().info("{} has proved the key", connection->peer().to_string());
  if (checks_) checks_->stop();
  if (!near_candidates_.empty()) connection->set_candidates(listener_->local_endpoints(), near_candidates_);
  authenticated_.push_back(connection.get());
  if (tunnel_) send_through(tunnel_, *connection);
  handlers_.on_connection(std::move(connection));
}

bool FarServer::choose(Connection& connection) {
  if (is_over_ssh_ || (chosen_ != nullptr && chosen_ != &connection)) return false;
  chosen_ = &connection;
  timeout_.cancel();
  listener_->stop();
  return true;
}

void FarServer::forget(const Connection& connection) {
  std::erase(authenticated_, &connection);
  if (is_chosen(connection)) tunnel_.reset();
}

void FarServer::on_ssh_message(const ControlMessage& message) {
  if (std::holds_alternative<CarryDatagrams>(message)) return carry_datagrams();
  if (chosen_ != nullptr) return;  // too late: there is a session
  is_over_ssh_ = true;
  if (checks_) checks_->stop();
  timeout_.cancel();
  if (listener_) listener_->stop();
  handlers_.on_request(message);
}

/// The near end has a session: ssh's pipes are one more path of it. Until its request tells which session that is, they
/// are a path of each.
void FarServer::carry_datagrams() {
  if (tunnel_) return;
  const auto duplicate = [](int number) { return ::fcntl(number, F_DUPFD_CLOEXEC, 0); };
  auto pipes = make_stdio_stream(run_.io(), duplicate(STDIN_FILENO), duplicate(STDOUT_FILENO), {.until_read = false});
  if (!pipes) return core::log().info("{}", pipes.error().message());
  ssh_pipes_ = std::move(*pipes);
  tunnel_ = std::make_shared<DatagramPipe>(
      *ssh_pipes_,
      [this](std::span<const std::byte> packet) {
        for (Connection* each : authenticated_)
          if (chosen_ == nullptr || is_chosen(*each)) each->take_from_tunnel(packet);
      },
      [this] { on_ssh_end(); });
  for (Connection* each : authenticated_) send_through(tunnel_, *each);
  core::log().info("ssh carries datagrams of the session");
}

/// Before the near end has sent a request, the end of ssh means that none will come. After that the session's timeout
/// tells whether the near end is there.
void FarServer::on_ssh_end() {
  // A command that was not begun must not have status 0.
  if (chosen_ == nullptr) return run_.finish_as(tool::ExitStatus::own_failure);
  core::log().debug("ssh has ended; the session goes on");
}

}  // namespace udtcat::ssh
