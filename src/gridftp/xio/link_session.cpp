// SPDX-License-Identifier: Apache-2.0
#include "gridftp/xio/link_session.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace udtcat::gridftp::xio {

LinkSession::LinkSession(boost::asio::io_context& io, std::unique_ptr<Connection> connection, Handler on_idle,
                         Handler on_over)
    : io_(io), connection_(std::move(connection)), on_idle_(std::move(on_idle)), on_over_(std::move(on_over)) {
  connection_->on_closed(lifetime_.guard([this](const Status&) {
    closing_ = true;
    boost::asio::post(io_, lifetime_.guard([over = on_over_] { over(); }));
  }));
}

LinkSession::~LinkSession() {
  const Error gone{Errc::connection_broken, "the session with " + connection_->peer().to_string(), "it was closed"};
  for (const auto& [id, link] : links_) link->on_over(gone);
}

void LinkSession::open(const std::shared_ptr<XioLink>& link) {
  if (link->left()) return link->on_over(std::nullopt);
  const auto id = std::make_shared<StreamId>();
  *id = connection_->open_stream(make_link_stream(link), outcome_of(id));
  carry(*id, link);
}

void LinkSession::take(StreamId id, const std::shared_ptr<XioLink>& link) {
  carry(id, link);
  connection_->accept_stream(id, make_link_stream(link), outcome_of(std::make_shared<StreamId>(id)));
}

void LinkSession::carry(StreamId id, const std::shared_ptr<XioLink>& link) {
  links_.emplace(id, link);
  link->on_open(connection_->peer(),
                lifetime_.guard([this, id](const Error& why) { connection_->refuse_stream(id, why); }));
}

Connection::OutcomeHandler LinkSession::outcome_of(std::shared_ptr<StreamId> id) {
  return lifetime_.guard([this, id = std::move(id)](const StreamOutcome& outcome) {
    const auto ended = links_.extract(*id);
    if (ended) ended.mapped()->on_over(outcome.error);
    if (links_.empty()) boost::asio::post(io_, lifetime_.guard([idle = on_idle_] { idle(); }));
  });
}

bool LinkSession::delivered() const {
  return std::none_of(links_.begin(), links_.end(), [](const auto& entry) { return entry.second->left(); });
}

void LinkSession::close() {
  closing_ = true;
  connection_->close();
}

}  // namespace udtcat::gridftp::xio
