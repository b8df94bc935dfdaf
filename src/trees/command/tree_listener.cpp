// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_listener.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/notices.hpp"
#include "trees/command/tree_run.hpp"

namespace udtcat::trees {

struct TreeListener::Guest {
  std::uint64_t number = 0;
  std::string name;
  std::unique_ptr<Account> account;
  std::unique_ptr<Connection> connection;
  std::optional<Status> worked{};
  std::optional<StreamOutcome> outcome{};
  std::optional<Status> closed{};
  std::unique_ptr<Transfer> transfer{};
};

TreeListener::TreeListener(tool::SessionRun& run, const TreeOptions& options) : run_(run), options_(options) {}

TreeListener::~TreeListener() = default;

Status TreeListener::start(tool::FoundCredentials found) {
  UDTCAT_TRY(listener_, tool::PeerListener::start(
                            run_, options_, std::move(found),
                            [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); }));
  run_.on_interrupt([this](const Error& why) {
    if (guests_.empty()) return run_.finish(why);
    for (Guest& guest : guests_) guest.connection->abort(why);
  });
  if (options_.accept_timeout) run_.expect_peer_within(*options_.accept_timeout);
  run_.wait_for("waiting for a peer on " + listener_->places());
  run_.show([this](tool::ProcessPicture& picture) {
    listener_->fill(picture);
    for (const Guest& guest : guests_) picture.peers.push_back(tool::picture_of(guest.number, *guest.connection));
  });
  return {};
}

void TreeListener::take(std::unique_ptr<Connection> connection) {
  if (guests_.size() >= kMaxTransfers)
    return connection->abort({Errc::stream_refused, "serve one more transfer", "there are 16 already"});
  if (options_.once) listener_->stop();
  std::string name = tool::peer_text(*connection);
  Guest& guest = guests_.emplace_back(Guest{.number = ++last_number_,
                                            .name = std::move(name),
                                            .account = make_account(run_.console()),
                                            .connection = std::move(connection)});
  core::log().info("connected to {}", guest.name);
  guest.connection->on_closed([this, &guest](const Status& status) {
    guest.closed = status;
    if (guest.transfer) guest.transfer->cut();
    finish_if_over(guest);
  });
  guest.connection->on_stream([this, &guest](StreamId id) { on_stream(guest, id); });
  if (guests_.size() > 1) return;
  run_.watch([this] { return guests_.empty() ? ConnectionStats() : guests_.front().connection->stats(); });
  run_.measure([this](const ConnectionStats& /*of the stream*/) {
    return guests_.empty() ? std::nullopt : extent_of(*guests_.front().account);
  });
}

void TreeListener::on_stream(Guest& guest, StreamId id) {
  if (guest.transfer)
    return guest.connection->refuse_stream(id, {Errc::stream_refused, "open a stream", "a transfer has one"});
  const Transfer::Work work = [this, &account = *guest.account,
                               wishes = wishes_of(options_, guest.connection.get())](Wire& wire) {
    return options_.role == Role::sends ? send_as_listener(wire, options_.directory, account)
                                        : receive_as_listener(wire, options_.directory, wishes, jobs_, account);
  };
  guest.transfer = std::make_unique<Transfer>(run_.io(), work, [this, &guest](const Status& worked) {
    guest.worked = worked;
    finish_if_over(guest);
  });
  guest.connection->accept_stream(id, guest.transfer->stream(), [this, &guest](const StreamOutcome& outcome) {
    guest.outcome = outcome;
    guest.transfer->cut();
    if (!guest.closed) guest.connection->close();
    finish_if_over(guest);
  });
}

void TreeListener::finish_if_over(Guest& guest) {
  if (!guest.closed || (guest.transfer && (!guest.worked || !guest.outcome))) return;
  const Status result = guest.worked
                            ? result_of(*guest.worked, guest.outcome, *guest.account)
                            : fail(Errc::peer_interrupted, "serve a transfer", "the other end left before it began");
  if (result)
    run_.say(fmt::format("{}: {}", guest.name, sentence_of(*guest.account)));
  else if (!options_.once)
    run_.console().line(fmt::format("udtcat: {}: {}", guest.name, result.error().message()), tool::LineLevel::error);
  const bool is_last = options_.once || run_.signal() != 0;
  boost::asio::post(run_.io(), [this, number = guest.number, result, is_last] {
    // The last one stays: the run's last figures are its own.
    if (is_last && guests_.size() == 1) return run_.finish(result ? std::nullopt : std::optional(result.error()));
    guests_.remove_if([number](const Guest& each) { return each.number == number; });
  });
}

}  // namespace udtcat::trees
