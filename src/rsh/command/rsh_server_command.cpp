/// udtcat rsh-server: the far end of one remote command, started by ssh.
#include <algorithm>
#include <cstdlib>
#include <list>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>
#include <boost/asio/post.hpp>

#include <udtcat/peering.hpp>

#include "lib/core/log.hpp"
#include "rsh/far_end.hpp"
#include "rsh/greeting.hpp"
#include "rsh/known_cookie.hpp"
#include "rsh/ssh_input.hpp"
#include "rsh/user_shell.hpp"
#include "tool/commands.hpp"
#include "tool/requests.hpp"
#include "tool/session_run.hpp"
#include "tool/standard_output.hpp"

namespace udtcat::tool {

namespace {

/// The address of this host that ssh's client reached, as its server saw it.  spec: ssh(1), SSH_CONNECTION
std::optional<Endpoint> seen_address(std::uint16_t port) {
  const char* connection = std::getenv("SSH_CONNECTION");
  if (connection == nullptr) return std::nullopt;
  const auto words = rsh::split_words(connection);
  constexpr std::size_t kServerAddress = 2;
  if (words.size() <= kServerAddress) return std::nullopt;
  const auto addresses = resolve({words[kServerAddress], port}, AddressFamily::any);
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

/// Waits for one who proves the key, or for ssh to say that UDP does not work; then runs one command.
///
///   waiting ── first request of a peer that proved the key ──► serving ── over ──► the end
///      ├── a request by ssh ──► becomes the command
///      └── ssh's end, or nobody in time ──► the end
///
/// Threads: confined to the main thread.
class Server {
 public:
  Server(SessionRun& run, const RshServerOptions& options, std::uint64_t core_limit_bytes)
      : run_(run), options_(options), core_limit_bytes_(core_limit_bytes), patience_(run.io()) {}

  [[nodiscard]] Status start() {
    auto key = Key::generate();
    if (!key) return tl::unexpected(std::move(key.error()));
    if (auto status = bind(*key); !status) {
      if (status.error().code != Errc::cannot_bind) return status;
      core::log().info("{}: no port is left for UDP", status.error().message());
    }
    const std::uint16_t port = listener_ ? listener_->local_endpoints().front().port() : kNoPort;
    if (auto status = print(rsh::to_text({port, std::move(*key), seen_address(port)})); !status) return status;
    auto input = rsh::SshInput::start(
        run_.io(), STDIN_FILENO,
        {.on_request = [this](const auto& request) { run_over_ssh(request); }, .on_end = [this] { on_ssh_end(); }});
    if (!input) return tl::unexpected(std::move(input.error()));
    ssh_input_ = std::move(*input);
    patience_.expires_after(*options_.common.accept_timeout);
    patience_.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled && chosen_ == nullptr)
        run_.finish(Error{Errc::cannot_reach, "wait for the near end", "nobody proved the key in time"});
    });
    run_.on_interrupt([this](const Error& why) {
      if (ends_.empty()) return run_.finish(why);
      for (const auto& end : ends_) end->abort(why);
    });
    return {};
  }

  /// What ssh asked for, once run() has returned.
  [[nodiscard]] const std::optional<rsh::ControlMessage>& fallback() const { return fallback_; }

