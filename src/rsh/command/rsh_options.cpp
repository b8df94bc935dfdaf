#include "rsh/command/rsh_options.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "tool/option_values.hpp"
#include "tool/user_config.hpp"
#include "tool/written_options.hpp"

namespace udtcat::tool {

namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::milliseconds kAcceptPatience{30'000};  // spec: docs/spec/rsh.md §1

Result<WrittenOptions> split(const Words& words) {
  std::vector<const char*> argv{"udtcat"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return split_command_line(static_cast<int>(argv.size()), argv.data(), Dialect::rsh);
}

struct Separated {
  Words ours;
  Words of_ssh;
  std::string host;  // without the user
};

std::string host_of(std::string destination) {
  constexpr std::string_view kScheme = "ssh://";
  if (destination.starts_with(kScheme)) {
    destination.erase(0, kScheme.size());
    destination.erase(std::min(destination.find('/'), destination.size()));
    const auto port = destination.rfind(':');
    if (port != std::string::npos && destination.find(']', port) == std::string::npos) destination.erase(port);
  }
  if (const auto at = destination.rfind('@'); at != std::string::npos) destination.erase(0, at + 1);
  return destination;
}

/// ssh has no long options, so all of those before the destination are ours, and the rest is ssh's.
Result<Separated> separate(const Words& arguments) {
  Separated separated;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at].starts_with('-') && arguments[at] != "--"; ++at) {
    const std::string& word = arguments[at];
    const bool long_option = word.starts_with("--");
    const std::string name = word.substr(0, word.find('='));
    bool value_follows = false;
    if (long_option) {
      const auto valued = takes_value(name, Dialect::rsh);
      if (!valued)
        return fail(Errc::bad_argument, "option \"" + name + "\"", "neither ours nor ssh's; see udtcat-rsh(1)");
      value_follows = *valued && word.size() == name.size();
    } else {
      value_follows = rsh::takes_next_word(word);
    }
    Words& words = long_option ? separated.ours : separated.of_ssh;
    words.push_back(word);
    if (value_follows && at + 1 < arguments.size()) words.push_back(arguments[++at]);
  }
  std::size_t destination = at;
  if (destination < arguments.size() && arguments[destination] == "--") ++destination;
  if (destination < arguments.size()) separated.host = host_of(arguments[destination]);
  separated.of_ssh.insert(separated.of_ssh.end(), arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  return separated;
}

tl::unexpected<Error> misplaced(const std::string& option, std::string why) {
  return fail(Errc::bad_argument, option, std::move(why));
}

/// What belongs to other forms of udtcat.
Status check_foreign(const WrittenOptions& written, bool has_key) {
  if (written.plain || written.to || written.from || written.listen || written.send_only || written.recv_only ||
      written.exec)
    return misplaced("--plain, --to, --from, --exec, -l, --send-only or --recv-only", "not for remote commands");
  if (written.key_file && !has_key) return misplaced("-k, --key-file", "ssh brings a key of its own for each command");
  if ((written.as || written.peer) && !has_key) return misplaced("--as, --peer", "ssh says who is who; with --daemon");
  // Without a session's key anybody could give us a command.
  if (written.protect == "clear") return misplaced("--protect \"clear\"", "a remote command always proves the key");
  return {};
}

/// What both ends must agree in, or what the far end should do as we do. All of it has been read and found well formed.
Words far_options_of(const WrittenOptions& written) {
  Words words;
  const auto hand = [&](const char* name, const WrittenOptions::Text& text) {
    if (text) words.push_back(fmt::format("{}={}", name, *text));
  };
  hand("--port", written.port);
  hand("--protect", written.protect);
  hand("--cipher", written.cipher);
  hand("--block", written.block);
  hand("--lanes", written.lanes);
  hand("--rate", written.rate);
  hand("--congestion", written.congestion);
  hand("--memory", written.memory);
  hand("--idle-timeout", written.idle_timeout);
  for (int i = 0; i < written.verbose; ++i) words.emplace_back("-v");
  return words;
}

Status read_ports(const WrittenOptions& written, PortRange& ports) {
  if (!written.port) return {};
  auto range = parse_port_range(*written.port);
  if (!range) return tl::unexpected(std::move(range.error()));
  ports = *range;
  return {};
}

Status read_rsh(const WrittenOptions& written, RshOptions& options) {
  if (auto status = check_foreign(written, written.daemon); !status) return status;
  if (auto status = read_common_options(written, options.common); !status) return status;
  options.common.session.purpose = Purpose::rsh;
  if (auto status = read_ports(written, options.ports); !status) return status;
  if (!written.connect_timeout && !written.daemon) options.common.connect_timeout = kUdpPatience;
  options.common.closed_port_patience = options.common.connect_timeout;
  options.udp_host = written.udp_host;
  if (written.remote_udtcat) options.remote_program = *written.remote_udtcat;
  if (written.ssh) options.ssh_program = rsh::split_words(*written.ssh);
  if (options.ssh_program.empty()) return misplaced("--ssh", "needs a program, as in --ssh 'ssh -p 2222'");
  options.require_udp = written.require_udp;
  options.push = written.push;
  options.daemon = written.daemon;
  options.help = written.help;
  return {};
}

/// The line of the user's file that causes `error`, if one does.
Error blame(Error error, const std::vector<ConfiguredOption>& configured) {
  Words words;
  for (const ConfiguredOption& option : configured) {
    words.push_back(option.word);
    RshOptions ignored;
    const auto written = split(words);
    const Status status = written ? read_rsh(*written, ignored) : tl::unexpected(written.error());
    if (!status && status.error().message() == error.message()) return wrong_line(option.line, error.message());
  }
  return error;
}

}  // namespace

std::string to_string(const PortRange& range) {
  return range.first == range.last ? std::to_string(range.first) : fmt::format("{}-{}", range.first, range.last);
}

Result<PortRange> parse_port_range(const std::string& text) {
  const auto malformed = [&] {
    return bad_value("--port", text, "a port, or a range of them, as in 9000 or 9000-9100; 0 lets the system choose");
  };
  const auto number = [](std::string_view digits) -> std::optional<std::uint16_t> {
    std::uint16_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const auto dash = text.find_first_of("-:");
  const auto first = number(std::string_view(text).substr(0, dash));
  const auto last = dash == std::string::npos ? first : number(std::string_view(text).substr(dash + 1));
  if (!first || !last || *first > *last || (*first == 0 && *last != 0)) return malformed();
  return PortRange{*first, *last};
}

Result<RshOptions> parse_rsh_options(const Words& arguments, std::string_view user_config) {
  auto separated = separate(arguments);
  if (!separated) return tl::unexpected(std::move(separated.error()));
  auto configured = read_user_config(user_config, separated->host);
  if (!configured) return tl::unexpected(std::move(configured.error()));
  // Of an option written twice the last counts, so the command line goes last.
  Words ours;
  for (const ConfiguredOption& option : *configured) ours.push_back(option.word);
  ours.insert(ours.end(), separated->ours.begin(), separated->ours.end());
  const auto written = split(ours);
  if (!written) return tl::unexpected(blame(written.error(), *configured));
  RshOptions options;
  options.ssh_arguments = separated->of_ssh;
  options.host = separated->host;
  if (auto status = read_rsh(*written, options); !status)
    return tl::unexpected(blame(std::move(status.error()), *configured));
  options.far_options = far_options_of(*written);
  // It must still be there when we have given up UDP.
  options.far_options.push_back(
      fmt::format("--accept-timeout={}ms", (options.common.connect_timeout + kAcceptPatience).count()));
  if (options.help) return options;
  auto ssh = rsh::read_ssh_words(separated->of_ssh);
  if (!ssh) return tl::unexpected(std::move(ssh.error()));
  options.ssh = std::move(*ssh);
  if (options.ssh.quiet && written->verbose == 0) options.common.verbosity = -1;
  // Nobody asked for a progress line: what is on the terminal is the command's.
  if (!options.common.progress) options.common.progress = false;
  return options;
}

Result<RshServerOptions> parse_rsh_server_options(const Words& arguments) {
  const auto written = split(arguments);
  if (!written) return tl::unexpected(written.error());
  if (!written->operands.empty()) return misplaced("arguments", "rsh-server has none; it is started by udtcat rsh");
  RshServerOptions options;
  if (auto status = check_foreign(*written, false); !status) return tl::unexpected(status.error());
  if (auto status = read_common_options(*written, options.common); !status) return tl::unexpected(status.error());
  if (auto status = read_ports(*written, options.ports); !status) return tl::unexpected(status.error());
  options.common.session.purpose = Purpose::rsh;
  if (!options.common.accept_timeout) options.common.accept_timeout = kAcceptPatience;
  options.common.progress = false;
  return options;
}

Result<RshDaemonOptions> parse_rsh_daemon_options(const Words& arguments) {
  const auto written = split(arguments);
  if (!written) return tl::unexpected(written.error());
  RshDaemonOptions options;
  options.help = written->help;
  if (options.help) return options;
  if (auto status = read_common_options(*written, options.common); !status) return tl::unexpected(status.error());
  if (written->protect == "clear") return misplaced("--protect \"clear\"", "a remote command always proves the key");
  if (!written->listen || written->operands.size() != 1)
    return misplaced("rsh-daemon", "needs -l [ADDR:]PORT, as in udtcat rsh-daemon -l 9000 -k key --allow FILE");
  if (!written->allow) return misplaced("rsh-daemon", "needs --allow FILE, the list of what may be run");
  auto local = local_address_value("-l", written->operands.front());
  if (!local) return tl::unexpected(std::move(local.error()));
  options.common.command = Command::serve;
  options.common.local = *local;
  options.common.session.purpose = Purpose::rsh;
  options.allow = *written->allow;
  options.common.progress = false;
  return options;
}

}  // namespace udtcat::tool
