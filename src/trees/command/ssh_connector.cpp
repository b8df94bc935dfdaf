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

constexpr int kSshFailed = 255;  // spec: udtcat-rsh(1), EXIT STATUS: also of a far command that a signal has ended

}  // namespace

SshConnector::SshConnector(tool::SessionRun& run, const TreeOptions& options)
    : run_(run), options_(options), tally_(make_tally(run.console())) {}

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
  transfer_.emplace(
      run_.io(), *child_stream_, [this](Wire& wire) { return work_as_connector(options_, wire, *tally_, {}); },
      [this](const Status& worked) {
        worked_ = worked;
        finish_if_over();
      });
  show_progress();
  run_.on_interrupt([this](const Error& why) {
    child_->signal(SIGTERM);
    transfer_->cut();
    run_.finish(why);
  });
  return {};
}

void SshConnector::show_progress() {
  run_.watch([this] {
    ConnectionStats stats;
    (options_.role == Role::sends ? stats.bytes_sent : stats.bytes_received) = tally_->moved_bytes;
    return stats;
  });
  run_.measure([this](const ConnectionStats& /*of the stream*/) { return amount_of(*tally_); });
}

void SshConnector::finish_if_over() {
  if (!child_end_ || !worked_) return;
  const bool is_child_gone = child_end_->signal != 0 || child_end_->status == kSshFailed;
  const bool is_cut = !*worked_ && (worked_->error().code == Errc::connection_broken ||
                                    worked_->error().code == Errc::protocol_violated);  // which a cut message is
  if (is_child_gone && is_cut) {
    const bool has_begun = tally_->entries > 0 || tally_->bytes > 0;
    // ssh, or `udtcat rsh`, has said why.
    if (!has_begun) return run_.finish_as(tool::ExitStatus::unreachable);
    return run_.finish(Error{Errc::peer_lost,
                             (options_.role == Role::sends ? "send to " : "receive from ") + options_.destination,
                             "its end is gone"});
  }
  finish_run(run_, options_, result_of(*worked_, std::nullopt, *tally_), *tally_);
}

}  // namespace udtcat::trees