 private:
  [[nodiscard]] Status bind(const Key& key) {
    const auto cookie = rsh::known_cookie(key);
    if (!cookie) return tl::unexpected(cookie.error());
    Status status = fail(Errc::cannot_bind, "bind");
    for (const std::uint16_t port : ports_of(options_.ports)) {
      Options options = options_.common;
      options.local.port = port;
      options.transport.known_cookie = *cookie;
      auto request = make_listen_request(options, key.duplicate());
      if (!request) return tl::unexpected(std::move(request.error()));
      auto listener = listen(
          run_.io(), std::move(*request),
          [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); },
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

  /// The near end may prove the key on several ways at once; it asks on one.
  void take(std::unique_ptr<Connection> connection) {
    if (chosen_ != nullptr || ends_.size() >= kMaxWays)
      return connection->abort({Errc::stream_refused, "serve a second peer", "the command has its connection"});
    const Endpoint peer = connection->peer();
    core::log().info("{} has proved the key", peer.to_string());
    const auto place = ends_.emplace(ends_.end());
    *place = std::make_unique<rsh::FarEnd>(
        run_.io(), std::move(connection),
        [this](const rsh::ControlMessage& request) { return rsh::launch_for_user(request, core_limit_bytes_); },
        [this, place] { choose(place->get()); }, [this, place](const Status& status) { on_over(place, status); });
  }

  void choose(rsh::FarEnd* end) {
    chosen_ = end;
    patience_.cancel();
    listener_->stop();
    run_.watch(end->connection().peer().to_string(), [end] { return end->connection().stats(); });
  }

  using Ends = std::list<std::unique_ptr<rsh::FarEnd>>;
  void on_over(Ends::iterator place, const Status& status) {
    if (place->get() == chosen_) {
      // The near end knows, or is not there to be told.
      if (!status) core::log().info("{}", status.error().message());
      return run_.finish_as(status ? ExitStatus::success : ExitStatus::own_failure);
    }
    // Posted: this is its own handler.
    boost::asio::post(run_.io(), [this, place] { ends_.erase(place); });
  }

  void run_over_ssh(const rsh::ControlMessage& request) {
    if (chosen_ != nullptr) return;  // too late: it runs already
    fallback_ = request;
    run_.finish(std::nullopt);
  }

  /// Before there is a command, ssh is the only one who can want one. After that it may come and go: the session has its own
  /// signs of life.
  void on_ssh_end() {
    // What was not begun must not look like what went well.
    if (chosen_ == nullptr) return run_.finish_as(ExitStatus::own_failure);
    core::log().debug("ssh has gone; the command goes on");
  }

  static constexpr std::uint16_t kNoPort = 0;  // spec: docs/spec/rsh.md §1
  static constexpr std::size_t kMaxWays = 8;   // guess: each way of the near end's to us

  SessionRun& run_;
  const RshServerOptions& options_;
  const std::uint64_t core_limit_bytes_;
  boost::asio::steady_timer patience_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<rsh::SshInput> ssh_input_;
  Ends ends_;
  rsh::FarEnd* chosen_ = nullptr;  // one of ends_, or none yet
  std::optional<rsh::ControlMessage> fallback_;
};

/// The command in our place, on the descriptors that ssh gave us.
ExitStatus become_command(const rsh::ControlMessage& request, std::uint64_t core_limit_bytes, Console& console) {
  const auto launch = rsh::launch_for_user(request, core_limit_bytes);
  if (!launch) {
    console.line("udtcat: " + launch.error().message());
    return ExitStatus::own_failure;
  }
  console.line("udtcat: run " + launch->program + ": " + errno_text(bridge::become(*launch)));
  return ExitStatus::own_failure;
}

}  // namespace

ExitStatus rsh_server_command(const RshServerOptions& options, std::uint64_t core_limit_bytes, Console& console) {
  // The login shell that started us has read the user's .bashrc, and we have what it exported. A bash of the second level does
  // not read it again: what such files print would be in the command's output.
  std::ignore = ::setenv("SHLVL", "1", 1);  // fails for want of memory only
  std::optional<rsh::ControlMessage> fallback;
  {
    SessionRun run(options.common, console,
                   {.failure = ExitStatus::own_failure, .tell_peers_grace = kChildGrace, .signal_grace = kChildGrace});
    Server server(run, options, core_limit_bytes);
    if (auto started = server.start(); !started) return run.fail_to_start(std::move(started.error()));
    const ExitStatus status = run.run();
    fallback = server.fallback();
    if (!fallback) return status;
  }
  return become_command(*fallback, core_limit_bytes, console);
}

}  // namespace udtcat::tool
