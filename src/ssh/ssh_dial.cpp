// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_dial.hpp"

#include <random>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/asio/post.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "lib/net/interface_addresses.hpp"
#include "ssh/bootstrap_script.hpp"
#include "ssh/connectivity_checks.hpp"
#include "ssh/pushed_program.hpp"

namespace udtcat::ssh {

namespace {

constexpr const char* kTriesAgain = "--require-udp tries UDP again";
constexpr const char* kNeedsShell = "UDP needs a login that is a shell";
constexpr std::chrono::milliseconds kQueryTimeout{2'000};  // guess: it takes 5 ms, and a resolver's time at the most
constexpr std::chrono::milliseconds kSshGrace{300};        // guess: the far end has ended, and ssh hears of it
constexpr std::chrono::milliseconds kShowInterval{1'500};  // guess: somewhat longer than the far side is silent

const char* protocol_of(const SshDialOptions& options) {
  return options.transport.kind == TransportKind::tcp ? "TCP" : "UDP";
}

/// The far end is told of it before we bind it; where another has taken it meanwhile, we dial from elsewhere.
std::uint16_t draw_dialling_port() {
  constexpr std::uint16_t kFirst = 49'152;  // spec: RFC 6335 §6, dynamic ports
  constexpr std::uint16_t kLast = 65'535;
  std::random_device random;
  return std::uniform_int_distribution<std::uint16_t>(kFirst, kLast)(random);
}

/// The cause of a dial's failure without what may be the reason: the far end waits there, as ssh has told.
std::string without_advice(const std::string& cause) {
  const auto advice = cause.find(" at UDP port");
  if (advice == std::string::npos) return cause;
  const auto of_tcp = cause.find("; by TCP: ", advice);
  return cause.substr(0, advice) + (of_tcp == std::string::npos ? "" : cause.substr(of_tcp));
}

}  // namespace

SshDial::SshDial(tool::SessionRun& run, const SshDialOptions& options, std::uint64_t core_limit_bytes,
                 Handlers handlers)
    : run_(run),
      options_(options),
      core_limit_bytes_(core_limit_bytes),
      handlers_(std::move(handlers)),
      invocation_{options.ssh_program, options.ssh},
      dialling_port_(draw_dialling_port()),
      push_timer_(run.io()) {}

Status SshDial::start() {
  recall();
  if (reason_ && options_.needs_udtcat == nullptr) {
    start_plain();
    return {};
  }
  // A copy that an earlier push has left serves commands without --push, too, but in no other program's place. If our
  // digests cannot be had, they go without that copy.
  auto own = own_programs();
  if (!own && options_.push) return tl::unexpected(std::move(own.error()));
  BootstrapRequest request{.program = options_.remote_program,
                           .command = options_.far_command,
                           .options = options_.far_options,
                           .near_end = to_text(NearEnd{dialling_port_, host_candidates(dialling_port_)}),
                           .pushed = {},
                           .push = options_.push};
  if (own && (options_.push || !names_program()))
    for (const auto& each : *own) request.pushed.push_back({each.system, each.sha256_hex});
  std::vector<PushedProgram> programs;
  if (options_.push) programs = std::move(*own);
  const Bootstrap::Handlers handlers{
      .on_connect = [this](const ConnectLine& line) { dial(line); },
      .on_absent = [this](Error why) { on_absent(std::move(why)); },
      .on_push = [this](const Bootstrap::Push& push) { on_push(push); },
      .on_have = [this](std::uint64_t bytes) { on_have(bytes); },
      .on_noise = [this](const std::string& noise) { pass_on(noise); },
      .on_unusable_login = [this](const Bootstrap::UnusableLogin& unusable) { on_unusable_login(unusable); },
      .on_failure = [this](const Error& error, std::optional<int> status) { on_failure(error, status); }};
  LoginTimeouts timeout;
  timeout.is_logged_in = uses_master_ = config_ && config_->finds_master();
  bridge::ChildRequest ssh = ssh_request(script_argv(invocation_, config_, bootstrap_script(request)));
  ssh.ends_with_us = !is_shared();
  UDTCAT_TRY(bootstrap_, Bootstrap::start(run_.io(), ssh, std::move(programs), handlers, timeout));
  return {};
}

/// Reads ssh's configuration and the fallback cache.
void SshDial::recall() {
  if (is_openssh(invocation_)) config_ = ask_ssh(ssh_request(query_argv(invocation_)), kQueryTimeout);
  if (config_)
    fallbacks_ =
        FallbackCache::of_user(destination_key(*config_, to_string(options_.ports), net::interface_addresses()));
  if (!options_.tries_udp && fallbacks_) reason_ = fallbacks_->find();
}

/// The cache has the destination: ssh is run without trying UDP.
void SshDial::start_plain() {
  boost::asio::post(run_.io(), lifetime_.guard([this] {
    handlers_.on_plain(
        {Errc::cannot_reach, fmt::format("{}: {} within the last hour", options_.host, to_text(*reason_)),
         *reason_ == FallbackReason::one_command ? fmt::format("{}; {}", kNeedsShell, kTriesAgain) : kTriesAgain});
  }));
}

void SshDial::on_unusable_login(const Bootstrap::UnusableLogin& unusable) {
  end_push();
  const std::string how =
      unusable.status ? fmt::format("ssh ended with status {}", *unusable.status) : "it was silent, or is not done yet";
  if (unusable.is_shell)
    return handlers_.on_plain({Errc::cannot_reach, fmt::format("{}: no far end there ({})", options_.host, how),
                               "the udtcat there may be too old; --push brings this one"});
  // 255 is ssh's own failure, and a shared connection may be a dead one.
  if (unusable.status ? *unusable.status != kSshFailed : !uses_master_) remember(FallbackReason::one_command);
  handlers_.on_plain({Errc::cannot_reach, fmt::format("{}: its login runs no command of ours ({})", options_.host, how),
                      options_.needs_udtcat != nullptr ? options_.needs_udtcat : kNeedsShell});
}

void SshDial::remember(FallbackReason reason) const {
  if (fallbacks_) fallbacks_->note(reason);
}

void SshDial::forget_fallback() const {
  if (fallbacks_) fallbacks_->forget();
}

/// Whether other commands may go through our ssh's connection, which then outlives ours.
bool SshDial::is_shared() const { return config_ && config_->may_be_master && !uses_master_; }

void SshDial::leave(std::function<void()> on_left) {
  if (!bootstrap_ || is_shared()) return boost::asio::post(run_.io(), lifetime_.guard(std::move(on_left)));
  bootstrap_->end(kSshGrace, std::move(on_left));
}

void SshDial::end(std::function<void()> on_ended) {
  if (!bootstrap_) return boost::asio::post(run_.io(), lifetime_.guard(std::move(on_ended)));
  bootstrap_->end(std::chrono::milliseconds(0), std::move(on_ended));
}

/// In our process group: ssh may ask for passwords on the terminal, and gets the signal of ^C.
bridge::ChildRequest SshDial::ssh_request(std::vector<std::string> words) const {
  core::log().debug("running {}", fmt::join(words.begin(), words.end() - 1, " "));
  const std::string program = words.front();
  return {.program = program, .words = std::move(words), .own_session = false, .core_limit_bytes = core_limit_bytes_};
}

bridge::ChildRequest SshDial::plain_ssh() const { return ssh_request(plain_argv(invocation_, config_)); }

void SshDial::on_push(const Bootstrap::Push& push) {
  run_.say(
      fmt::format("{}: no udtcat there ({}): sending this one, {}, which stays in ~/.cache/udtcat there for the "
                  "next time",
                  options_.host, push.system, core::format_size(push.packed_bytes)));
  if (!options_.push_progress.value_or(tool::ProgressTicker::person_watches(options_))) return;
  push_.emplace(options_.host, push.bytes);
  push_began_ = std::chrono::steady_clock::now();
  show_push();
}

void SshDial::on_have(std::uint64_t bytes) {
  if (!push_) return;
  push_->hear(bytes, std::chrono::steady_clock::now() - push_began_);
  show_push();
}

void SshDial::show_push() {
  const auto elapsed = std::chrono::steady_clock::now() - push_began_;
  run_.console().status(push_->line(elapsed, run_.console().columns().value_or(tool::kWholeLine)));
  push_timer_.expires_after(kShowInterval);
  push_timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled && push_) show_push();
  });
}

