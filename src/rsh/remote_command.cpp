// SPDX-License-Identifier: Apache-2.0
#include "rsh/remote_command.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "rsh/bootstrap_script.hpp"
#include "rsh/pushed_program.hpp"
#include "tool/requests.hpp"

namespace udtcat::rsh {

namespace {

// spec: docs/spec/rsh.md §5: before the session is broken off
constexpr auto kFarEndGrace = std::chrono::milliseconds(500);

tool::ExitStatus status_of(int number) { return static_cast<tool::ExitStatus>(number); }

ControlMessage request_of(const SshWords& ssh) {
  if (ssh.is_subsystem) return RunSubsystem{ssh.command};
  return RunCommand{ssh.command};
}

}  // namespace

RemoteCommand::RemoteCommand(tool::SessionRun& run, const RemoteCommandOptions& options, std::uint64_t core_limit_bytes)
    : run_(run), options_(options), core_limit_bytes_(core_limit_bytes), patience_(run.io()) {}

Status RemoteCommand::start() {
  run_.on_interrupt([this](const Error& why) { interrupt(why); });
  BootstrapRequest request{.program = options_.remote_program, .options = options_.far_options, .push = {}};
  if (options_.push) {
    UDTCAT_TRY(request.push, own_program());
  }
  const Bootstrap::Handlers handlers{
      .on_connect = [this](const ConnectLine& line) { dial(line); },
      .on_noise = [this](const std::string& noise) { pass_on(noise); },
      .on_failure = [this](const Error& error, std::optional<int> status) { on_no_far_end(error, status); }};
  UDTCAT_TRY(bootstrap_, Bootstrap::start(run_.io(), ssh_for(bootstrap_script(request)), request.push, handlers));
  return {};
}

Status RemoteCommand::start_at_daemon(std::optional<Credentials> credentials) {
  run_.on_interrupt([this](const Error& why) { interrupt(why); });
  auto target = static_cast<const tool::Options&>(options_);
  target.peer = {options_.host, options_.ports.first};
  UDTCAT_TRY(DialRequest request, tool::make_dial_request(target, std::move(credentials)));
  dialer_ = udtcat::dial(run_.io(), std::move(request), [this](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run_.finish(std::move(connection.error()));
    begin(std::move(*connection));
  });
  return {};
}

bridge::ChildRequest RemoteCommand::ssh_for(const std::string& script) const {
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

void RemoteCommand::pass_on(const std::string& noise) {
  if (!noise.empty()) run_.console().line(noise.ends_with('\n') ? noise.substr(0, noise.size() - 1) : noise);
}

/// Nothing is said where ssh itself failed: it has said why.
void RemoteCommand::on_no_far_end(const Error& error, std::optional<int> status) {
  constexpr int kSshFailed = 255;  // spec: ssh(1), EXIT STATUS
  if (status == kSshFailed) return run_.finish_as(tool::ExitStatus::own_failure);
  run_.finish(error);
}

void RemoteCommand::dial(const ConnectLine& line) {
  if (line.port == 0)
    return go_without_udp({Errc::cannot_reach,
                           fmt::format("UDP port {} at {}: none is free", to_string(options_.ports), options_.host),
                           "choose others there by --port"});
  std::vector<Endpoint> candidates = dialled_addresses(bootstrap_->ssh_pid());
  for (Endpoint& candidate : candidates) candidate = candidate.with_port(line.port);
  if (line.seen_address) candidates.push_back(*line.seen_address);
  if (options_.udp_host) {
    auto named = resolve({*options_.udp_host, line.port}, options_.family);
    if (named)
      candidates.insert(candidates.begin(), named->begin(), named->end());
    else
      run_.console().line("udtcat: --udp-host: " + named.error().message());
  }
  candidates_ = each_once(candidates);
  if (candidates_.empty()) return on_no_answer("the host's address is not known; --udp-host can say it");
  for (const Endpoint& candidate : candidates_) core::log().info("trying udp {}", candidate.to_string());
  DialRequest request{.addresses = candidates_,
                      .peer_name = options_.ssh.destination,
                      .timeout = options_.connect_timeout,
                      .closed_port_patience = options_.closed_port_patience,
                      .credentials = line.key.duplicate(),
                      .session = options_.session,
                      .transport = options_.transport};
  request.transport.single_use = true;
  race_ =
      std::make_unique<DialRace>(run_.io(), std::move(request), [this](Result<std::unique_ptr<Connection>> connection) {
        if (!connection) return on_no_answer(connection.error().cause);
        begin(std::move(*connection));
      });
}

void RemoteCommand::begin(std::unique_ptr<Connection> connection) {
  core::log().info("connected to {}", connection->peer().to_string());
  near_ = std::make_unique<NearEnd>(run_.io(), std::move(connection),
                                    [this](Result<CommandEnd> end) { conclude(std::move(end)); });
  run_.watch_connection(near_->connection());
  if (auto started = near_->start(request_of(options_.ssh), !options_.ssh.without_input); !started)
    run_.finish(std::move(started.error()));
}

void RemoteCommand::conclude(Result<CommandEnd> end) {
  if (!end) {
    // ssh has lost the path too, would wait longer than we do, and would hold our stderr.
    if (bootstrap_) bootstrap_->terminate();
    return run_.finish(std::move(end.error()));
  }
  if (!end->status) core::log().info("the remote command was ended by SIG{}", end->signal_name);
  // As with ssh, a command that was ended by a signal has no status.
  run_.finish_as(end->status ? status_of(*end->status) : tool::ExitStatus::own_failure);
}

std::string RemoteCommand::tried() const {
  std::string places;
  for (const Endpoint& candidate : candidates_) places += (places.empty() ? "" : ", ") + candidate.to_string();
  return places;
}

void RemoteCommand::on_no_answer(const std::string& cause) {
  go_without_udp({Errc::cannot_reach,
                  fmt::format("no way to {} by UDP within {} (tried {}: {})", options_.ssh.destination,
                              core::format_duration(options_.connect_timeout), tried(), cause),
                  fmt::format("let UDP port {} through to the far side, or choose others there by --port",
                              to_string(options_.ports))});
}

/// why   its cause is advice
void RemoteCommand::go_without_udp(Error why) {
  if (options_.require_udp) return run_.finish(std::move(why));
  if (options_.verbosity >= 0)
    run_.console().line("udtcat: " + why.what + ": going on over ssh itself (--require-udp forbids that)");
  auto started = bootstrap_->fall_back(request_of(options_.ssh), !options_.ssh.without_input,
                                       [this](int status) { run_.finish_as(status_of(status)); });
  if (!started) run_.finish(std::move(started.error()));
}

/// The command gets the signal and may end in its own way; then the session is broken off, which ends it.
void RemoteCommand::interrupt(const Error& why) {
  if (near_ == nullptr) {
    if (bootstrap_) bootstrap_->terminate();
    return run_.finish(why);
  }
  if (const auto name = signal_name(run_.signal())) near_->deliver(*name);
  patience_.expires_after(kFarEndGrace);
  patience_.async_wait([this, why](const boost::system::error_code& cancelled) {
    if (!cancelled) near_->abort(why);
  });
}

}  // namespace udtcat::rsh
