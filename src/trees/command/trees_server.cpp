// SPDX-License-Identifier: Apache-2.0
#include "trees/command/trees_server.hpp"

#include <optional>
#include <utility>

#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/relay.hpp"
#include "lib/core/log.hpp"
#include "tool/session_run.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/command/tree_run.hpp"
#include "trees/transfer.hpp"

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
    Account account([](const std::string& /*line*/) {});
    Wishes wishes = wishes_of(options_);
    wishes.waits = true;
    std::optional<Status> worked;
    bool is_sent = false;
    const auto finish_if_over = [&] {
      if (!worked || !is_sent) return;
      if (!*worked) core::log().info("{}", worked->error().message());  // the near end says it
      run.finish_as(*worked ? ExitStatus::success : tool::exit_status_of(worked->error().code));
    };
    Transfer transfer(
        run.io(), [&](Wire& wire) { return serve_account(wire, wishes, account); },
        [&](const Status& result) {
          worked = result;
          finish_if_over();
        });
    const auto stream = transfer.stream();
    const auto on_over = [&](const bridge::Relay::Outcome& outcome) {
      if (outcome.read_error || outcome.write_error) transfer.cut();
    };
    const bridge::Relay inwards(**stdio, *stream, on_over);
    const bridge::Relay outwards(*stream, **stdio, [&](const bridge::Relay::Outcome& outcome) {
      on_over(outcome);
      is_sent = true;
      finish_if_over();
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
