// SPDX-License-Identifier: Apache-2.0
#include "rsh/remote_command.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::rsh {

namespace {

// spec: docs/spec/rsh.md §5: before the session is broken off
constexpr auto kFarEndGrace = std::chrono::milliseconds(500);

tool::ExitStatus status_of(int number) { return static_cast<tool::ExitStatus>(number); }

}  // namespace

RemoteCommand::RemoteCommand(tool::SessionRun& run, const RemoteCommandOptions& options, std::uint64_t core_limit_bytes)
    : run_(run),
      options_(options),
      patience_(run.io()),
      dial_(run, options, core_limit_bytes,
            {.on_connection = [this](std::unique_ptr<Connection> connection) { begin(std::move(connection)); },
             .on_no_session = [this](Error why) { go_without_session(std::move(why)); },
             .on_plain = [this](Error why) { leave_to_ssh(std::move(why)); },
             .on_no_far_end =
                 [this](const Error& error, std::optional<int> status) {
                   // Nothing is said where ssh itself failed: it has said why.
                   if (status == ssh::kSshFailed) return run_.finish_as(tool::ExitStatus::own_failure);
                   run_.finish(error);
                 }}) {}

Status RemoteCommand::start() {
  run_.on_interrupt([this](const Error& why) { interrupt(why); });
  return dial_.start();
}

void RemoteCommand::begin(std::unique_ptr<Connection> connection) {
  core::log().info("connected to {}", connection->peer().to_string());
  near_ = std::make_unique<NearEnd>(run_.io(), std::move(connection),
                                    [this](Result<CommandEnd> end) { conclude(std::move(end)); });
  run_.watch_connection(near_->connection());
  if (auto started = near_->start(ssh::request_of(options_.ssh), !options_.ssh.without_input); !started)
    return run_.finish(std::move(started.error()));
  if (!options_.require_udp) ssh_path_.emplace(run_, near_->connection(), dial_, options_.host);
}

void RemoteCommand::conclude(Result<CommandEnd> end) {
  if (ssh_path_) ssh_path_->conclude();
  // An ssh that has lost the path, too, would wait longer than we do.
  dial_.leave([this, end = std::move(end)]() mutable { finish(std::move(end)); });
}

void RemoteCommand::finish(Result<CommandEnd> end) {
  if (!end) return run_.finish(std::move(end.error()));
  if (!end->status) core::log().info("the remote command was ended by SIG{}", end->signal_name);
  // As with ssh, a command that was ended by a signal has no status.
  run_.finish_as(end->status ? status_of(*end->status) : tool::ExitStatus::own_failure);
}

/// why   its cause is advice
void RemoteCommand::go_without_session(Error why) {
  if (options_.require_udp) return run_.finish(std::move(why));
  run_.say(fmt::format("{}: going on over ssh itself; {}", why.what, why.cause));
  over_ssh_.emplace(run_.io(), dial_.ssh(), [this](int status) { run_.finish_as(status_of(status)); });
  auto started = over_ssh_->start(ssh::request_of(options_.ssh), !options_.ssh.without_input);
  if (!started) run_.finish(std::move(started.error()));
}

/// why   its cause is advice
void RemoteCommand::leave_to_ssh(Error why) {
  if (options_.require_udp) return run_.finish(std::move(why));
  run_.say(fmt::format("{}: going on over ssh itself; {}", why.what, why.cause));
  plain_ssh_ = dial_.plain_ssh();
  run_.finish_as(tool::ExitStatus::own_failure);  // until ssh has our place
}

/// The command gets the signal and may end in its own way; then the session is broken off, which ends it.
void RemoteCommand::interrupt(const Error& why) {
  if (near_ == nullptr) return dial_.end([this, why] { run_.finish(why); });
  if (const auto name = ssh::signal_name(run_.signal())) near_->deliver(*name);
  patience_.expires_after(kFarEndGrace);
  patience_.async_wait([this, why](const boost::system::error_code& cancelled) {
    if (!cancelled) near_->abort(why);
  });
}

}  // namespace udtcat::rsh
