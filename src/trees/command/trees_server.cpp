// SPDX-License-Identifier: Apache-2.0
#include "trees/command/commands.hpp"

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>
#include <boost/asio/post.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/connection.hpp>

#include "lib/core/log.hpp"
#include "ssh/far_server.hpp"
#include "tool/run/session_run.hpp"
#include "trees/command/relayed_transfer.hpp"
#include "trees/command/transfer_session.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/command/tree_run.hpp"
#include "trees/transfer_roles.hpp"

namespace udtcat::trees {

namespace {

using tool::ExitStatus;
using tool::FoundCredentials;
using tool::RunContext;
using tool::SessionRun;

/// Counters that print nothing, since the near end reports missing names.
std::unique_ptr<TransferCounters> silent_counters() {
  return std::make_unique<TransferCounters>([](const std::string& /*line*/) {});
}

/// Waits for another process that has the same transfer under way, such as one whose near end was killed.
/// into   where alone it receives; empty: all of the account
TransferRole account_role(const std::string& into) {
  TransferOptions transfer = transfer_options_of({});
  transfer.waits = true;
  return
      [transfer = std::move(transfer), into](BlockingStream& stream, TransferCounters& counters, const PeerInfo& peer) {
        return into.empty() ? serve_account(stream, transfer, peer, counters)
                            : receive_for_login(stream, into, transfer, peer, counters);
      };
}

/// Serves one transfer of the account: of the peer that opens a stream first, or over ssh's pipes.
/// Threads: confined to the main thread.
class TreesServer {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  TreesServer(tool::SessionRun& run, const TreesServerOptions& options);

  /// errors: those of FarServer::start()
  [[nodiscard]] Status start() { return far_.start(); }

 private:
  void take(std::unique_ptr<Connection> connection);
  void on_over(const TransferSession& session);
  void serve_stdio();
  void finish(const Status& result);
  [[nodiscard]] bool abort_all(const Error& why);

  tool::SessionRun& run_;
  const TransferRole role_;
  std::list<std::unique_ptr<TransferSession>> sessions_;
  ssh::FarServer far_;
  std::unique_ptr<LocalStream> stdio_;
  std::optional<RelayedTransfer> relayed_;
};

TreesServer::TreesServer(tool::SessionRun& run, const TreesServerOptions& options)
    : run_(run),
      role_(account_role(options.into)),
      far_(run, options,
           {.on_connection = [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); },
            .on_request = [this](const ssh::ControlMessage& /*trees, whatever it says*/) { serve_stdio(); },
            .abort_all = [this](const Error& why) { return abort_all(why); }}) {}

void TreesServer::take(std::unique_ptr<Connection> connection) {
  auto& session = sessions_.emplace_back();
  session = std::make_unique<TransferSession>(run_.io(), std::move(connection), silent_counters(), role_,
                                              [this, &session] { on_over(*session); });
  session->connection().on_stream([this, &session = *session](StreamId id) {
    const bool is_new = !far_.is_chosen(session.connection());
    if (!far_.choose(session.connection()))
      return session.connection().abort({Errc::stream_refused, "begin a second transfer", "one is under way"});
    if (is_new) run_.watch_connection(session.connection());
    session.accept(id);
  });
}

void TreesServer::on_over(const TransferSession& session) {
  if (far_.is_chosen(session.connection())) return finish(session.result());
  far_.forget(session.connection());
  // Posted: the caller is the session itself.
  boost::asio::post(run_.io(), [this, &session] {
    std::erase_if(sessions_, [&session](const auto& each) { return each.get() == &session; });
  });
}

void TreesServer::serve_stdio() {
  auto stdio = make_stdio_stream(run_.io(), STDIN_FILENO, STDOUT_FILENO, {});
  if (!stdio) return run_.finish(std::move(stdio.error()));
  stdio_ = std::move(*stdio);
  relayed_.emplace(run_.io(), *stdio_, silent_counters(), role_, [this] { finish(*relayed_->result()); });
}

/// The near end prints the error.
void TreesServer::finish(const Status& result) {
  if (!result) core::log().info("{}", result.error().message());
  run_.finish_as(result ? ExitStatus::success : tool::exit_status_of(result.error().code));
}

bool TreesServer::abort_all(const Error& why) {
  if (relayed_) relayed_->cut();
  for (const auto& session : sessions_) session->connection().abort(why);
  return !sessions_.empty();
}

class ServerJob final : public tool::OptionsInvocation<TreesServerOptions> {
 public:
  using OptionsInvocation::OptionsInvocation;

  [[nodiscard]] bool needs_key() const override { return false; }  // it makes one
  [[nodiscard]] ExitStatus run(FoundCredentials /*none*/, const RunContext& context) override {
    ssh::name_this_host(context.console);
    SessionRun run(options_, context.console);  // where ssh carries the transfer the near end reads the status
    TreesServer server(run, options_);
    if (auto started = server.start(); !started) return run.fail_to_start(std::move(started.error()));
    return run.run();
  }
};

}  // namespace

Result<std::unique_ptr<tool::Invocation>> parse_trees_server(const tool::Words& arguments) {
  return tool::parse_as<ServerJob, parse_trees_server_options>(arguments);
}

}  // namespace udtcat::trees