void SshDial::end_push() {
  if (!push_) return;
  push_.reset();
  push_timer_.cancel();
  run_.console().clear_status();
}

void SshDial::on_absent(Error why) {
  end_push();
  const std::string target =
      names_program() ? fmt::format("{} ({})", options_.host, options_.remote_program) : options_.host;
  why.what = target + ": " + why.what;
  handlers_.on_no_session(std::move(why));
}

void SshDial::on_failure(const Error& error, std::optional<int> status) {
  end_push();
  handlers_.on_no_far_end(error, status);
}

void SshDial::pass_on(const std::string& noise) {
  if (!noise.empty()) run_.console().line(noise.ends_with('\n') ? noise.substr(0, noise.size() - 1) : noise);
}

void SshDial::dial(const ConnectLine& line) {
  end_push();
  if (line.port == 0)
    return handlers_.on_no_session(
        {Errc::cannot_reach,
         fmt::format("{} port {} at {}: none is free", protocol_of(options_), to_string(options_.ports), options_.host),
         "each command there needs one of its own: choose more by --port"});
  const bool by_tcp = options_.transport.kind == TransportKind::tcp;
  if (!by_tcp && (reason_ == FallbackReason::udp_blocked || reason_ == FallbackReason::udp_slow))
    return handlers_.on_no_session({Errc::cannot_reach,
                                    fmt::format("{}: {} within the last hour", options_.host, to_text(*reason_)),
                                    kTriesAgain});
  candidates_ = candidates_of(line);
  std::vector<Candidate> remotes;
  for (const Endpoint& each : candidates_) remotes.push_back(as_candidate(each, line.addresses));
  if (candidates_.empty()) return on_no_answer("the host's address is not known; --udp-host can say it", false);
  for (const Endpoint& candidate : candidates_)
    core::log().info("trying {}{}", by_tcp ? "tcp " : "", candidate.to_string());
  DialRequest request{.addresses = candidates_,
                      .peer_name = options_.ssh.destination,
                      .timeout = options_.connect_timeout,
                      .closed_port_patience = options_.closed_port_patience,
                      .credentials = line.key.duplicate(),
                      .session = options_.session,
                      .transport = options_.transport};
  request.transport.single_use = true;
  request.transport.dialling_port = dialling_port_;
  // The session moves to ssh and back by itself: it has one flow, unless the user wants more or has several uplinks.
  if (!request.session.flows && request.transport.local_addresses.size() < 2) request.session.flows = 1;
  dialer_ = udtcat::dial(
      run_.io(), std::move(request),
      [this, by_tcp, port = line.port, remotes = std::move(remotes)](Result<std::unique_ptr<Connection>> connection) {
        if (!connection) {
          // Where ssh has ended, the far end has too, and UDP may be fine.
          const bool is_blocked = !by_tcp && connection.error().code == Errc::cannot_reach && !bootstrap_->has_ended();
          if (is_blocked) remember(FallbackReason::udp_blocked);
          return on_no_answer(without_advice(connection.error().cause), is_blocked);
        }
        if (!by_tcp) forget_fallback();
        (*connection)->set_candidates(host_candidates(dialling_port_), remotes);
        run_.say_if_by_tcp((*connection)->stats(), options_.ssh.destination, port);
        handlers_.on_connection(std::move(*connection));
      });
}

