// SPDX-License-Identifier: Apache-2.0
#include "rsh/command/rsh_options.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "ssh/ssh_options.hpp"
#include "tool/cli/applications.hpp"
#include "tool/cli/shell_words.hpp"

namespace udtcat::rsh {

namespace {

using tool::CommandLine;
using tool::misplaced;
using tool::Words;

constexpr const char* kRsh = R"(udtcat rsh: a remote shell, over an encrypted session of ours

  udtcat rsh [options] [ssh's own options] [USER@]HOST COMMAND...
  udr PROGRAM...                          puts it under rsync, scp, sftp, git and others

ssh says who you are and starts udtcat there; then the command's stdin, stdout, stderr, signals and exit status move
over UDP. All of ssh's options are understood, and handed to it. What is no command (a login shell, -t, -N, -W, ...) is
left to ssh itself.

      --port N | N-M         UDP ports of the far side (9000-9100); one is used a command
      --udp-host HOST        try this address as well as the one that ssh dialled and the one its server saw
      --connect-timeout T    how long UDP is tried (3s); then, or where there is no udtcat, the command goes over ssh
                             itself, with a line that says so
      --require-udp          then it fails instead
      --push                 where there is no udtcat, send this one to ~/.cache/udtcat there, and use it; once, and
                             from then on this build finds it without this option too
      --remote-udtcat PATH   where udtcat is there
      --ssh 'PROGRAM ARGS'   what to run as ssh
      --bind, --rate, --transport, --no-tcp, --proxy, --congestion, --offload, --memory, --protect, --cipher,
      --block, --lanes, --threads, --flows, --idle-timeout, --stats, --name, --metrics, --status-group,
      --log-format, --why, --verbose, --quiet
                             see udtcat --help
      --progress             a line of progress; unless asked for, of a push alone, as the command may use the terminal
      --no-progress          none at all

Exit status: the command's; 255 where that is not known, or where it was ended by a signal.
)";

void add_rsh_options(CommandLine& line, RshOptions& options) {
  options.session.application = tool::kRsh;
  ssh::add_ssh_dial_options(line, options);
  ssh::add_push_progress_options(line, options);
  line.refuse("--via",
              "ssh logs in at the far host, and the ends find each other by it; where ssh cannot, a forward by "
              "--via brings it there: udtcat -l --via PLACE --to localhost:22");
  line.flag("--require-udp", options.require_udp);
  ssh::add_far_session_options(line, options);
  add_bind_option(line, options);
  add_connect_timeout_option(line, options);
  line.flag("--why", options.why);
  line.check([&]() -> Status {
    ssh::finish_ssh_dial_options(line, options);
    if (options.require_udp) UDTCAT_CHECK(ssh::require_udp(options));
    options.tries_udp = options.require_udp || line.has("--connect-timeout") || line.has("--udp-host");
    return {};
  });
}

Status read_ours(const Words& words, RshOptions& options) {
  CommandLine line("udtcat rsh");
  add_rsh_options(line, options);
  UDTCAT_CHECK(line.read(words));
  options.help = line.wants_help();
  return {};
}

struct SplitArguments {
  Words ours;
  Words of_ssh;
  std::string host;  // without the user
};

/// ssh has no long options, so all of those before the destination are ours, and the rest is ssh's.
Result<SplitArguments> separate(const Words& arguments) {
  RshOptions unused;
  CommandLine line("udtcat rsh");
  add_rsh_options(line, unused);
  SplitArguments split;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at].starts_with('-') && arguments[at] != "--"; ++at) {
    const std::string& word = arguments[at];
    const bool long_option = word.starts_with("--");
    const std::string name = word.substr(0, word.find('='));
    bool value_follows = false;
    if (long_option) {
      const auto valued = line.takes_value(name);
      if (!valued) return line.unknown(word);
      value_follows = *valued && word.size() == name.size();
    } else {
      value_follows = ssh::takes_next_word(word);
    }
    Words& words = long_option ? split.ours : split.of_ssh;
    words.push_back(word);
    if (value_follows && at + 1 < arguments.size()) words.push_back(arguments[++at]);
  }
  std::size_t destination = at;
  if (destination < arguments.size() && arguments[destination] == "--") ++destination;
  if (destination < arguments.size()) {
    UDTCAT_CHECK(ssh::check_destination(arguments[destination]));
    split.host = ssh::host_of(arguments[destination]);
  }
  split.of_ssh.insert(split.of_ssh.end(), arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  return split;
}

Status check_command(const RshOptions& options) {
  if (options.is_left_to_ssh()) return {};
  const std::size_t bytes = options.ssh.command.size();
  if (bytes == 0) return misplaced("run a command at " + options.host, "none was given");
  if (bytes > ssh::kMaxTextBytes)
    return misplaced(fmt::format("run a command of {} bytes", bytes), "the far system takes 131071 at most");
  return {};
}

}  // namespace

Result<RshOptions> parse_rsh_options(const Words& arguments) {
  UDTCAT_TRY(SplitArguments split, separate(arguments));
  RshOptions options;
  options.host = split.host;
  options.peer.host = split.host;
  UDTCAT_CHECK(read_ours(split.ours, options));
  if (options.help) return options;
  options.command_line = "udtcat rsh";
  for (const std::string& word : arguments) options.command_line += ' ' + tool::quoted(word);
  UDTCAT_TRY(options.ssh, ssh::parse_ssh_arguments(split.of_ssh));
  options.ssh_arguments = std::move(split.of_ssh);
  if (options.ssh.quiet && options.verbosity == 0) options.verbosity = -1;
  UDTCAT_CHECK(check_command(options));
  return options;
}

Result<RshServerOptions> parse_rsh_server_options(const Words& arguments) {
  RshServerOptions options;
  options.session.application = tool::kRsh;
  CommandLine line("udtcat rsh-server");
  ssh::add_far_options(line, options);
  line.flag("--bench", options.bench);
  line.check([&]() -> Status {
    if (options.bench) options.session.application = tool::kBench;
    return {};
  });
  UDTCAT_CHECK(line.read(arguments));
  if (line.wants_help() || !line.operands().empty())
    return misplaced("arguments", "rsh-server has none; it is started by udtcat rsh");
  return options;
}

tool::DeclaredOptions rsh_options_declared() {
  tool::DeclaredOptions all = tool::declared_by(add_rsh_options);
  // ssh has no long options: our short ones are not known to udtcat rsh.
  for (tool::DeclaredOption& option : all) std::erase_if(option.names, [](const auto& name) { return name[1] != '-'; });
  for (char letter = 'A'; letter <= 'z'; ++letter) {
    const std::string name{'-', letter};
    if (ssh::takes_next_word(name)) all.push_back({.names = {name}, .takes_value = true, .offered = false});
  }
  return all;
}

std::string rsh_help_text() { return kRsh; }

}  // namespace udtcat::rsh
