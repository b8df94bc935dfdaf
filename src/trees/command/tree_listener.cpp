// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_listener.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "files/file_tree.hpp"
#include "lib/core/ip_prefix.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/run/transfer_event.hpp"
#include "tool/run/warnings.hpp"
#include "tool/status/process_resources.hpp"
#include "trees/command/tree_run.hpp"
#include "trees/manifest_log.hpp"

namespace udtcat::trees {

namespace {

constexpr std::chrono::seconds kStallTimeout{120};  // guess: a slow disk; unless its place is needed it has all day

/// The peer whose share a transfer counts for: by its name, as it may have several keys, or else its host.
std::string peer_id_of(const Connection& connection) {
  if (const auto identity = connection.peer_identity()) return identity->name;
  return fmt::format("{:x}", core::host_of(connection.peer()));
}

/// The peer has to begin again, not this listener.
const char* after_cut(const Error& error) {
  const bool is_cut = tool::exit_status_of(error.code) == tool::ExitStatus::peer_lost;
  return is_cut ? "; the same command there goes on where this one was cut" : "";
}

}  // namespace

Status TreeListener::start(tool::FoundCredentials found) {
  if (!options_.ticket.made)
    UDTCAT_CHECK(options_.role == Role::sends ? files::FileTree::open(options_.directory)
                                              : files::FileTree::make(options_.directory));
  if (options_.transfer.manifest) UDTCAT_CHECK(ManifestLog::create(*options_.transfer.manifest));
  peers_ = found.peers;
  UDTCAT_TRY(listener_, tool::PeerListener::start(
                            run_, options_, std::move(found),
                            [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); }));
  run_.on_interrupt([this](const Error& why) {
    if (clients_.empty()) {
      event_log_.flush();
      return run_.finish(why);
    }
    for (const Client& client : clients_) client.session->connection().abort(why);
  });
  if (options_.accept_timeout) run_.expect_peer_within(*options_.accept_timeout);
  run_.progress().wait_for(options_.ticket.made ? "waiting for the other end at " + to_string(*options_.via)
                                                : "waiting for a peer on " + listener_->addresses());
  run_.publish([this](tool::ProcessSnapshot& snapshot) {
    snapshot.all = total();
    listener_->add_to(snapshot);
    for (const Client& client : clients_)
      snapshot.peers.push_back(tool::snapshot_of(client.number, client.session->connection()));
    totals_.add_to(snapshot);
  });
  return {};
}

void TreeListener::take(std::unique_ptr<Connection> connection) {
  std::string peer = peer_id_of(*connection);
  if (const Status admitted = admit(peer); !admitted) {
    listener_->add_refused(connection->peer(), admitted.error());
    return rejected_.reject(std::move(connection), admitted.error());
  }
  const auto place = place_for(*connection);
  if (!place) {
    listener_->add_refused(connection->peer(), place.error());
    return rejected_.reject(std::move(connection), place.error());
  }
  if (options_.once) listener_->stop();
  std::string name = tool::peer_text(*connection);
  tool::LogEvent event = tool::peer_event(tool::EventKind::peer_up, *connection);
  event.severity = tool::Severity::info;
  event.message = "connected to " + name;
  event_log_.report("up " + peer, event);
  totals_.come(*connection);
  Client& client = clients_.emplace_back(run_.io(), ++last_number_, std::move(name), std::move(peer));
  auto counters = counters_of(*connection, client.peer);
  client.session = std::make_unique<TransferSession>(run_.io(), std::move(connection), std::move(counters),
                                                     role(*place), [this, &client] { on_over(client); });
  client.session->connection().on_stream([&client](StreamId id) { client.session->accept(id); });
  watch(client);
  if (run_.progress().watches()) return;  // the totals are of all sessions since the first
  run_.watch([this] { return total(); });
  run_.progress().measure([this](const ConnectionStats& /*of the stream*/) {
    return clients_.empty() ? std::nullopt : amount_of(clients_.front().session->counters());
  });
}

/// A peer can have any number of names that fail: they are told within the limit of its events.
std::unique_ptr<TransferCounters> TreeListener::counters_of(const Connection& connection, const std::string& peer) {
  tool::LogEvent event = tool::peer_event(tool::EventKind::name_failed, connection);
  event.severity = tool::Severity::error;
  auto report = lifetime_.guard(
      [this, event, series = "name " + peer, name = tool::peer_text(connection)](const std::string& line) {
        tool::LogEvent failed = event;
        failed.message = fmt::format("{}: {}", name, line);
        failed.result = line;
        event_log_.report(series, failed);
      });
  return make_counters([&io = run_.io(), report](const std::string& line) {
    boost::asio::post(io, [report, line]() mutable { report(line); });
  });
}

std::size_t TreeListener::places_of(const std::string& peer) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(clients_, [&](const Client& each) { return !each.is_leaving && each.peer == peer; }));
}

std::size_t TreeListener::places() const {
  return static_cast<std::size_t>(std::ranges::count_if(clients_, [](const Client& each) { return !each.is_leaving; }));
}

