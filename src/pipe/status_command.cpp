// SPDX-License-Identifier: Apache-2.0
#include "pipe/commands.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "lib/core/try.hpp"
#include "pipe/service_check.hpp"
#include "pipe/status_query.hpp"
#include "tool/cli/signal_watch.hpp"
#include "tool/status/openmetrics.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat::pipe {

namespace {

std::string status_help() {
  return R"(udtcat status: who is connected to the udtcats of this host, since when, how fast, and who was refused

  udtcat status [--json | --openmetrics | --check NAME]

      --json                 an array of objects, one a process; udtcat-status(1) names their keys
      --openmetrics          metrics of all, for the textfile collector of node_exporter; --metrics of each serves them
      --check NAME           one line on the service of that --name, for a monitoring system: exit status 0 well,
                             1 warning, 2 critical, 3 unknown: not found, and some services may not be asked

A user sees his own processes and those whose --status-group he is in, root sees all.
)";
}

/// Whether this user may ask the process.
bool is_ours(const StatusAnswer& answer) {
  return answer.snapshot || answer.snapshot.error().code != Errc::local_connect_failed;
}

std::string nobody_text() {
  if (::geteuid() == 0) return "no udtcat is in service on this host";
  const passwd* const user = ::getpwuid(::geteuid());
  return fmt::format("no udtcat that {} may ask is in service on this host; root sees those of all",
                     user != nullptr ? user->pw_name : std::to_string(::geteuid()));
}

std::string answers_text(const std::vector<StatusAnswer>& answers, bool json) {
  std::string text;
  for (const StatusAnswer& answer : answers) {
    if (!answer.snapshot) continue;
    if (!text.empty()) text += json ? ",\n" : "\n";
    text += json ? tool::to_json(*answer.snapshot) : tool::to_text(*answer.snapshot);
  }
  return json ? "[" + text + "]\n" : text;
}

struct StatusOptions {
  bool json = false;
  bool openmetrics = false;
  std::string checked;  // the name of a service; empty: none
};

/// Of the processes that have answered: under their names those that nobody can call so himself. `# EOF`, a comment of
/// this format, tells a reader that it has all.
std::string metrics_text(const std::vector<StatusAnswer>& answers) {
  std::vector<tool::ProcessSnapshot> snapshots;
  for (const StatusAnswer& answer : answers) {
    if (!answer.snapshot) continue;
    tool::ProcessSnapshot& snapshot = snapshots.emplace_back(*answer.snapshot);
    if (!tool::is_place_of_services(answer.path)) snapshot.service.clear();
  }
  return tool::to_metrics(snapshots, tool::MetricsFormat::prometheus, std::chrono::system_clock::now()) + "# EOF\n";
}

class StatusInvocation final : public tool::Invocation {
 public:
  explicit StatusInvocation(StatusOptions status) : status_(std::move(status)) {}

  [[nodiscard]] const tool::Options& options() const override { return options_; }
  [[nodiscard]] bool needs_key() const override { return false; }
  [[nodiscard]] tool::ExitStatus run(tool::FoundCredentials /*none*/, const tool::RunContext& context) override {
    const tool::UnblockedSignals meanwhile;
    auto answers = ask_host_for_status();
    if (!status_.checked.empty()) return check(std::move(answers), context.console);
    const bool some_are_there = !answers.empty();
    std::erase_if(answers, [](const StatusAnswer& answer) { return !is_ours(answer); });
    for (const StatusAnswer& answer : answers)
      if (!answer.snapshot) context.console.line("udtcat: " + answer.snapshot.error().message());
    if (answers.empty() && !status_.json) context.console.line("udtcat: " + nobody_text());
    if (!status_.openmetrics) return tool::printed(answers_text(answers, status_.json), context.console);
    const tool::ExitStatus printed = tool::printed(metrics_text(answers), context.console);
    // An empty file would look like a host without services.
    const bool is_closed = answers.empty() && some_are_there;
    return is_closed && printed == tool::ExitStatus::success ? tool::ExitStatus::unreachable : printed;
  }

 private:
  [[nodiscard]] tool::ExitStatus check(std::vector<StatusAnswer> answers, tool::Console& console) const {
    const auto others = std::partition(answers.begin(), answers.end(), [](const StatusAnswer& answer) {
      return tool::is_place_of_services(answer.path);
    });
    const bool is_claimed = std::any_of(others, answers.end(), [this](const StatusAnswer& answer) {
      return answer.snapshot && answer.snapshot->service == status_.checked;
    });
    answers.erase(others, answers.end());
    const ServiceCheck found = check_service(status_.checked, answers, is_claimed);
    const tool::ExitStatus printed = tool::printed(found.line + '\n', console);
    return printed == tool::ExitStatus::success ? static_cast<tool::ExitStatus>(found.state) : printed;
  }

  const tool::Options options_;
  const StatusOptions status_;
};

void add_status_options(tool::CommandLine& line, StatusOptions& status) {
  line.flag("--json", status.json);
  line.flag("--openmetrics", status.openmetrics);
  line.value("--check", [&](const std::string& text) {
    return tool::store(tool::service_name_value("--check", text), status.checked);
  });
  line.exclusive("--json", "--openmetrics");
  line.exclusive("--json", "--check");
  line.exclusive("--openmetrics", "--check");
}

Result<std::unique_ptr<tool::Invocation>> parse_status(const tool::Words& arguments) {
  StatusOptions status;
  tool::CommandLine line("udtcat status");
  add_status_options(line, status);
  UDTCAT_CHECK(line.read(arguments));
  if (line.wants_help()) return nullptr;
  if (!line.operands().empty())
    return tool::misplaced("status \"" + line.operands().front() + "\"", "it has no arguments");
  return std::make_unique<StatusInvocation>(std::move(status));
}

}  // namespace

tool::Command status_command() {
  return {.words = {"status"}, .help = status_help, .parse = parse_status, .options = [] {
            return tool::declared_by(add_status_options);
          }};
}

}  // namespace udtcat::pipe
