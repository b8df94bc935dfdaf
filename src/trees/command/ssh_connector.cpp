// SPDX-License-Identifier: Apache-2.0
#include "trees/command/ssh_connector.hpp"

#include <csignal>
#include <utility>

#include "lib/bridge/child_stream.hpp"
#include "lib/core/try.hpp"
#include "tool/process_setup.hpp"
#include "trees/command/tree_run.hpp"

namespace udtcat::trees {

namespace {

constexpr int kSshFailed = 255;  // spec: udtcat-rsh(1), EXIT STATUS: it has said why

}  // namespace

SshConnector::SshConnector(tool::SessionRun& run, const TreeOptions& options)
    : run_(run), options_(options), account_(make_account(run.console())) {}

SshConnector::~SshConnector() = default;

Status SshConnector::start(std::uint64_t core_limit_bytes) {
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
  show_progress();
  run_.on_interrupt([this](const Error& why) {
    child_->signal(SIGTERM);
    transfer_->cut();
    run_.finish(why);
  });
  return {};
}

void SshConnector::begin() {
  transfer_ = std::make_unique<Transfer>(
      run_.io(), [this](Wire& wire) { return work_as_connector(options_, wire, *account_, {}); },
      [this](const Status& worked) {
        worked_ = worked;
        finish_if_over();
      });
  wire_stream_ = transfer_->stream();
  upwards_ = std::make_unique<bridge::Relay>(*wire_stream_, *child_stream_,
                                             [this](const auto& outcome) { on_relayed(outcome); });
  downwards_ = std::make_unique<bridge::Relay>(*child_stream_, *wire_stream_,
                                               [this](const auto& outcome) { on_relayed(outcome); });
}

void SshConnector::show_progress() {
  run_.watch([this] {
    ConnectionStats stats;
    (options_.role == Role::sends ? stats.bytes_sent : stats.bytes_received) = account_->moved_bytes;
    return stats;
  });
  run_.measure([this](const ConnectionStats& /*of the stream*/) { return extent_of(*account_); });
}

/// A direction that has broken makes the other one useless.
void SshConnector::on_relayed(const bridge::Relay::Outcome& outcome) {
  if (outcome.write_error || outcome.read_error) transfer_->cut();
}

void SshConnector::finish_if_over() {
  if (!child_end_ || !worked_) return;
  // ssh, or `udtcat rsh`, has said why nothing came of it, or no more.
  if (!*worked_ && child_end_->status == kSshFailed)
    return run_.finish_as(account_->entries == 0 ? tool::ExitStatus::unreachable : tool::ExitStatus::peer_lost);
  finish_run(run_, options_, result_of(*worked_, std::nullopt, *account_), *account_);
}

}  // namespace udtcat::trees
