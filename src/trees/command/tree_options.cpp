// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_options.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/core/try.hpp"
#include "ssh/ssh_options.hpp"
#include "tool/cli/applications.hpp"
#include "trees/disk/entry_path.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

namespace {

using tool::CommandLine;
using tool::misplaced;
using tool::Words;

constexpr const char* kSendForms =
    "allowed: PATH... HOST PORT, PATH... [USER@]HOST:DIRECTORY, PATH... --via PLACE, or --serve DIRECTORY -l "
    "[ADDR:]PORT; see udtcat send --help";
constexpr const char* kReceiveForms =
    "allowed: -l [ADDR:]PORT [DIRECTORY], PATH... HOST PORT, [USER@]HOST:PATH..., or TICKET [DIRECTORY]; see udtcat "
    "receive --help";

constexpr std::array<const char*, 6> kSshOptions{"--port", "--udp-host", "--remote-udtcat",
                                                 "--ssh",  "--push",     "--require-udp"};
constexpr const char* kNeedsUdtcat =
    "send and receive need a login with a shell, or one that runs udtcat trees-server; for sftp alone there are udr "
    "scp and udr sftp";
constexpr std::size_t kMaxNamedPathsBytes = kMiB;  // spec: docs/spec/trees.md §1: what a message has room for
constexpr std::array<const char*, 8> kKeyOptions{"-k",     "--as",     "--peer",       "--peers",
                                                 "--once", "--ticket", "--new-ticket", "--trust-first"};

/// Whether the paths can be asked for at once.  spec: docs/spec/trees.md §1
bool fits_hello(const Words& paths) {
  std::size_t bytes = 0;
  for (const std::string& path : paths) bytes += path.size() + sizeof(std::uint16_t);
  const bool are_short =
      std::ranges::all_of(paths, [](const std::string& path) { return path.size() <= kMaxEntryPathBytes; });
  return are_short && paths.size() <= kMaxPaths && bytes <= kMaxNamedPathsBytes;
}

bool is_number(const std::string& word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

/// "host:dir", as scp has it: a colon before the first slash, and behind a bracket if there is one.
std::size_t colon_of(const std::string& word) {
  const auto begin = word.starts_with('[') || word.find("@[") != std::string::npos ? word.find(']') : 0;
  const auto colon = word.find(':', begin == std::string::npos ? 0 : begin);
  return colon == 0 || colon > word.find('/') ? std::string::npos : colon;
}

/// "[::1]:dir" and "user@[::1]:dir" go to ssh without their brackets.
Status read_destination(const std::string& text, TreeOptions& options) {
  std::string destination = text;
  if (destination.ends_with(']'))
    if (const auto open = destination.rfind('['); open != std::string::npos) {
      destination.pop_back();
      destination.erase(open, 1);
    }
  UDTCAT_CHECK(ssh::check_destination(destination));
  options.connect_mode = ConnectMode::ssh;
  options.ssh.destination = destination;
  options.host = ssh::host_of(destination);
  options.peer.host = options.host;
  return {};
}

Status read_host_and_port(Words& words, TreeOptions& options, const char* forms) {
  if (words.size() < 2 || !is_number(words.back())) {
    const bool may_be_host = options.role == Role::sends && words.size() > 1;
    const std::string missing =
        may_be_host ? fmt::format("a port is missing, as in {0} 9000, or by ssh a colon, as in {0}:; ", words.back())
                    : "";
    return misplaced(words.empty() ? "no arguments" : fmt::format("arguments \"{}\"", fmt::join(words, " ")),
                     missing + forms);
  }
  UDTCAT_TRY(options.peer, tool::host_and_port(words[words.size() - 2], words.back()));
  words.resize(words.size() - 2);
  return {};
}

/// HOST:9000, as the pipe takes it, would be a directory there.
Status check_is_no_port(const std::string& host, const std::string& path) {
  if (!is_number(path)) return {};
  return misplaced(
      fmt::format("\"{}:{}\"", host, path),
      fmt::format("a port stands apart, {} {}; a path of that name, by ssh, is {}:./{}", host, path, host, path));
}

/// With --via a word is a path, unless it can be nothing but a ticket.
bool is_ticket(const std::string& word, const TreeOptions& options) {
  return options.via ? Ticket::parse(word).has_value() : Ticket::is_meant(word);
}

/// A ticket is not beside what else says where the other end is.
Status take_ticket_alone(const CommandLine& line, const std::string& word, TreeOptions& options) {
  if (line.has("--serve"))
    return misplaced("a ticket and --serve",
                     "the end that has made the ticket waits for this one: send PATH... TICKET");
  return tool::take_ticket(line, word, options);
}

Status read_send_operands(const CommandLine& line, TreeOptions& options) {
  Words words = line.operands();
  const bool ends_with_ticket = !words.empty() && is_ticket(words.back(), options);
  const bool lists = options.selection.list.has_value();
  if (ends_with_ticket) {
    UDTCAT_CHECK(take_ticket_alone(line, words.back(), options));
    words.pop_back();
  } else if (options.listens || line.has("--serve")) {
    options.connect_mode = ConnectMode::listen;
    if (options.via && options.listens && line.has("--serve") && words.empty() && !lists) return {};
    if (!options.listens || !line.has("--serve") || words.size() != 1 || lists)
      return misplaced("send -l", "needs --serve DIRECTORY, and one argument, [ADDR:]PORT");
    return tool::store(tool::local_address_value("-l", words.front()), options.local);
  }
  const bool is_named = options.via || options.ticket.file;  // the other end, whatever the words are
  const auto colon = words.empty() || is_named ? std::string::npos : colon_of(words.back());
  if (is_named) {
    if (options.via) options.peer = *options.via;  // for messages
    options.ticket.may_be_made = !options.ticket.key && !options.ticket.file;
  } else if (colon != std::string::npos) {
    const std::string destination = words.back().substr(0, colon);
    options.place = words.back().substr(colon + 1);
    words.pop_back();
    UDTCAT_CHECK(read_destination(destination, options));
    UDTCAT_CHECK(check_is_no_port(destination, options.place));
  } else {
    UDTCAT_CHECK(read_host_and_port(words, options, kSendForms));
  }
  if (words.empty() && !lists)
    return misplaced("send",
                     fmt::format("a PATH is missing, as in udtcat send PATH {}",
                                 ends_with_ticket ? "TICKET" : fmt::format("{}", fmt::join(line.operands(), " "))));
  if (!words.empty() && lists) return misplaced("--files-from", "allowed without PATH only");
  options.selection.paths = std::move(words);
  return {};
}

/// udtcat receive TICKET [DIRECTORY], or --ticket FILE [DIRECTORY]: all that its sender sends.
Status read_ticket_operands(const CommandLine& line, TreeOptions& options) {
  Words words = line.operands();
  if (!options.ticket.file) {
    UDTCAT_CHECK(take_ticket_alone(line, words.front(), options));
    words.erase(words.begin());
  }
  if (words.size() + (line.has("--into") ? 1 : 0) > 1)
    return misplaced("receive by a ticket", "takes what its sender sends, and may have one DIRECTORY to put it in");
  if (!words.empty()) options.directory = words.front();
  return {};
}

Status read_receive_operands(const CommandLine& line, TreeOptions& options) {
  Words words = line.operands();
  if (options.ticket.file || (!words.empty() && is_ticket(words.front(), options)))
    return read_ticket_operands(line, options);
  if (options.listens) {
    options.connect_mode = ConnectMode::listen;
    if (options.via && words.size() + (line.has("--into") ? 1 : 0) <= 1) {
      if (!words.empty()) options.directory = words.front();
      return {};
    }
    if (words.empty() || words.size() + (line.has("--into") ? 1 : 0) > 2)
      return misplaced("receive -l", "needs [ADDR:]PORT, and may have DIRECTORY behind it");
    if (words.size() == 2) options.directory = words[1];
    return tool::store(tool::local_address_value("-l", words.front()), options.local);
  }
  if (options.via) {
    options.peer = *options.via;  // for messages
    options.selection.paths = std::move(words);
    options.ticket.may_be_made = options.selection.paths.empty();
    return {};
  }
  const auto colon = words.empty() ? std::string::npos : colon_of(words.front());
  if (colon != std::string::npos) {
    const std::string destination = words.front().substr(0, colon);
    UDTCAT_CHECK(read_destination(destination, options));
    for (const std::string& word : words) {
      const auto at = colon_of(word);
      if (at == std::string::npos || word.substr(0, at) != destination)
        return misplaced(fmt::format("\"{}\"", word),
                         fmt::format("allowed: paths of one host, as in {}:PATH; a directory here is --into DIRECTORY",
                                     destination));
      const std::string path = word.substr(at + 1);
      UDTCAT_CHECK(check_is_no_port(destination, path));
      options.selection.paths.push_back(path.empty() ? "." : path);
    }
    return {};
  }
  UDTCAT_CHECK(read_host_and_port(words, options, kReceiveForms));
  options.selection.paths = std::move(words);
  return {};
}

/// Refuses options that would do nothing.
Status check_places(const CommandLine& line, TreeOptions& options) {
  const bool by_ssh = options.connect_mode == ConnectMode::ssh;
  for (const char* name : kSshOptions)
    if (!by_ssh && line.has(name))
      return misplaced(name, "allowed with [USER@]HOST:… only, where ssh starts the other end");
  for (const char* name : kKeyOptions)
    if (by_ssh && line.has(name))
      return misplaced(name, "allowed with a PORT only; by ssh, ssh proves who both ends are");
  if (line.has("--once") && !options.listens) return misplaced("--once", "allowed with -l only");
  if (line.has("--accept-timeout") && !options.listens && !options.ticket.may_be_made)
    return misplaced("--accept-timeout", "allowed with -l only");
  if (options.ticket.wanted && !options.ticket.may_be_made)
    return misplaced("--new-ticket",
                     options.role == Role::sends
                         ? "allowed with PATH... --via PLACE only"
                         : "allowed with --via PLACE and without PATH: the other end says what it sends");
  if (line.has("--connect-timeout") && options.listens)
    return misplaced("--connect-timeout", "allowed with HOST PORT only; with -l it is --accept-timeout");
  if (by_ssh && options.session.protection == Protection::clear)
    return misplaced("--protect \"clear\"", "an end that ssh starts always proves the key");
  if (options.role == Role::sends && options.listens)
    for (const char* name : {"--owner", "--manifest", "--reread"})
      if (line.has(name)) return misplaced(name, "allowed at the end that receives; this one only serves");
  if (options.role == Role::receives && !fits_hello(options.selection.paths))
    return misplaced(fmt::format("{} paths", options.selection.paths.size()),
                     fmt::format("at most {} can be asked for, of {} bytes each, and {} MiB in all", kMaxPaths,
                                 kMaxEntryPathBytes, kMaxNamedPathsBytes / kMiB));
  return {};
}

void add_common_options(CommandLine& line, TreeOptions& options) {
  options.session.application = tool::kTrees;
  options.session.one_stream = true;
  options.is_chat = false;
  line.flag("-l,--listen", options.listens);
  line.flag("--once", options.once);
  line.flag("--owner", options.transfer.keeps_owners);
  line.flag("--reread", options.transfer.rereads);
  line.value("--manifest", options.transfer.manifest);
  line.value_is(":file");
  ssh::add_ssh_dial_options(line, options);
  line.flag("--require-udp", options.require_udp);
  add_key_options(line, options);
  add_protection_options(line, options);
  add_session_options(line, options);
  add_transport_options(line, options);
  add_bind_option(line, options);
  add_family_options(line, options);
  add_connect_timeout_option(line, options);
  add_via_options(line, options);
  add_ticket_options(line, options);
  add_accept_timeout_option(line, options);
  add_log_options(line, options);
  line.flag("--why", options.why);
  line.flag("--check", options.check);
  add_progress_options(line, options);
}

void add_last_checks(CommandLine& line, TreeOptions& options) {
  line.check([&] { return check_places(line, options); });
  line.check([&]() -> Status {
    options.shows_new_key = options.listens;
    options.limits.peers = options.limits.sessions_per_peer = options.once ? 1 : kMaxSessions;
    if (options.connect_mode != ConnectMode::ssh) return {};
    ssh::finish_ssh_dial_options(line, options);
    if (options.require_udp) UDTCAT_CHECK(ssh::require_udp(options));
    options.push_progress = options.progress;
    options.far_command = kFarCommand;
    options.needs_udtcat = kNeedsUdtcat;
    options.tries_udp = options.require_udp || line.has("--connect-timeout") || line.has("--udp-host");
    return {};
  });
}

void add_send_options(CommandLine& line, TreeOptions& options) {
  options.role = Role::sends;
  options.counterpart = "udtcat receive {host} {port}{options}";
  add_common_options(line, options);
  add_rate_option(line, options);
  line.value("--serve", options.directory);
  line.value_is(":directory");
  line.value("--files-from", options.selection.list);
  line.value_is(":file");
  line.check([&] { return read_send_operands(line, options); });
  add_last_checks(line, options);
}

void add_receive_options(CommandLine& line, TreeOptions& options) {
  options.role = Role::receives;
  options.counterpart = "udtcat send PATH... {host} {port}{options}";
  add_common_options(line, options);
  line.value("--into", options.directory);
  line.value_is(":directory");
  line.value("--limit", [&](const std::string& text) -> Status {
    constexpr std::size_t kMostBytes = std::numeric_limits<std::int64_t>::max();  // spec: POSIX off_t
    UDTCAT_TRY(options.transfer.limit_bytes, tool::size_value("--limit", text, 1, kMostBytes));
    return {};
  });
  line.check([&] { return read_receive_operands(line, options); });
  add_last_checks(line, options);
}

void add_verify_options(CommandLine& line, VerifyOptions& options) {
  add_log_options(line, options);
  add_progress_options(line, options);
  line.check([&]() -> Status {
    const Words& words = line.operands();
    if (words.empty() || words.size() > 2) return misplaced("verify", "allowed: MANIFEST [DIRECTORY]");
    options.manifest = words.front();
    if (words.size() == 2) options.directory = words[1];
    return {};
  });
}

/// Options of rsync that people try here.
Error with_rsyncs(Error error) {
  for (const char* name : {"--delete", "--exclude", "--include", "--dry-run"})
    if (error.what.starts_with(fmt::format("option \"{}", name)))
      error.cause = fmt::format("unknown here; udr rsync {} does that", name);
  return error;
}

void add_server_options(CommandLine& line, TreesServerOptions& options) {
  options.session.application = tool::kTrees;
  options.session.one_stream = true;
  ssh::add_far_options(line, options);
  line.value("--into", options.into);
}

template <typename Options>
Result<Options> parse(const char* command, void (*add)(CommandLine&, Options&), const Words& arguments) {
  Options options;
  CommandLine line(command);
  add(line, options);
  if (const Status read = line.read(arguments); !read) return tl::unexpected(with_rsyncs(read.error()));
  options.help = line.wants_help();
  return options;
}

}  // namespace

Result<TreeOptions> parse_send_options(const Words& arguments) {
  return parse("udtcat send", add_send_options, arguments);
}
Result<TreeOptions> parse_receive_options(const Words& arguments) {
  return parse("udtcat receive", add_receive_options, arguments);
}
Result<VerifyOptions> parse_verify_options(const Words& arguments) {
  return parse("udtcat verify", add_verify_options, arguments);
}

Result<TreesServerOptions> parse_trees_server_options(const Words& arguments) {
  TreesServerOptions options;
  CommandLine line("udtcat trees-server");
  add_server_options(line, options);
  UDTCAT_CHECK(line.read(arguments));
  if (line.wants_help() || !line.operands().empty())
    return misplaced("arguments", "trees-server has none; it is started by udtcat send and udtcat receive");
  return options;
}

tool::DeclaredOptions send_options_declared() { return tool::declared_by(add_send_options); }
tool::DeclaredOptions receive_options_declared() { return tool::declared_by(add_receive_options); }
tool::DeclaredOptions verify_options_declared() { return tool::declared_by(add_verify_options); }

}  // namespace udtcat::trees
