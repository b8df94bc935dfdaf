#include "tool/commands.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <udtcat/udtcat.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/notices.hpp"

namespace udtcat::tool {

namespace {

/// A listener whose output goes to a file takes nothing from the terminal: that stdin would only hold up the end.
void leave_terminal_unread(PipeOptions& options) {
  auto& session = options.session;
  if (options.form != Form::listen || options.exec || !session.sends || !session.receives) return;
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) == 1) return;
  session.sends = false;
  core::log().info("stdin is a terminal and stdout is not: as with --recv-only, stdin is not read");
}

class PipeTask final : public Task {
 public:
  explicit PipeTask(PipeOptions options) : options_(std::move(options)) {}

  [[nodiscard]] const Options& options() const override { return options_; }
  [[nodiscard]] bool starts_programs() const override { return options_.exec.has_value(); }
  [[nodiscard]] bool needs_key() const override {
    return !options_.plain && options_.form != Form::version && options_.form != Form::keygen;
  }
  [[nodiscard]] Status prepare(bool /*has_environment_key*/, Console& console) override {
    // Even a user who wants to hear nothing hears that nothing protects him.
    if (options_.plain)
      console.line("udtcat: " + plain_notice());
    else
      say_what_is_open(options_, console);
    leave_terminal_unread(options_);
    return {};
  }
  [[nodiscard]] ExitStatus run(FoundKey key, const Surroundings& surroundings) override {
    options_.core_limit_bytes = surroundings.core_limit_bytes;
    if (options_.plain) return plain_command(options_, surroundings.console);
    switch (options_.form) {
      case Form::version:
        return printed(fmt::format("udtcat {}\n", version()), surroundings.console);
      case Form::keygen:
        return keygen_command(surroundings.console);
      case Form::listen:
        return listen_command(options_, std::move(key), surroundings.console);
      case Form::serve:
        return serve_command(options_, std::move(key), surroundings.console);
      case Form::forward:
        return forward_command(options_, std::move(key), surroundings.console);
      default:
        return connect_command(options_, std::move(key), surroundings.console);
    }
  }

 private:
  PipeOptions options_;
};

Result<std::unique_ptr<Task>> parse(const Words& arguments) {
  UDTCAT_TRY(PipeOptions options, parse_pipe_options(arguments));
  if (options.form == Form::help) return nullptr;
  return std::make_unique<PipeTask>(std::move(options));
}

}  // namespace

void say_what_is_open(const Options& options, Console& console) {
  const auto notice = protection_notice(options.session.protection);
  if (!notice) return;
  if (options.session.protection == Protection::clear)
    console.line("udtcat: " + *notice);
  else
    core::log().warn("{}", *notice);
}

Commands commands() { return {{.words = {}, .help = help_text, .parse = parse}}; }

}  // namespace udtcat::tool
