// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_listener.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "files/file_tree.hpp"
#include "lib/core/log.hpp"
#include "lib/core/prefix.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "tool/run/warnings.hpp"
#include "trees/command/tree_run.hpp"
#include "trees/manifest_log.hpp"

namespace udtcat::trees {

namespace {

constexpr std::chrono::seconds kToMove{120};  // guess: a disk that is slow; without need of its place it has all day

/// The holder of a key pair, or else a host.
std::string counted(const Connection& connection) {
  if (const auto identity = connection.peer_identity()) return std::string(core::as_text(identity->key.bytes()));
  return fmt::format("{:x}", core::host_of(connection.peer()));
}

/// The end that came is the one that begins again.
const char* after_cut(const Error& error) {
  const bool is_cut = tool::exit_status_of(error.code) == tool::ExitStatus::peer_lost;
  return is_cut ? "; the same command there goes on where this one was cut" : "";
}

}  // namespace

Status TreeListener::start(tool::FoundCredentials found) {
  UDTCAT_CHECK(options_.role == Role::sends ? files::FileTree::open(options_.directory)
                                            : files::FileTree::make(options_.directory));
  if (options_.wishes.manifest) UDTCAT_CHECK(ManifestLog::create(*options_.wishes.manifest));
  UDTCAT_TRY(listener_, tool::PeerListener::start(
                            run_, options_, std::move(found),
                            [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); }));
  if (!options_.once) run_.console().date_lines();
  run_.on_interrupt([this](const Error& why) {
    if (guests_.empty()) return run_.finish(why);
    for (const Guest& guest : guests_) guest.session->connection().abort(why);
  });
  if (options_.accept_timeout) run_.expect_peer_within(*options_.accept_timeout);
  run_.wait_for("waiting for a peer on " + listener_->addresses());
  run_.show([this](tool::ProcessPicture& picture) {
    picture.all = total();
    listener_->fill(picture);
    for (const Guest& guest : guests_)
      picture.peers.push_back(tool::picture_of(guest.number, guest.session->connection()));
  });
  return {};
}

void TreeListener::take(std::unique_ptr<Connection> connection) {
  std::string peer = counted(*connection);
  if (const Status room = make_room(peer); !room) {
    core::log().warn("{}: {}", connection->peer().to_string(), room.error().message());
    return rejected_.reject(std::move(connection), room.error());
  }
  if (options_.once) listener_->stop();
  std::string name = tool::peer_text(*connection);
  core::log().info("connected to {}", name);
  const auto works = [this](Wire& wire, Tally& tally, const OtherEnd& other) { return work(wire, tally, other); };
  Guest& guest = guests_.emplace_back(run_.io(), ++last_number_, std::move(name), std::move(peer));
  guest.session = std::make_unique<TransferSession>(run_.io(), std::move(connection), make_tally(run_.console()), works,
                                                    [this, &guest] { on_over(guest); });
  guest.session->connection().on_stream([&guest](StreamId id) { guest.session->accept(id); });
  watch(guest);
  if (guests_.size() > 1) return;
  run_.watch([this] { return total(); });
  run_.measure([this](const ConnectionStats& /*of the stream*/) {
    return guests_.empty() ? std::nullopt : amount_of(guests_.front().session->tally());
  });
}

std::size_t TreeListener::places_of(const std::string& peer) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(guests_, [&](const Guest& each) { return !each.is_leaving && each.peer == peer; }));
}

std::size_t TreeListener::places() const {
  return static_cast<std::size_t>(std::ranges::count_if(guests_, [](const Guest& each) { return !each.is_leaving; }));
}

/// For a transfer of that peer, where one that is silent gives way if need be.  errors: Errc::out_of_resources
Status TreeListener::make_room(const std::string& peer) {
  const bool has_its_share = places_of(peer) >= kMaxTransfersOfPeer;
  if (!has_its_share && places() < kMaxTransfers) return {};
  Guest* loser = nullptr;  // of those with the most places, the oldest
  for (Guest& each : guests_) {
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

/// A transfer that has begun may wait for its disk: it goes on where its peer would have fewer places than the other.
bool TreeListener::gives_way(const Guest& guest, const std::string& to) const {
  const std::size_t its_places = places_of(guest.peer);
  const std::size_t others = places_of(to);
  if (!guest.session->has_begun()) return guest.peer == to || its_places > others;
  return its_places > others + 1 && std::chrono::steady_clock::now() - guest.moved_at >= kToMove;
}

void TreeListener::dismiss(Guest& guest, const char* why) {
  guest.is_leaving = true;
  guest.session->connection().abort({Errc::stream_refused, "serve a transfer", why});
}

void TreeListener::watch(Guest& guest) {
  const ConnectionStats stats = guest.session->connection().stats();
  const std::uint64_t moved = stats.bytes_sent + stats.bytes_received;
  if (moved != std::exchange(guest.moved_bytes, moved) || guest.moved_at == decltype(guest.moved_at)())
    guest.moved_at = std::chrono::steady_clock::now();
  guest.timer.expires_after(to_ask_);
  guest.timer.async_wait(guest.lifetime.guard([this, &guest](const boost::system::error_code& cancelled) {
    if (cancelled || guest.is_leaving) return;
    if (!guest.session->has_begun()) return dismiss(guest, "it has not said in time what it wants");
    watch(guest);
  }));
}

Status TreeListener::work(Wire& wire, Tally& tally, const OtherEnd& other) {
  if (options_.role == Role::sends) return send_as_listener(wire, options_.directory, tally);
  return receive_as_listener(wire, options_.directory, wishes_of(options_), other, claims_, tally);
}

ConnectionStats TreeListener::total() const {
  ConnectionStats all = past_;
  for (const Guest& guest : guests_) all = tool::sum(all, guest.session->connection().stats());
  return all;
}

void TreeListener::on_over(const Guest& guest) {
  const Status result = guest.session->result();
  if (result)
    run_.say(fmt::format("{}: {}", guest.name, sentence_of(guest.session->tally())));
  else if (!options_.once)
    run_.console().line(
        fmt::format("udtcat: {}: {}{}", guest.name, result.error().message(), after_cut(result.error())),
        tool::Severity::error);
  const bool is_last = options_.once || run_.signal() != 0;
  boost::asio::post(run_.io(), [this, number = guest.number, result, is_last] {
    // The last one stays: the run's last figures are its own.
    if (is_last && guests_.size() == 1) return run_.finish(result ? std::nullopt : std::optional(result.error()));
    const auto gone = std::ranges::find(guests_, number, &Guest::number);
    if (gone == guests_.end()) return;
    past_ = tool::sum(past_, gone->session->connection().stats());
    past_.streams_open = 0;
    past_.evidence = {};  // of nobody who is here
    guests_.erase(gone);
  });
}

}  // namespace udtcat::trees
