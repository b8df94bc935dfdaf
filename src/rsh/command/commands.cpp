// SPDX-License-Identifier: Apache-2.0
#include "rsh/command/commands.hpp"

#include <cstdlib>
#include <tuple>
#include <utility>

#include "bench/far_bench.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "rsh/command/rsh_options.hpp"
#include "rsh/remote_command.hpp"
#include "rsh/rsh_server.hpp"
#include "rsh/user_shell.hpp"

namespace udtcat::rsh {

namespace {

using tool::ExitStatus;
using tool::FoundCredentials;
using tool::RunContext;
using tool::SessionRun;

constexpr auto kTellGrace = std::chrono::milliseconds(900);   // spec: docs/spec/rsh.md §5
constexpr auto kEndGrace = std::chrono::milliseconds(1'500);  // spec: docs/spec/rsh.md §5

/// Replaces this process by a program; returns the status where it cannot be run.
ExitStatus exec_with(const bridge::ChildRequest& program, const RunContext& context) {
  context.console.line("udtcat: run " + program.program + ": " + core::errno_text(bridge::exec_program(program)));
  return ExitStatus::own_failure;
}

/// Replaces this process by ssh, with the arguments that are for it.
ExitStatus exec_ssh(const RshOptions& options, const RunContext& context) {
  core::log().info("{}: left to ssh itself", options.ssh.only_ssh);
  bridge::ChildRequest ssh{.program = options.ssh_program.front(),
                           .words = options.ssh_program,
                           .core_limit_bytes = context.core_limit_bytes};
  ssh.words.insert(ssh.words.end(), options.ssh_arguments.begin(), options.ssh_arguments.end());
  return exec_with(ssh, context);
}

class RshInvocation final : public tool::OptionsInvocation<RshOptions> {
 public:
  using OptionsInvocation::OptionsInvocation;

  [[nodiscard]] bool starts_programs() const override { return true; }
  [[nodiscard]] bool needs_key() const override { return false; }  // ssh proves who both ends are
  [[nodiscard]] ExitStatus run(FoundCredentials /*none*/, const RunContext& context) override {
    if (options_.is_left_to_ssh()) return exec_ssh(options_, context);
    std::optional<bridge::ChildRequest> plain_ssh;
    {
      SessionRun run(options_, context.console,
                     {.failure = ExitStatus::own_failure,
                      .tell_peers_grace = kTellGrace,
                      .signal_grace = kEndGrace,
                      .as_ssh = true});
      RemoteCommand command(run, options_, context.core_limit_bytes);
      if (auto started = command.start(); !started) return run.fail_to_start(std::move(started.error()));
      const ExitStatus status = run.run();
      plain_ssh = command.plain_ssh();
      if (!plain_ssh) return status;
    }
    return exec_with(*plain_ssh, context);
  }
};

/// Replaces this process by the requested command, on the descriptors that ssh gave us.
ExitStatus exec_command(const ssh::ControlMessage& request, const RunContext& context) {
  const auto program = launch_for_user(request, context.core_limit_bytes);
  if (!program) {
    context.console.line("udtcat: " + program.error().message());
    return ExitStatus::own_failure;
  }
  return exec_with(*program, context);
}

class RshServerInvocation final : public tool::OptionsInvocation<RshServerOptions> {
 public:
  using OptionsInvocation::OptionsInvocation;

  [[nodiscard]] bool starts_programs() const override { return true; }
  [[nodiscard]] bool needs_key() const override { return false; }  // it makes one
  [[nodiscard]] ExitStatus run(FoundCredentials /*none*/, const RunContext& context) override {
    ssh::name_this_host(context.console);
    if (options_.bench) return bench::serve_far_bench(options_, context.console);
    // The login shell that started us has read .bashrc. A bash of SHLVL 2 does not read it again: its output would be
    // in the command's.
    std::ignore = ::setenv("SHLVL", "1", 1);  // fails for want of memory only
    std::optional<ssh::ControlMessage> fallback;
    {
      SessionRun run(options_, context.console, ssh::far_end_exit_policy());
      RshServer server(run, options_, context.core_limit_bytes);
      if (auto started = server.start(); !started) return run.fail_to_start(std::move(started.error()));
      const ExitStatus status = run.run();
      fallback = server.fallback();
      if (!fallback) return status;
    }
    return exec_command(*fallback, context);
  }
};

}  // namespace

tool::Commands commands() {
  return {{.words = {"rsh"},
           .help = rsh_help_text,
           .parse = tool::parse_as<RshInvocation, parse_rsh_options>,
           .options = rsh_options_declared,
           .operands = ":host :inner",
           .failure = ExitStatus::own_failure},
          {.words = {"rsh-server"},
           .help = rsh_help_text,
           .parse = tool::parse_as<RshServerInvocation, parse_rsh_server_options>}};
}

}  // namespace udtcat::rsh
