// SPDX-License-Identifier: Apache-2.0
#include "pipe/commands.hpp"

#include <memory>
#include <string>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "lib/core/try.hpp"
#include "pipe/status_query.hpp"
#include "tool/cli/signal_watch.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat::pipe {

namespace {

std::string status_help() {
  return R"(udtcat status: who is connected to the udtcats of this host, since when, how fast, and who was refused

  udtcat status [--json]

      --json                 an array of objects, one a process; udtcat-status(1) names their keys

A user sees his own processes, root sees all.
)";
}

/// Whether this user may ask the process.
bool is_ours(const StatusAnswer& answer) {
  return answer.snapshot || answer.snapshot.error().code != Errc::local_connect_failed;
}

std::string nobody_text() {
  if (::geteuid() == 0) return "no udtcat is in service on this host";
  const passwd* const user = ::getpwuid(::geteuid());
  return fmt::format("no udtcat of {} is in service on this host; root sees those of all",
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

class StatusInvocation final : public tool::Invocation {
 public:
  explicit StatusInvocation(bool json) : json_(json) {}

  [[nodiscard]] const tool::Options& options() const override { return options_; }
  [[nodiscard]] bool needs_key() const override { return false; }
  [[nodiscard]] tool::ExitStatus run(tool::FoundCredentials /*none*/, const tool::RunContext& context) override {
    const tool::UnblockedSignals meanwhile;
    auto answers = ask_host_for_status();
    std::erase_if(answers, [](const StatusAnswer& answer) { return !is_ours(answer); });
    for (const StatusAnswer& answer : answers)
      if (!answer.snapshot) context.console.line("udtcat: " + answer.snapshot.error().message());
    if (answers.empty() && !json_) context.console.line("udtcat: " + nobody_text());
    return tool::printed(answers_text(answers, json_), context.console);
  }

 private:
  const tool::Options options_;
  const bool json_;
};

void add_status_options(tool::CommandLine& line, bool& json) { line.flag("--json", json); }

Result<std::unique_ptr<tool::Invocation>> parse_status(const tool::Words& arguments) {
  bool json = false;
  tool::CommandLine line("udtcat status");
  add_status_options(line, json);
  UDTCAT_CHECK(line.read(arguments));
  if (line.wants_help()) return nullptr;
  if (!line.operands().empty())
    return tool::misplaced("status \"" + line.operands().front() + "\"", "it has no arguments");
  return std::make_unique<StatusInvocation>(json);
}

}  // namespace

tool::Command status_command() {
  return {.words = {"status"}, .help = status_help, .parse = parse_status, .options = [] {
            return tool::declared_by(add_status_options);
          }};
}

}  // namespace udtcat::pipe
