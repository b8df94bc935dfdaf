/// udtcat rsh: stands in for ssh. ssh starts the far end, then the command's bytes move over a session of ours.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/core/log.hpp"
#include "rsh/bootstrap.hpp"
#include "rsh/bootstrap_script.hpp"
#include "rsh/command/pushed_program.hpp"
#include "rsh/dial_race.hpp"
#include "rsh/dialled_address.hpp"
#include "rsh/known_cookie.hpp"
#include "rsh/near_end.hpp"
#include "tool/commands.hpp"
#include "tool/requests.hpp"
#include "tool/session_run.hpp"
#include "tool/terminal_prompt.hpp"

namespace udtcat::tool {

namespace {

constexpr auto kFarEndGrace =
    std::chrono::milliseconds(500);  // spec: docs/spec/rsh.md §5: before the session is broken off
constexpr auto kTellGrace = std::chrono::milliseconds(900);   // spec: docs/spec/rsh.md §5
constexpr auto kEndGrace = std::chrono::milliseconds(1'500);  // spec: docs/spec/rsh.md §5

ExitStatus status_of(int number) { return static_cast<ExitStatus>(number); }

rsh::ControlMessage request_of(const rsh::SshWords& ssh) {
  if (ssh.is_subsystem) return rsh::RunSubsystem{ssh.command};
  return rsh::RunCommand{ssh.command};
}

/// What we do is not for this one: ssh takes our place, with the words that were meant for it.
ExitStatus become_ssh(const RshOptions& options, std::uint64_t core_limit_bytes, Console& console) {
  core::log().info("{}: left to ssh itself", options.ssh.only_ssh);
  bridge::ChildRequest ssh{
      .program = options.ssh_program.front(), .words = options.ssh_program, .core_limit_bytes = core_limit_bytes};
  ssh.words.insert(ssh.words.end(), options.ssh_arguments.begin(), options.ssh_arguments.end());
  console.line(fmt::format("udtcat: run {}: {}", ssh.program, errno_text(bridge::become(ssh))));
  return ExitStatus::own_failure;
}

/// One remote command, from the bootstrap to its end.
///
///   starting (ssh) ──► dialling ──► running ──► finished
///                         └── nobody answers on UDP ──► over ssh ──► finished
///
/// Threads: confined to the main thread.
class RemoteCommand {
 public:
  RemoteCommand(SessionRun& run, const RshOptions& options, std::uint64_t core_limit_bytes)
      : run_(run), options_(options), core_limit_bytes_(core_limit_bytes), patience_(run.io()) {}

  [[nodiscard]] Status start() {
    run_.on_interrupt([this](const Error& why) { interrupt(why); });
    std::optional<rsh::ProgramToPush> push;
    rsh::BootstrapRequest request{.program = options_.remote_program, .options = options_.far_options, .push = {}};
    if (options_.push) {
      auto own = own_program();
      if (!own) return tl::unexpected(std::move(own.error()));
      push = own->program;
      request.push = own->pushed;
    }
    auto bootstrap = rsh::Bootstrap::start(
        run_.io(), ssh_for(rsh::bootstrap_script(request)), std::move(push),
        {.on_connect = [this](const rsh::ConnectLine& line) { dial(line); },
         .on_noise = [this](const std::string& noise) { pass_on(noise); },
         .on_failure = [this](const Error& error, std::optional<int> status) { on_no_far_end(error, status); }});
    if (!bootstrap) return tl::unexpected(std::move(bootstrap.error()));
    bootstrap_ = std::move(*bootstrap);
    return {};
  }

  /// Without ssh: the daemon that waits at the host.
  [[nodiscard]] Status start_at_daemon(std::optional<Key> key) {
    run_.on_interrupt([this](const Error& why) { interrupt(why); });
    Options target = options_.common;
    target.peer = {options_.host, options_.ports.first};
    auto request = make_dial_request(target, std::move(key));
    if (!request) return tl::unexpected(std::move(request.error()));
    dialer_ = udtcat::dial(run_.io(), std::move(*request), [this](Result<std::unique_ptr<Connection>> connection) {
      if (!connection) return run_.finish(std::move(connection.error()));
      begin(std::move(*connection));
    });
    return {};
  }

 private:
  [[nodiscard]] bridge::ChildRequest ssh_for(const std::string& script) const {
    // In our terminal's foreground, so that it can ask for passwords, and hears of ^C as we do.
    bridge::ChildRequest ssh{.program = options_.ssh_program.front(),
                             .words = options_.ssh_program,
                             .pipe_stderr = false,
                             .own_session = false,
                             .core_limit_bytes = core_limit_bytes_};
    auto& words = ssh.words;
    words.insert(words.end(), options_.ssh.options.begin(), options_.ssh.options.end());
    for (const char* word : {"-T", "-o", "RemoteCommand=none", "--"}) words.emplace_back(word);
    words.push_back(options_.ssh.destination);
    words.push_back(script);
    core::log().debug("running {}", fmt::join(words.begin(), words.end() - 1, " "));
    return ssh;
  }

  void pass_on(const std::string& noise) {
    if (!noise.empty()) run_.console().line(noise.ends_with('\n') ? noise.substr(0, noise.size() - 1) : noise);
  }

  /// ssh has said why, where it was ssh.
  void on_no_far_end(const Error& error, std::optional<int> status) {
    constexpr int kSshFailed = 255;  // spec: ssh(1), EXIT STATUS
    if (status == kSshFailed) return run_.finish_as(ExitStatus::own_failure);
    run_.finish(error);
  }

  void dial(const rsh::ConnectLine& line) {
    if (line.port == 0)
      return go_without_udp({Errc::cannot_reach,
                             fmt::format("UDP port {} at {}: none is free", to_string(options_.ports), options_.host),
                             "choose others there by --port"});
    std::vector<Endpoint> candidates = rsh::dialled_addresses(bootstrap_->ssh_pid());
    for (Endpoint& candidate : candidates) candidate = candidate.with_port(line.port);
    if (line.seen_address) candidates.push_back(*line.seen_address);
    if (options_.udp_host) {
      auto named = resolve({*options_.udp_host, line.port}, options_.common.family);
      if (named)
        candidates.insert(candidates.begin(), named->begin(), named->end());
      else
        run_.console().line("udtcat: --udp-host: " + named.error().message());
    }
    candidates_ = rsh::each_once(candidates);
    if (candidates_.empty()) return on_no_answer("where the host is is not known; --udp-host can say it");
    for (const Endpoint& candidate : candidates_) core::log().info("trying udp {}", candidate.to_string());
    auto cookie = rsh::known_cookie(line.key);
    if (!cookie) return run_.finish(std::move(cookie.error()));
    DialRequest request{.addresses = candidates_,
                        .peer_name = options_.ssh.destination,
                        .timeout = options_.common.connect_timeout,
                        .closed_port_patience = options_.common.closed_port_patience,
                        .key = line.key.duplicate(),
                        .session = options_.common.session,
                        .transport = options_.common.transport};
    request.transport.known_cookie = *cookie;
    race_ = std::make_unique<rsh::DialRace>(run_.io(), std::move(request),
                                            [this](Result<std::unique_ptr<Connection>> connection) {
                                              if (!connection) return on_no_answer(connection.error().cause);
                                              begin(std::move(*connection));
                                            });
  }

  void begin(std::unique_ptr<Connection> connection) {
    core::log().info("connected to {}", connection->peer().to_string());
    near_ = std::make_unique<rsh::NearEnd>(run_.io(), std::move(connection),
                                           [this](Result<rsh::CommandEnd> end) { conclude(std::move(end)); });
    run_.watch(near_->connection().peer().to_string(), [this] { return near_->connection().stats(); });
    if (auto started = near_->start(request_of(options_.ssh), !options_.ssh.without_input); !started)
      run_.finish(std::move(started.error()));
  }

  void conclude(Result<rsh::CommandEnd> end) {
    if (!end) {
      // What is lost is lost for ssh too, which would wait for it longer than we, and hold our stderr.
      if (bootstrap_) bootstrap_->terminate();
      return run_.finish(std::move(end.error()));
    }
    if (!end->status) core::log().info("the remote command was ended by SIG{}", end->signal_name);
    // As ssh: what a signal has ended has no status.
    run_.finish_as(end->status ? status_of(*end->status) : ExitStatus::own_failure);
  }

  [[nodiscard]] std::string tried() const {
    std::string places;
    for (const Endpoint& candidate : candidates_) places += (places.empty() ? "" : ", ") + candidate.to_string();
    return places;
  }

  void on_no_answer(const std::string& cause) {
    go_without_udp({Errc::cannot_reach,
                    fmt::format("no way to {} by UDP within {:g} s (tried {}: {})", options_.ssh.destination,
                                std::chrono::duration<double>(options_.common.connect_timeout).count(), tried(), cause),
                    fmt::format("let UDP port {} through to the far side, or choose others there by --port",
                                to_string(options_.ports))});
  }

  /// why   its cause is advice
  void go_without_udp(Error why) {
    if (options_.require_udp) return run_.finish(std::move(why));
    if (options_.common.verbosity >= 0)
      run_.console().line("udtcat: " + why.what + ": going on over ssh itself (--require-udp forbids that)");
    auto started = bootstrap_->fall_back(request_of(options_.ssh), !options_.ssh.without_input,
                                         [this](int status) { run_.finish_as(status_of(status)); });
    if (!started) run_.finish(std::move(started.error()));
  }

  /// The command hears of the signal and may end in its own way; then the session is broken off, which ends it.
  void interrupt(const Error& why) {
    if (near_ == nullptr) {
      if (bootstrap_) bootstrap_->terminate();
      return run_.finish(why);
    }
    if (const auto name = rsh::signal_name(run_.signal())) near_->deliver(*name);
    patience_.expires_after(kFarEndGrace);
    patience_.async_wait([this, why](const boost::system::error_code& cancelled) {
      if (!cancelled) near_->abort(why);
    });
  }

  SessionRun& run_;
  const RshOptions& options_;
  const std::uint64_t core_limit_bytes_;
  boost::asio::steady_timer patience_;
  std::vector<Endpoint> candidates_;
  std::unique_ptr<rsh::Bootstrap> bootstrap_;
  std::unique_ptr<rsh::DialRace> race_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<rsh::NearEnd> near_;
};

}  // namespace

ExitStatus rsh_command(const RshOptions& options, std::optional<crypto::SecretText> environment_key,
                       std::uint64_t core_limit_bytes, Console& console) {
  if (!options.ssh.only_ssh.empty() && !options.daemon) return become_ssh(options, core_limit_bytes, console);
  SessionRun run(
      options.common, console,
      {.failure = ExitStatus::own_failure, .tell_peers_grace = kTellGrace, .signal_grace = kEndGrace, .as_ssh = true});
  if (options.ssh.command.empty())
    return run.fail_to_start({Errc::bad_argument, "run a command at " + options.host, "none was given"});
  if (options.ssh.command.size() > rsh::kMaxTextBytes)
    return run.fail_to_start({Errc::bad_argument,
                              "run a command of " + std::to_string(options.ssh.command.size()) + " bytes",
                              "the far system takes 131071 at most"});
  RemoteCommand command(run, options, core_limit_bytes);
  if (options.daemon) {
    auto key = find_key(options.common, std::move(environment_key), ask_on_terminal);
    if (!key) return run.fail_to_start(std::move(key.error()));
    if (auto started = command.start_at_daemon(std::move(key->key)); !started)
      return run.fail_to_start(std::move(started.error()));
    return run.run();
  }
  if (auto started = command.start(); !started) return run.fail_to_start(std::move(started.error()));
  return run.run();
}

}  // namespace udtcat::tool
