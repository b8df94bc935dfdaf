// SPDX-License-Identifier: Apache-2.0
#include "trees/command/connector.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/run/endpoint_setup.hpp"
#include "trees/command/tree_run.hpp"

namespace udtcat::trees {

namespace {

constexpr int kSignalBase = 128;  // spec: a shell's, of a program that a signal ended, is more; and so is ssh's 255

/// Whether the other end of a transfer over ssh has gone in the midst of it: a wire that broke says only that it did,
/// and a message that was cut looks like one that violates the protocol.
bool is_cut(const Status& worked, int ssh_status) {
  if (worked) return false;
  const bool is_killed = ssh_status > kSignalBase;
  return (worked.error().code == Errc::connection_broken && ssh_status != 0) ||
         (worked.error().code == Errc::protocol_violated && is_killed);
}

}  // namespace

Status Connector::dial(std::optional<Credentials> credentials) {
  UDTCAT_TRY(DialRequest request, tool::make_dial_request(options_, std::move(credentials)));
  run_.wait_for("dialling " + tool::to_string(options_.peer));
  dialer_ = udtcat::dial(run_.io(), std::move(request), [this](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run_.finish(std::move(connection.error()));
    begin_session(std::move(*connection));
  });
  return {};
}

Status Connector::start_by_ssh(std::uint64_t core_limit_bytes) {
  run_.on_interrupt([this](const Error& why) { interrupt(why); });
  dial_.emplace(
      run_, options_, core_limit_bytes,
      ssh::SshDial::Handlers{
          .on_connection = [this](std::unique_ptr<Connection> connection) { begin_session(std::move(connection)); },
          .on_no_session = [this](Error why) { relay(std::move(why)); },
          .on_plain = [this](Error why) { run_.finish(std::move(why)); },
          .on_no_far_end = [this](const Error& error,
                                  std::optional<int> status) { ssh::finish_without_far_end(run_, error, status); }});
  return dial_->start().map_error([](Error error) {
    if (error.code == Errc::local_connect_failed) error.code = Errc::cannot_reach;  // there is no ssh
    return error;
  });
}

void Connector::begin_session(std::unique_ptr<Connection> connection) {
  core::log().info("connected to {}", connection->peer().to_string());
  const auto work = [&options = options_](Wire& wire, Tally& tally, const OtherEnd& other) {
    return work_as_connector(options, wire, tally, other);
  };
  session_.emplace(run_.io(), std::move(connection), make_tally(run_.console()), work, [this] { on_over(); });
  run_.follow(session_->connection());
  run_.measure([this](const ConnectionStats& /*of the stream*/) { return amount_of(session_->tally()); });
  session_->open();
  if (dial_ && !options_.require_udp) ssh_path_.emplace(run_, session_->connection(), *dial_, options_.host);
}

void Connector::on_over() {
  if (ssh_path_) ssh_path_->conclude();
  if (!dial_) return finish_run(run_, options_, session_->result(), session_->tally());
  // An ssh that has lost the path, too, would wait longer than we do.
  dial_->leave([this] { finish_run(run_, options_, session_->result(), session_->tally()); });
}

/// why   its cause is advice
void Connector::relay(Error why) {
  if (options_.require_udp || !dial_->ssh().has_far_end()) return run_.finish(std::move(why));
  run_.say(fmt::format("{}: going on over ssh itself; {}", why.what, why.cause));
  relayed_.emplace(Relayed{.tally = make_tally(run_.console())});
  const auto begin = [this] {
    relayed_->transfer = std::make_unique<RelayedTransfer>(
        run_.io(), dial_->ssh().pipes(),
        [this, &tally = *relayed_->tally](Wire& wire) { return work_as_connector(options_, wire, tally, {}); },
        [this](const Status& worked) {
          relayed_->worked = worked;
          finish_relayed_if_over();
        });
    show_relayed();
  };
  dial_->ssh().hand_over(encode(ssh::RunSubsystem{kSubsystem}), begin, [this](int status) {
    relayed_->ssh_status = status;
    finish_relayed_if_over();
  });
}

void Connector::show_relayed() {
  run_.watch([this] {
    ConnectionStats stats;
    (options_.role == Role::sends ? stats.bytes_sent : stats.bytes_received) = relayed_->tally->moved_bytes;
    return stats;
  });
  run_.measure([this](const ConnectionStats& /*of the stream*/) { return amount_of(*relayed_->tally); });
}

void Connector::finish_relayed_if_over() {
  const Relayed& relayed = *relayed_;
  if (!relayed.ssh_status || (relayed.transfer && !relayed.worked)) return;
  if (relayed.worked && !is_cut(*relayed.worked, *relayed.ssh_status))
    return finish_run(run_, options_, result_of(*relayed.worked, std::nullopt, *relayed.tally), *relayed.tally);
  const bool has_begun = relayed.tally->entries > 0 || relayed.tally->bytes > 0;
  // ssh has said why.
  if (!has_begun && relayed.ssh_status == ssh::kSshFailed) return run_.finish_as(tool::ExitStatus::unreachable);
  run_.finish(Error{Errc::peer_lost,
                    (options_.role == Role::sends ? "send to " : "receive from ") + options_.ssh.destination,
                    "its end is gone"});
}

void Connector::interrupt(const Error& why) {
  if (relayed_ && relayed_->transfer) relayed_->transfer->cut();
  dial_->end([this, why] { run_.finish(why); });
}

}  // namespace udtcat::trees
