// SPDX-License-Identifier: Apache-2.0
#include "trees/command/commands.hpp"

#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "files/file_tree.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/process_setup.hpp"
#include "tool/cli/user_files.hpp"
#include "tool/identity/ticket_lookup.hpp"
#include "tool/program/check_summary.hpp"
#include "tool/run/session_run.hpp"
#include "tool/run/warnings.hpp"
#include "trees/command/connector.hpp"
#include "trees/command/tree_listener.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/manifest_log.hpp"

namespace udtcat::trees {

namespace {

using tool::ExitStatus;
using tool::FoundCredentials;
using tool::RunContext;
using tool::SessionRun;

constexpr std::uint64_t kDescriptors = 4096;  // guess: a few for each transfer

class TreeJob final : public tool::OptionsInvocation<TreeOptions> {
 public:
  using OptionsInvocation::OptionsInvocation;

  [[nodiscard]] bool starts_programs() const override { return options_.connect_mode == ConnectMode::ssh; }
  [[nodiscard]] bool needs_key() const override { return options_.connect_mode != ConnectMode::ssh; }
  [[nodiscard]] Status prepare(bool has_key_candidate, tool::Console& console) override {
    UDTCAT_CHECK(tool::read_ticket(options_));
    UDTCAT_TRY(const bool makes_ticket, tool::makes_ticket(options_, has_key_candidate));
    if (makes_ticket) UDTCAT_CHECK(wait_by_ticket());
    if (!makes_ticket && options_.accept_timeout && options_.connect_mode == ConnectMode::dial)
      return tool::misplaced("--accept-timeout",
                             "this user has a key, by which this end connects and does not wait; --new-ticket makes a "
                             "ticket all the same");
    if (options_.connect_mode != ConnectMode::ssh) tool::warn_of_protection(options_.session.protection, console);
    return {};
  }
  [[nodiscard]] Result<tool::Words> check_summary() const override {
    const bool sends = options_.role == Role::sends;
    const bool serves = options_.connect_mode == ConnectMode::listen && !options_.ticket.made;
    if (sends && serves) UDTCAT_CHECK(files::FileTree::open(options_.directory));
    if (sends && !serves) UDTCAT_CHECK(check(options_.selection));
    const std::string where =
        options_.ticket.made                    ? "the end that has the ticket, at " + to_string(*options_.via)
        : options_.ticket.file && !options_.via ? "the end that has made the ticket in " + *options_.ticket.file
        : options_.connect_mode == ConnectMode::listen
            ? "peers that come to " +
                  tool::local_address_text(core::protocol_of(options_.transport.kind), options_.local, options_.family)
        : options_.connect_mode == ConnectMode::ssh
            ? fmt::format("{}, where ssh starts the other end, at UDP port {}", options_.ssh.destination,
                          ssh::to_string(options_.ports))
            : to_string(options_.peer);
    const std::string what = !sends                    ? "files into " + options_.directory
                             : serves                  ? "what is below " + options_.directory
                             : options_.selection.list ? "the files that " + *options_.selection.list + " lists"
                                                       : fmt::format("{}", fmt::join(options_.selection.paths, ", "));
    return tool::Words{fmt::format("{} {} {} {}", sends ? "sends" : "receives", what, sends ? "to" : "from", where)};
  }
  [[nodiscard]] ExitStatus run(FoundCredentials found, const RunContext& context) override {
    // A listener for many peers does not end with one of them.
    const bool is_one = options_.connect_mode != ConnectMode::listen || options_.once;
    SessionRun run(options_, context.console,
                   {.says_moved_when_cut = is_one, .how_to_go_on = is_one ? how_to_go_on() : nullptr});
    tool::allow_descriptors(kDescriptors);
    if (options_.connect_mode == ConnectMode::listen) {
      const auto options = options_.ticket.made ? ready(run) : options_;
      if (!options) return run.fail_to_start(options.error());
      TreeListener listener(run, *options);
      if (auto started = listener.start(std::move(found)); !started)
        return run.fail_to_start(std::move(started.error()));
      return run.run();
    }
    const bool makes_directory = options_.role == Role::receives && tool::is_missing(options_.directory);
    auto options = ready(run);
    if (!options) return run.fail_to_start(std::move(options.error()));
    Connector connector(run, *options);
    auto started = options_.connect_mode == ConnectMode::ssh ? connector.start_by_ssh(context.core_limit_bytes)
                                                             : connector.dial(std::move(found.credentials));
    const ExitStatus status = started ? run.run() : run.fail_to_start(std::move(started.error()));
    if (makes_directory && connector.entries() == 0) std::ignore = ::rmdir(options_.directory.c_str());  // it is empty
    return status;
  }

 private:
  [[nodiscard]] const char* how_to_go_on() const {
    const bool by_ticket = options_.ticket.made || options_.ticket.key;
    return by_ticket ? "the same by a new ticket goes on where this one was cut" : tool::kSameCommand;
  }
  /// The listener of one transfer, of what a connector would send or receive.
  [[nodiscard]] Status wait_by_ticket() {
    std::string counterpart = options_.role == Role::sends ? "udtcat receive {ticket}" : "udtcat send PATH... {ticket}";
    // The receiver says so where it connects.
    if (options_.role == Role::sends && options_.transfer.keeps_owners) counterpart += " --owner";
    if (options_.role == Role::sends && options_.transfer.rereads) counterpart += " --reread";
    UDTCAT_CHECK(tool::become_ticket_listener(counterpart + "{options}", options_));
    options_.connect_mode = ConnectMode::listen;
    options_.once = true;
    options_.limits.peers = options_.limits.sessions_per_peer = 1;
    return {};
  }
  /// Checks all that can fail at this end before the other one is dialled, or waited for.
  [[nodiscard]] Result<TreeOptions> ready(SessionRun& run) const {
    TreeOptions options = options_;
    if (options.role == Role::sends) {
      UDTCAT_TRY(options.selection, trees::ready(std::move(options.selection)));
      if (options.selection.listed && options.selection.listed->empty())
        run.say("the list of files " + *options.selection.list + " names nothing");
    } else {
      UDTCAT_CHECK(files::FileTree::make(options.directory));
    }
    if (options.transfer.manifest) UDTCAT_CHECK(ManifestLog::create(*options.transfer.manifest));
    return options;
  }
};

}  // namespace

tool::Commands commands() {
  return {{.words = {"send"},
           .help = send_help_text,
           .parse = tool::parse_as<TreeJob, parse_send_options>,
           .options = send_options_declared,
           .operands = ":file... :host"},
          {.words = {"receive"},
           .help = receive_help_text,
           .parse = tool::parse_as<TreeJob, parse_receive_options>,
           .options = receive_options_declared,
           .operands = ":host :directory"},
          {.words = {"verify"},
           .help = verify_help_text,
           .parse = parse_verify,
           .options = verify_options_declared,
           .operands = ":file :directory"},
          {.words = {"trees-server"}, .help = receive_help_text, .parse = parse_trees_server}};
}

}  // namespace udtcat::trees
