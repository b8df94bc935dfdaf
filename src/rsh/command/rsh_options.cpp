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
      --daemon               no ssh: udtcat rsh-daemon waits at HOST, on the first of --port; the key as for a pipe
      --key-file, --as, --peer, --peers, --trust-first   with --daemon
      --rate, --transport, --congestion, --offload, --memory, --protect, --cipher, --block, --lanes, --threads, --flows,
      --idle-timeout, --stats, --why, --verbose, --quiet
                             see udtcat --help
      --progress             a line of progress; unless asked for, of a push alone, as the command may use the terminal
      --no-progress          none at all

Options for certain hosts: ~/.config/udtcat/config, with `Host PATTERN` lines and, below each, options without dashes;
see udtcat help config.

Exit status: the command's; 255 where that is not known, or where it was ended by a signal.
)";

Status check_daemon(const CommandLine& line, RshOptions& options) {
  if (!options.daemon && line.has("-k"))
    return misplaced("-k, --key-file", "ssh brings a key of its own for each command");
  for (const char* name : {"--as", "--peer", "--peers", "--trust-first"})
    if (!options.daemon && line.has(name))
      return misplaced(name, "allowed with --daemon only; without it, ssh proves who both ends are");
  if (options.daemon)
    options.closed_port_patience = options.connect_timeout;
  else
    ssh::finish_ssh_dial_options(line, options);
  return {};
}

void add_remote_options(CommandLine& line, tool::Options& options) {
  options.session.application = tool::kRsh;
  ssh::add_far_session_options(line, options);
}

void add_rsh_options(CommandLine& line, RshOptions& options) {
  ssh::add_ssh_dial_options(line, options);
  ssh::add_push_progress_options(line, options);
  line.flag("--require-udp", options.require_udp);
  line.flag("--daemon", options.daemon);
  add_key_options(line, options);
  add_remote_options(line, options);
  add_connect_timeout_option(line, options);
  add_why_option(line, options);
  line.check([&] { return check_daemon(line, options); });
  line.check([&]() -> Status {
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

void add_rsh_daemon_options(CommandLine& line, DaemonOptions& options) {
  line.flag("-l,--listen");
  line.value("--allow", options.allow);
  tool::add_check_option(line, options);
  add_key_options(line, options);
  add_remote_options(line, options);
  add_family_options(line, options);
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

std::string destination_of(const Words& arguments) {
  const auto split = separate(arguments);
  return split ? split->host : "";
}

Result<RshOptions> parse_rsh_options(const Words& arguments) {
  UDTCAT_TRY(SplitArguments split, separate(arguments));
  RshOptions options;
  options.host = split.host;
  options.peer.host = split.host;
  UDTCAT_CHECK(read_ours(split.ours, options));
  if (options.help) return options;
  if (options.daemon) options.peer.port = options.ports.first;
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

Result<DaemonOptions> parse_rsh_daemon_options(const Words& arguments) {
  DaemonOptions options;
  options.listens = options.shows_new_key = true;
  options.progress = false;
  options.counterpart = "udtcat rsh --daemon --port {port}{names} {host} COMMAND";
  CommandLine line("udtcat rsh-daemon");
  add_rsh_daemon_options(line, options);
  UDTCAT_CHECK(line.read(arguments));
  options.help = line.wants_help();
  if (options.help) return options;
  if (!line.has("-l") || line.operands().size() != 1)
    return misplaced("rsh-daemon", "needs -l [ADDR:]PORT, as in udtcat rsh-daemon -l 9000 -k key --allow FILE");
  if (!line.has("--allow")) return misplaced("rsh-daemon", "needs --allow FILE, the list of the commands");
  UDTCAT_TRY(options.local, tool::local_address_value("-l", line.operands().front()));
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

tool::DeclaredOptions rsh_daemon_options_declared() { return tool::declared_by(add_rsh_daemon_options); }

std::string rsh_help_text() { return kRsh; }

std::string rsh_daemon_help_text() {
  return R"(udtcat rsh-daemon: runs what a list allows for whoever proves the key, until stopped

  udtcat rsh-daemon -l [ADDR:]PORT -k FILE --allow LIST
  udtcat rsh --daemon --port PORT --key-file FILE HOST COMMAND                 at the other end
  udr --key-file=FILE --port PORT rsync -a HOST::MODULE/ .                     there too

      --allow FILE           lines of the form TEXT = PROGRAM WORDS; # begins a comment. A command that is TEXT, byte by
                             byte, runs PROGRAM WORDS, without a shell; no other command is run
  -l, --listen [ADDR:]PORT   where it waits
  -k, --key-file FILE, --as, --peer, --peers, --protect, --cipher, --block, --lanes, --threads, --flows, --rate,
  --transport, --congestion, --offload, --memory, --idle-timeout, -4, -6, -v, --verbose, -q, --quiet, --stats, --check
                             see udtcat --help

A list for modules of rsync:
  rsync --server --daemon . = rsync --server --daemon --config=/etc/rsyncd.conf .
)";
}

}  // namespace udtcat::rsh