/// Makes space for a transfer of `peer`, by dismissing a silent one if need be.  errors: Errc::out_of_resources
Status TreeListener::admit(const std::string& peer) {
  const bool has_its_share = places_of(peer) >= kMaxTransfersOfPeer;
  if (!has_its_share && places() < kMaxTransfers) return {};
  Client* loser = nullptr;  // of those with the most places, the oldest
  for (Client& each : clients_) {
    if (each.is_leaving || (has_its_share && each.peer != peer) || !gives_way(each, peer)) continue;
    if (loser == nullptr || places_of(each.peer) > places_of(loser->peer)) loser = &each;
  }
  if (loser == nullptr)
    return fail(Errc::out_of_resources, "serve one more transfer",
                has_its_share ? fmt::format("its peer has {} under way; try again later", kMaxTransfersOfPeer)
                              : fmt::format("{} are under way; try again later", kMaxTransfers));
  dismiss(*loser, "others came while it was silent");
  return {};
}

/// Whether a transfer may be dismissed for one of the peer `to`. One that has begun may be waiting for its disk, so it
/// is dismissed only where its peer keeps as many as `to` gets.
bool TreeListener::gives_way(const Client& client, const std::string& to) const {
  const std::size_t its_places = places_of(client.peer);
  const std::size_t others = places_of(to);
  if (!client.session->has_begun()) return client.peer == to || its_places > others;
  return its_places > others + 1 && std::chrono::steady_clock::now() - client.moved_at >= kStallTimeout;
}

void TreeListener::dismiss(Client& client, const char* why) {
  client.is_leaving = true;
  client.session->connection().abort({Errc::stream_refused, "serve a transfer", why});
}

void TreeListener::watch(Client& client) {
  const ConnectionStats stats = client.session->connection().stats();
  const std::uint64_t moved = stats.bytes_sent + stats.bytes_received;
  if (moved != std::exchange(client.moved_bytes, moved) || client.moved_at == decltype(client.moved_at)())
    client.moved_at = std::chrono::steady_clock::now();
  client.timer.expires_after(request_timeout_);
  client.timer.async_wait(client.lifetime.guard([this, &client](const boost::system::error_code& cancelled) {
    if (cancelled || client.is_leaving) return;
    if (!client.session->has_begun()) return dismiss(client, "it has not said in time what it wants");
    watch(client);
  }));
}

/// errors: Errc::authentication_failed: the peer was taken off the peers file since its session began
Result<TransferPlace> TreeListener::place_for(const Connection& connection) {
  TransferPlace place{.directory = options_.directory, .uses = &uses_};
  const auto identity = connection.peer_identity();
  if (!peers_ || !identity) return place;
  auto own = peers_->place_of(identity->key);
  if (!own) return fail(Errc::authentication_failed, "serve " + identity->name, "its key is listed no longer");
  place.below = std::move(own->directory);
  place.peer = std::move(own->name);
  place.limit_bytes = own->limit_bytes;
  return place;
}

TransferRole TreeListener::role(const TransferPlace& place) {
  return [this, place](BlockingStream& stream, TransferCounters& counters, const PeerInfo& known) {
    PeerInfo peer = known;
    if (!place.peer.empty()) peer.key = place.peer;  // what it has sent stays its own when its key is replaced
    if (options_.ticket.made && options_.role == Role::sends)
      return send_selection_as_listener(stream, options_.selection, transfer_options_of(options_), counters);
    if (options_.role == Role::sends) return send_as_listener(stream, place, counters);
    return receive_as_listener(stream, place, transfer_options_of(options_), peer, active_transfers_, counters);
  };
}

ConnectionStats TreeListener::total() const {
  ConnectionStats all = totals_.gone();
  all.ends = {};  // it is of present sessions only
  for (const Client& client : clients_) all = sum(all, client.session->connection().stats());
  return all;
}

void TreeListener::log_end(const Client& client, const Status& result) {
  Connection& connection = client.session->connection();
  TransferCounters& counters = client.session->counters();
  const bool sends = options_.role == Role::sends;
  tool::TransferOutcome ended = tool::transfer_of(connection, counters.names(), result);
  ended.direction = sends ? tool::kSent : tool::kReceived;
  ended.bytes_sent = sends ? counters.bytes.load() : 0;
  ended.bytes_received = sends ? 0 : counters.bytes.load();
  ended.files = counters.files;
  ended.duration = std::chrono::steady_clock::now() - client.came_at;
  tool::LogEvent event = tool::transfer_event(ended);
  event.message += result ? particulars_of(counters) : after_cut(result.error());
  // The run ends with the only transfer, and says the error itself.
  if (!result && options_.once) event.severity = tool::Severity::info;
  event_log_.report((result ? "transfer " : "failure ") + client.peer, event);
}

void TreeListener::on_over(const Client& client) {
  const Status result = client.session->result();
  log_end(client, result);
  const bool is_last = options_.once || run_.signal() != 0;
  if (is_last) event_log_.flush();
  boost::asio::post(run_.io(), [this, number = client.number, result, is_last] {
    // The last session stays, since the last statistics are read from it.
    if (is_last && clients_.size() == 1) return run_.finish(result ? std::nullopt : std::optional(result.error()));
    const auto gone = std::ranges::find(clients_, number, &Client::number);
    if (gone == clients_.end()) return;
    totals_.leave(gone->session->connection());
    clients_.erase(gone);
    tool::release_freed_memory();
  });
}

}  // namespace udtcat::trees
