// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_listener.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "files/file_tree.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/notices.hpp"
#include "trees/command/tree_run.hpp"

namespace udtcat::trees {

Status TreeListener::start(tool::FoundCredentials found) {
  UDTCAT_CHECK(options_.role == Role::sends ? files::FileTree::open(options_.directory)
                                            : files::FileTree::make(options_.directory));
  UDTCAT_TRY(listener_, tool::PeerListener::start(
                            run_, options_, std::move(found),
                            [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); }));
  run_.on_interrupt([this](const Error& why) {
    if (guests_.empty()) return run_.finish(why);
    for (const Guest& guest : guests_) guest.session->connection().abort(why);
  });
  if (options_.accept_timeout) run_.expect_peer_within(*options_.accept_timeout);
  run_.wait_for("waiting for a peer on " + listener_->places());
  run_.show([this](tool::ProcessPicture& picture) {
    listener_->fill(picture);
    for (const Guest& guest : guests_)
      picture.peers.push_back(tool::picture_of(guest.number, guest.session->connection()));
  });
  return {};
}

void TreeListener::take(std::unique_ptr<Connection> connection) {
  if (guests_.size() >= kMaxTransfers)
    return connection->abort(
        {Errc::stream_refused, "serve one more transfer", fmt::format("there are {} already", kMaxTransfers)});
  if (options_.once) listener_->stop();
  std::string name = tool::peer_text(*connection);
  core::log().info("connected to {}", name);
  const auto works = [this](Wire& wire, Tally& tally, const OtherEnd& other) { return work(wire, tally, other); };
  Guest& guest = guests_.emplace_back(Guest{++last_number_, std::move(name)});
  guest.session = std::make_unique<TransferSession>(run_.io(), std::move(connection), make_tally(run_.console()), works,
                                                    [this, &guest] { on_over(guest); });
  guest.session->connection().on_stream([&guest](StreamId id) { guest.session->accept(id); });
  if (guests_.size() > 1) return;
  run_.watch([this] { return guests_.empty() ? ConnectionStats() : guests_.front().session->connection().stats(); });
  run_.measure([this](const ConnectionStats& /*of the stream*/) {
    return guests_.empty() ? std::nullopt : amount_of(guests_.front().session->tally());
  });
}

Status TreeListener::work(Wire& wire, Tally& tally, const OtherEnd& other) {
  if (options_.role == Role::sends) return send_as_listener(wire, options_.directory, tally);
  return receive_as_listener(wire, options_.directory, wishes_of(options_), other, claims_, tally);
}

void TreeListener::on_over(const Guest& guest) {
  const Status result = guest.session->result();
  if (result)
    run_.say(fmt::format("{}: {}", guest.name, sentence_of(guest.session->tally())));
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
