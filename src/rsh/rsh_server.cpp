// SPDX-License-Identifier: Apache-2.0
#include "rsh/rsh_server.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "rsh/greeting.hpp"
#include "rsh/user_shell.hpp"
#include "tool/process_setup.hpp"
#include "tool/requests.hpp"
#include "tool/shell_words.hpp"

namespace udtcat::rsh {

namespace {

constexpr std::uint16_t kNoPort = 0;       // spec: docs/spec/rsh.md §1
constexpr std::size_t kMaxCandidates = 8;  // guess: addresses of ours under which the near end dials us

/// The address of this host that ssh's client reached, as its server saw it.  spec: ssh(1), SSH_CONNECTION
std::optional<Endpoint> seen_address(std::uint16_t port) {
  const auto connection = tool::environment("SSH_CONNECTION");
  if (!connection) return std::nullopt;
  const auto words = tool::split_words(*connection);
  constexpr std::size_t kServerAddress = 2;
  if (!words || words->size() <= kServerAddress) return std::nullopt;
  const auto addresses = resolve({(*words)[kServerAddress], port}, AddressFamily::any);
  return addresses && !addresses->empty() ? std::optional(addresses->front()) : std::nullopt;
}

/// Every port of the range, beginning anywhere, so that many commands that start at once seldom ask for the same.
std::vector<std::uint16_t> ports_of(const PortRange& range) {
  std::vector<std::uint16_t> ports(static_cast<std::size_t>(range.last - range.first) + 1U);
  std::iota(ports.begin(), ports.end(), range.first);
  std::random_device random;
  std::rotate(ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(random() % ports.size()), ports.end());
  return ports;
}

}  // namespace

std::string to_string(const PortRange& range) {
  return range.first == range.last ? std::to_string(range.first) : fmt::format("{}-{}", range.first, range.last);
}

RshServer::RshServer(tool::SessionRun& run, const RshServerOptions& options, std::uint64_t core_limit_bytes)
    : run_(run),
      options_(options),
      core_limit_bytes_(core_limit_bytes),
      patience_(run.io()),
      ends_(run.io()),
      bench_(run.io(), {.on_asked = [this](const Connection& connection) { choose(connection); },
                        .on_over = [this](const Status&) { run_.finish(std::nullopt); }}) {}

Status RshServer::start() {
  UDTCAT_TRY(Key key, Key::generate());
  if (auto status = bind(key); !status) {
    if (status.error().code != Errc::cannot_bind) return status;
    core::log().info("{}: no port is left for UDP", status.error().message());
  }
  const std::uint16_t port = listener_ ? listener_->local_endpoints().front().port() : kNoPort;
  UDTCAT_CHECK(tool::print(to_text({port, std::move(key), seen_address(port)})));
  UDTCAT_TRY(ssh_input_, SshInput::start(run_.io(), STDIN_FILENO,
                                         {.on_request = [this](const auto& message) { on_ssh_message(message); },
                                          .on_end = [this] { on_ssh_end(); }}));
  patience_.expires_after(*options_.accept_timeout);
  patience_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled && chosen_ == nullptr)
      run_.finish(Error{Errc::cannot_reach, "wait for the near end", "no peer proved the key in time"});
  });
  run_.on_interrupt([this](const Error& why) {
    if (chosen_ == nullptr && ends_.size() == 0) return run_.finish(why);
    ends_.abort_all(why);
    bench_.abort_all(why);
  });
  return {};
}

Status RshServer::bind(const Key& key) {
  Status status = fail(Errc::cannot_bind, "bind");
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
      listener_ = std::move(*listener);
      return {};
    }
    status = tl::unexpected(std::move(listener.error()));
    if (status.error().code != Errc::cannot_bind) break;
  }
  return status;
}

/// The near end may prove the key on several connections at once; it sends its request on one.
void RshServer::take(std::unique_ptr<Connection> connection) {
  if (chosen_ != nullptr || ends_.size() >= kMaxCandidates)
    return connection->abort({Errc::stream_refused, "serve a second peer", "the command has a connection already"});
  const Endpoint peer = connection->peer();
  core::log().info("{} has proved the key", peer.to_string());
  if (options_.bench) return bench_.serve(std::move(connection));
  last_ = connection.get();
  ends_.add(
      std::move(connection),
      [this](const ControlMessage& request) { return launch_for_user(request, core_limit_bytes_); },
      [this](FarEnd& end) {
        choose(end.connection());
        run_.watch_connection(end.connection());
      },
      [this](FarEnd& end, const Status& status) { on_over(end, status); });
}

void RshServer::choose(const Connection& connection) {
  chosen_ = &connection;
  patience_.cancel();
  listener_->stop();
}

void RshServer::on_over(const FarEnd& end, const Status& status) {
  if (&end.connection() == chosen_) {
    // The near end has learnt the command's status, or is lost.
    if (!status) core::log().info("{}", status.error().message());
    return run_.finish_as(status ? tool::ExitStatus::success : tool::ExitStatus::own_failure);
  }
  if (&end.connection() == last_) {
    tunnel_.reset();
    last_ = nullptr;
  }
  ends_.remove(end, [] {});
}

void RshServer::on_ssh_message(const ControlMessage& message) {
  if (std::holds_alternative<CarryDatagrams>(message)) return carry_datagrams();
  if (chosen_ != nullptr) return;  // too late: it runs already
  fallback_ = message;
  run_.finish(std::nullopt);
}

/// The near end has a session, and asks for nothing to be run over ssh any more.
void RshServer::carry_datagrams() {
  if (last_ == nullptr || tunnel_) return;
  const auto duplicate = [](int number) { return ::fcntl(number, F_DUPFD_CLOEXEC, 0); };
  auto pipes = make_stdio_stream(run_.io(), duplicate(STDIN_FILENO), duplicate(STDOUT_FILENO), {.until_read = false});
  if (!pipes) return core::log().info("{}", pipes.error().message());
  ssh_pipes_ = std::move(*pipes);
  tunnel_ = tunnel_through(*ssh_pipes_, *last_, [this] { on_ssh_end(); });
  core::log().info("ssh carries datagrams of the session");
}

/// Before there is a command, the end of ssh means that none will come. After that the session, which has its own
/// timeout, says whether the near end is there.
void RshServer::on_ssh_end() {
  // A command that was not begun must not look like one that went well.
  if (chosen_ == nullptr) return run_.finish_as(tool::ExitStatus::own_failure);
  core::log().debug("ssh has ended; the command goes on");
}

}  // namespace udtcat::rsh
