// SPDX-License-Identifier: Apache-2.0
#include "trees/command/connector.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/run/endpoint_setup.hpp"
#include "trees/command/tree_run.hpp"

namespace udtcat::trees {

namespace {

constexpr int kSignalBase = 128;  // spec: a shell's, of a program that a signal ended, is more; and so is ssh's 255

/// Whether the far end has died in the midst of a relayed transfer: the stream breaks, or ends within a message.
bool is_cut(const Status& worked, int ssh_status) {
  if (worked) return false;
  const bool is_killed = ssh_status > kSignalBase;
  return (worked.error().code == Errc::connection_broken && ssh_status != 0) ||
         (worked.error().code == Errc::protocol_violated && is_killed);
}

}  // namespace

Status Connector::dial(std::optional<Credentials> credentials) {
  UDTCAT_TRY(DialRequest request, tool::make_dial_request(options_, std::move(credentials)));
  run_.progress().wait_for("dialling " + to_string(options_.peer));
  dialer_ = udtcat::dial(run_.io(), std::move(request), [this](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run_.finish(std::move(connection.error()));
    run_.say_if_by_tcp((*connection)->stats(), options_.peer.host, options_.peer.port);
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

std::uint64_t Connector::entries() const {
  if (session_) return session_->counters().entries;
  return relayed_ ? relayed_->counters().entries.load() : 0;
}

void Connector::begin_session(std::unique_ptr<Connection> connection) {
  core::log().info("connected to {}", connection->peer().to_string());
  session_.emplace(run_.io(), std::move(connection), make_counters(run_.console()), connector_role(options_),
                   [this] { on_over(); });
  run_.follow(session_->connection());
  run_.progress().measure([this](const ConnectionStats& /*of the stream*/) { return amount_of(session_->counters()); });
  session_->open();
  if (dial_ && !options_.require_udp && session_->connection().stats().transport != TransportKind::tcp)
    ssh_path_.emplace(run_, session_->connection(), *dial_, options_.host);
}

void Connector::on_over() {
  if (ssh_path_) ssh_path_->conclude();
  if (!dial_) return finish_run(run_, options_, session_->result(), session_->counters());
  // leave() waits less long for ssh than ssh does for a path that it has lost, too.
  dial_->leave([this] { finish_run(run_, options_, session_->result(), session_->counters()); });
}

/// why   its cause is advice
void Connector::relay(Error why) {
  if (options_.require_udp || !dial_->ssh().has_far_end()) return run_.finish(std::move(why));
  run_.say(fmt::format("{}: going on over ssh itself; {}", why.what, why.cause));
  const auto begin = [this] {
    relayed_.emplace(run_.io(), dial_->ssh().pipes(), make_counters(run_.console()), connector_role(options_),
                     [this] { finish_relayed_if_over(); });
    show_relayed();
  };
  dial_->ssh().hand_over(encode(ssh::RunSubsystem{kSubsystem}), begin, [this](int status) {
    ssh_status_ = status;
    finish_relayed_if_over();
  });
}

void Connector::show_relayed() {
  run_.watch([this] {
    ConnectionStats stats;
    (options_.role == Role::sends ? stats.bytes_sent : stats.bytes_received) = relayed_->counters().moved_bytes;
    return stats;
  });
  run_.progress().measure([this](const ConnectionStats& /*of the stream*/) { return amount_of(relayed_->counters()); });
}

void Connector::finish_relayed_if_over() {
  const auto result = relayed_ ? relayed_->result() : std::nullopt;
  if (!ssh_status_ || (relayed_ && !result)) return;
  if (result && !is_cut(*result, *ssh_status_))
    return finish_run(run_, options_, result_of(*result, std::nullopt, relayed_->counters()), relayed_->counters());
  const bool has_begun = relayed_ && (relayed_->counters().entries > 0 || relayed_->counters().bytes > 0);
  // ssh has printed the reason.
  if (!has_begun && ssh_status_ == ssh::kSshFailed) return run_.finish_as(tool::ExitStatus::unreachable);
  run_.finish(Error{Errc::peer_lost,
                    (options_.role == Role::sends ? "send to " : "receive from ") + options_.ssh.destination,
                    "its end is gone"});
}

void Connector::interrupt(const Error& why) {
  if (relayed_) relayed_->cut();
  dial_->end([this, why] { run_.finish(why); });
}

}  // namespace udtcat::trees
