// SPDX-License-Identifier: Apache-2.0
#include "trees/command/trees_server.hpp"

#include <utility>

#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "lib/core/log.hpp"
#include "tool/session_run.hpp"
#include "trees/command/relayed_transfer.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/command/tree_run.hpp"

namespace udtcat::trees {

namespace {

using tool::ExitStatus;
using tool::FoundCredentials;
using tool::JobContext;
using tool::SessionRun;

class ServerJob final : public tool::Job {
 public:
  [[nodiscard]] const tool::Options& options() const override { return options_; }
  [[nodiscard]] bool needs_key() const override { return false; }
  [[nodiscard]] ExitStatus run(FoundCredentials /*none*/, const JobContext& context) override {
    SessionRun run(options_, context.console);
    auto stdio = make_stdio_stream(run.io(), STDIN_FILENO, STDOUT_FILENO, {});
    if (!stdio) return run.fail_to_start(std::move(stdio.error()));
    // The near end is told by name of what could not be had, and names it.
    Tally tally([](const std::string& /*line*/) {});
    Wishes wishes = wishes_of(options_);
    wishes.waits = true;
    RelayedTransfer transfer(
        run.io(), **stdio, [&](Wire& wire) { return serve_account(wire, wishes, tally); },
        [&](const Status& worked) {
          if (!worked) core::log().info("{}", worked.error().message());  // the near end says it
          run.finish_as(worked ? ExitStatus::success : tool::exit_status_of(worked.error().code));
        });
    run.on_interrupt([&](const Error& why) {
      transfer.cut();
      run.finish(why);
    });
    return run.run();
  }

 private:
  const TreeOptions options_{};
};

}  // namespace

Result<std::unique_ptr<tool::Job>> parse_trees_server(const tool::Words& arguments) {
  if (!arguments.empty()) return tool::misplaced("trees-server", "udtcat rsh starts it, without arguments");
  return std::make_unique<ServerJob>();
}

}  // namespace udtcat::trees
