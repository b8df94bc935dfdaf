// SPDX-License-Identifier: Apache-2.0
#include "trees/command/commands.hpp"

#include <filesystem>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "files/file_tree.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/process_setup.hpp"
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
  [[nodiscard]] Status prepare(bool /*has_key_candidate*/, tool::Console& console) override {
    if (options_.connect_mode != ConnectMode::ssh) tool::warn_of_protection(options_.session.protection, console);
    return {};
  }
  [[nodiscard]] Result<tool::Words> check_summary() const override {
    const bool sends = options_.role == Role::sends;
    if (sends && options_.connect_mode == ConnectMode::listen) UDTCAT_CHECK(files::FileTree::open(options_.directory));
    if (sends && options_.connect_mode != ConnectMode::listen) UDTCAT_CHECK(check(options_.selection));
    const std::string where =
        options_.connect_mode == ConnectMode::listen
            ? "peers that come to " +
                  tool::local_address_text(core::protocol_of(options_.transport.kind), options_.local, options_.family)
        : options_.connect_mode == ConnectMode::ssh
            ? fmt::format("{}, where ssh starts the other end, at UDP port {}", options_.ssh.destination,
                          ssh::to_string(options_.ports))
            : tool::to_string(options_.peer);
    const std::string what = !sends                                         ? "files into " + options_.directory
                             : options_.connect_mode == ConnectMode::listen ? "what is below " + options_.directory
                             : options_.selection.list ? "the files that " + *options_.selection.list + " lists"
                                                       : fmt::format("{}", fmt::join(options_.selection.paths, ", "));
    return tool::Words{fmt::format("{} {} {} {}", sends ? "sends" : "receives", what, sends ? "to" : "from", where)};
  }
  [[nodiscard]] ExitStatus run(FoundCredentials found, const RunContext& context) override {
    // A listener for many peers does not end with one of them.
    const bool is_one = options_.connect_mode != ConnectMode::listen || options_.once;
    SessionRun run(options_, context.console,
                   {.says_moved_when_cut = is_one, .how_to_go_on = is_one ? tool::kSameCommand : nullptr});
    tool::allow_descriptors(kDescriptors);
    if (options_.connect_mode == ConnectMode::listen) {
      TreeListener listener(run, options_);
      if (auto started = listener.start(std::move(found)); !started)
        return run.fail_to_start(std::move(started.error()));
      return run.run();
    }
    const bool makes_directory = options_.role == Role::receives && !std::filesystem::exists(options_.directory);
    auto ready = ready_to_dial(run);
    if (!ready) return run.fail_to_start(std::move(ready.error()));
    Connector connector(run, *ready);
    auto started = options_.connect_mode == ConnectMode::ssh ? connector.start_by_ssh(context.core_limit_bytes)
                                                             : connector.dial(std::move(found.credentials));
    const ExitStatus status = started ? run.run() : run.fail_to_start(std::move(started.error()));
    if (makes_directory && connector.entries() == 0) std::ignore = ::rmdir(options_.directory.c_str());  // it is empty
    return status;
  }

 private:
  /// Checks all that can fail at this end before the other one is dialled.
  [[nodiscard]] Result<TreeOptions> ready_to_dial(SessionRun& run) const {
    TreeOptions options = options_;
    if (options.role == Role::sends) {
      UDTCAT_TRY(options.selection, ready(std::move(options.selection)));
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