std::vector<Endpoint> SshDial::candidates_of(const ConnectLine& line) {
  std::vector<Endpoint> candidates = dialled_addresses(bootstrap_->ssh_pid());
  for (Endpoint& candidate : candidates) candidate = candidate.with_port(line.port);
  candidates.insert(candidates.end(), line.addresses.begin(), line.addresses.end());
  const auto add = [&](const std::string& host) -> Status {
    UDTCAT_TRY(const auto named, resolve({host, line.port}, options_.family));
    candidates.insert(candidates.begin(), named.begin(), named.end());
    return {};
  };
  // Over the connection of another ssh, ours has none that shows whom it has dialled.
  if (uses_master_ && !config_->is_proxied) std::ignore = add(config_->hostname);  // one way less
  if (options_.udp_host)
    if (const auto named = add(*options_.udp_host); !named)
      run_.console().line("udtcat: --udp-host: " + named.error().message());
  return each_once(candidates);
}

std::string SshDial::tried() const {
  std::string endpoints;
  for (const Endpoint& candidate : candidates_) endpoints += (endpoints.empty() ? "" : ", ") + candidate.to_string();
  return endpoints;
}

void SshDial::on_no_answer(const std::string& cause, bool is_remembered) {
  const std::string protocol =
      options_.transport.kind == TransportKind::automatic ? "UDP or TCP" : std::string(protocol_of(options_));
  std::string cure = fmt::format("let {} port {} through to the far side, or choose others there by --port", protocol,
                                 to_string(options_.ports));
  if (is_remembered && fallbacks_ && !options_.tries_udp)
    cure += fmt::format("; for an hour commands go over ssh at once, and {}", kTriesAgain);
  handlers_.on_no_session({Errc::cannot_reach,
                           fmt::format("no way to {} by {} within {} (tried {}: {})", options_.ssh.destination,
                                       protocol, core::format_duration(options_.connect_timeout), tried(), cause),
                           std::move(cure)});
}

void finish_without_far_end(tool::SessionRun& run, const Error& error, std::optional<int> ssh_status) {
  if (ssh_status == kSshFailed) return run.finish_as(tool::ExitStatus::unreachable);
  run.finish(error);
}

}  // namespace udtcat::ssh
