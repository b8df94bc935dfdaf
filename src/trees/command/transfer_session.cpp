// SPDX-License-Identifier: Apache-2.0
#include "trees/command/transfer_session.hpp"

#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/ip_prefix.hpp"
#include "lib/core/text.hpp"
#include "trees/command/tree_run.hpp"

namespace udtcat::trees {

namespace {

constexpr std::chrono::milliseconds kToAnswer{250};  // guess: a rerun from another host begins less often

PeerInfo peer_info_of(Connection& connection) {
  PeerInfo peer{.is_sealed = connection.stats().protection >= Protection::safe};
  if (const auto identity = connection.peer_identity()) peer.key = core::as_text(identity->key.bytes());
  peer.owner.host = core::host_of(connection.peer());
  peer.owner.address = connection.peer().to_string();
  return peer;
}

}  // namespace

TransferSession::TransferSession(boost::asio::io_context& io, std::unique_ptr<Connection> connection,
                                 std::unique_ptr<TransferCounters> counters, TransferRole role,
                                 std::function<void()> on_over)
    : io_(io),
      counters_(std::move(counters)),
      role_(std::move(role)),
      on_over_(std::move(on_over)),
      connection_(std::move(connection)),
      silence_(io) {
  connection_->on_closed([this](const Status& status) {
    closed_ = status;
    if (transfer_) transfer_->cut();
    finish_if_over();
  });
}

void TransferSession::open() {
  begin();
  connection_->open_stream(transfer_->local_stream(), [this](const StreamOutcome& outcome) { on_outcome(outcome); });
}

void TransferSession::accept(StreamId id) {
  if (transfer_) return connection_->refuse_stream(id, {Errc::stream_refused, "open a stream", "a transfer has one"});
  connection_->on_quiet([this] { watch_silence(); });
  begin();
  connection_->accept_stream(id, transfer_->local_stream(),
                             [this](const StreamOutcome& outcome) { on_outcome(outcome); });
}

void TransferSession::begin() {
  PeerInfo known = peer_info_of(*connection_);
  known.owner.is_silent = [silent = is_silent_] { return silent->load(); };
  known.owner.end = [&io = io_, abort = lifetime_.guard([this](const Error& why) { connection_->abort(why); })](
                        const Error& why) { boost::asio::post(io, [abort, why]() mutable { abort(why); }); };
  const Transfer::Run run = [this, peer = std::move(known)](BlockingStream& stream) {
    return role_(stream, *counters_, peer);
  };
  transfer_ = std::make_unique<Transfer>(io_, run, [this](const Status& worked) {
    worked_ = worked;
    finish_if_over();
  });
}

/// Until the peer answers again, of which a connection does not tell.
void TransferSession::watch_silence() {
  *is_silent_ = !connection_->answers();
  if (!*is_silent_ || closed_) return;
  silence_.expires_after(kToAnswer);
  silence_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) watch_silence();
  }));
}

void TransferSession::on_outcome(const StreamOutcome& outcome) {
  outcome_ = outcome;
  transfer_->cut();
  if (!closed_) connection_->close();
  finish_if_over();
}

void TransferSession::finish_if_over() {
  if (closed_ && (!transfer_ || (worked_ && outcome_))) on_over_();
}

Status TransferSession::result() const {
  if (worked_) return result_of(*worked_, outcome_, *counters_);
  if (closed_ && !*closed_) return *closed_;
  return fail(Errc::peer_interrupted, "serve a transfer", "the other end left before it began");
}

}  // namespace udtcat::trees
