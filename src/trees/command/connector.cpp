// SPDX-License-Identifier: Apache-2.0
#include "trees/command/connector.hpp"

#include <csignal>
#include <utility>

#include "lib/bridge/child_stream.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/process_setup.hpp"
#include "tool/requests.hpp"
#include "trees/command/tree_run.hpp"

namespace udtcat::trees {

namespace {

constexpr int kSshFailed = 255;  // spec: udtcat-rsh(1), EXIT STATUS: it has said why

}  // namespace

Connector::Connector(tool::SessionRun& run, const TreeOptions& options)
    : run_(run), options_(options), account_(make_account(run.console())) {}

Connector::~Connector() = default;

Status Connector::dial(std::optional<Credentials> credentials) {
  UDTCAT_TRY(DialRequest request, tool::make_dial_request(options_, std::move(credentials)));
  run_.wait_for("dialling " + tool::to_string(options_.peer));
  dialer_ = udtcat::dial(run_.io(), std::move(request), [this](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run_.finish(std::move(connection.error()));
    begin_session(std::move(*connection));
  });
  return {};
}

void Connector::begin() {
  const Transfer::Work work = [&options = options_, &account = *account_,
                               wishes = wishes_of(options_, connection_.get())](Wire& wire) {
    return options.role == Role::sends
               ? send_as_connector(wire, options.selection, options.place, wishes, account)
               : receive_as_connector(wire, options.selection.paths, options.directory, wishes, account);
  };
  transfer_ = std::make_unique<Transfer>(run_.io(), work, [this](const Status& worked) { on_worked(worked); });
  run_.measure([this](const ConnectionStats& /*of the stream*/) { return extent_of(*account_); });
}

void Connector::begin_session(std::unique_ptr<Connection> connection) {
  connection_ = std::move(connection);
  core::log().info("connected to {}", connection_->peer().to_string());
  connection_->on_closed([this](const Status& status) {
    closed_ = status;
    finish_if_over();
  });
  run_.follow(*connection_);
  begin();
  connection_->open_stream(transfer_->stream(), [this](const StreamOutcome& outcome) {
    outcome_ = outcome;
    transfer_->cut();
    if (!closed_) connection_->close();
    finish_if_over();
  });
}

Status Connector::start_ssh(std::uint64_t core_limit_bytes) {
  bridge::ChildRequest rsh{.program = "/proc/self/exe",
                           .words = {"udtcat", "rsh"},
                           .pipe_stderr = false,
                           .own_session = false,  // ssh may ask for a password
                           .core_limit_bytes = core_limit_bytes};
  rsh.words.insert(rsh.words.end(), options_.rsh_words.begin(), options_.rsh_words.end());
  for (const std::string& word : {std::string("-s"), options_.destination, std::string("trees")})
    rsh.words.push_back(word);
  UDTCAT_TRY(child_, bridge::ChildProcess::start(run_.io(), rsh, [this](const bridge::ChildEnd& end) {
               child_end_ = end;
               finish_if_over();
             }));
  auto pipes = child_->take_pipes();
  UDTCAT_TRY(child_stream_, bridge::ChildStream::make(run_.io(), *child_, std::move(pipes.input),
                                                      std::move(pipes.output), bridge::ChildProof::taken));
  begin();
  wire_stream_ = transfer_->stream();
  upwards_ = std::make_unique<bridge::Relay>(*wire_stream_, *child_stream_, [this](const auto& outcome) {
    if (outcome.write_error || outcome.read_error) on_relayed();
  });
  downwards_ = std::make_unique<bridge::Relay>(*child_stream_, *wire_stream_, [this](const auto& outcome) {
    if (outcome.write_error || outcome.read_error) on_relayed();
  });
  run_.watch([this] {
    ConnectionStats stats;
    (options_.role == Role::sends ? stats.bytes_sent : stats.bytes_received) = account_->moved_bytes;
    return stats;
  });
  run_.on_interrupt([this](const Error& why) {
    child_->signal(SIGTERM);
    transfer_->cut();
    run_.finish(why);
  });
  return {};
}

/// A direction has broken: the other is of no use.
void Connector::on_relayed() { transfer_->cut(); }

void Connector::on_worked(const Status& worked) {
  worked_ = worked;
  finish_if_over();
}

void Connector::finish_if_over() {
  const bool is_over = child_ ? child_end_.has_value() : outcome_ && closed_;
  if (!is_over || !worked_) return;
  // ssh, or `udtcat rsh`, has said why nothing came of it, or no more.
  if (!*worked_ && child_end_ && child_end_->status == kSshFailed)
    return run_.finish_as(account_->entries == 0 ? tool::ExitStatus::unreachable : tool::ExitStatus::peer_lost);
  const Status result = result_of(*worked_, outcome_, *account_);
  if (!result) return run_.finish(result.error());
  if (options_.verbosity > 0 || tool::SessionRun::person_watches(options_)) run_.say(sentence_of(*account_));
  run_.finish(std::nullopt);
}

}  // namespace udtcat::trees
