// SPDX-License-Identifier: Apache-2.0
#include "gridftp/xio/acceptor.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/duplicate.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/net/bind_errors.hpp"

namespace udtcat::gridftp::xio {

Result<std::shared_ptr<XioAcceptor>> XioAcceptor::make(std::shared_ptr<boost::asio::io_context> io,
                                                       const Settings& settings, std::optional<Key> key,
                                                       UdpPortRange ports) {
  UDTCAT_TRY(auto event, bridge::WakeEvent::make());
  std::shared_ptr<XioAcceptor> made(new XioAcceptor(std::move(io), std::move(event)));
  for (std::uint32_t port = ports.first; port <= ports.last; ++port) {
    const auto wanted = static_cast<std::uint16_t>(port);
    const Status listening = made->listen(settings, key, wanted);
    if (listening) return made;
    if (port == ports.last || !net::another_port_may_do(listening.error(), wanted))
      return tl::unexpected(listening.error());
  }
  return fail(Errc::cannot_bind, "listen for data connections", "the range of ports is empty");
}

Status XioAcceptor::listen(const Settings& settings, const std::optional<Key>& key, std::uint16_t port) {
  UDTCAT_TRY(auto locals, resolve({.host = "", .port = port}, AddressFamily::any));
  ListenRequest request{std::move(locals), core::duplicate(key), settings.session, settings.transport};
  // Weak: the listener is ours.
  UDTCAT_TRY(listener_, udtcat::listen(
                            *io_, std::move(request),
                            [weak = weak_from_this()](std::unique_ptr<Connection> connection) {
                              if (const auto self = weak.lock()) self->welcome(std::move(connection));
                            },
                            [weak = weak_from_this()](const Endpoint&, const Error& why) {
                              if (const auto self = weak.lock()) self->on_refused(why);
                            }));
  port_ = listener_->local_endpoints().front().port();
  return {};
}

/// Reports a peer with another key to accept(), which would wait for ever otherwise. Once a peer has proved the key,
/// others are ignored.
void XioAcceptor::on_refused(const Error& why) {
  core::log().debug("{}", why.message());
  const bool is_udtcat = why.code == Errc::authentication_failed || why.code == Errc::parameters_refused;
  if (!is_udtcat || welcomed_ || refusal_timer_) return;
  refusal_timer_.emplace(*io_, kRefusalTimeout);
  refusal_timer_->async_wait([weak = weak_from_this(), why](const boost::system::error_code& cancelled) {
    const auto self = weak.lock();
    if (cancelled || !self) return;
    const core::MutexLock lock(self->mutex_);
    self->refused_ = why;
    if (std::exchange(self->asked_, false)) self->event_.raise();
  });
}

void XioAcceptor::welcome(std::unique_ptr<Connection> connection) {
  welcomed_ = true;
  refusal_timer_.reset();
  {
    const core::MutexLock lock(mutex_);
    refused_.reset();
  }
  const Position position = sessions_.emplace(sessions_.end());
  *position = std::make_unique<LinkSession>(
      *io_, std::move(connection),
      [this, position] {
        if (!listener_ && !(*position)->closing()) (*position)->close();
      },
      [this, position] { sessions_.erase(position); });
  LinkSession& session = **position;
  session.connection().on_stream([this, &session](StreamId id) { on_stream(session, id); });
}

void XioAcceptor::on_stream(LinkSession& session, StreamId id) {
  const auto refuse = [&](const char* why) {
    session.connection().refuse_stream(id, {Errc::stream_refused, "data connection refused", why});
  };
  if (!listener_) return refuse("the transfer that it was for is over");
  auto link = XioLink::make(io_);
  if (!link) return refuse(link.error().what.c_str());
  {
    const core::MutexLock lock(mutex_);
    if (waiting_.size() >= kMaxWaitingLinks) return refuse("too many wait to be accepted");
    waiting_.push_back(*link);
    if (std::exchange(asked_, false)) event_.raise();
  }
  session.take(id, *link);
}

std::optional<XioAcceptor::Accepted> XioAcceptor::accept() {
  const core::MutexLock lock(mutex_);
  if (!waiting_.empty()) {
    Accepted accepted{std::move(waiting_.front()), std::nullopt};
    waiting_.pop_front();
    return accepted;
  }
  if (refused_) return Accepted{nullptr, refused_};
  asked_ = true;
  return std::nullopt;
}

void XioAcceptor::stop() {
  if (!listener_) return;
  listener_->stop();
  listener_.reset();
  refusal_timer_.reset();
  std::deque<std::shared_ptr<XioLink>> unwanted;
  {
    const core::MutexLock lock(mutex_);
    unwanted.swap(waiting_);
  }
  for (const auto& link : unwanted) link->abandon();
  for (const auto& session : sessions_)
    if (session->idle() && !session->closing()) session->close();
}

void XioAcceptor::close() {
  stop();
  for (const auto& session : sessions_)
    if (!session->closing()) session->close();
}

bool XioAcceptor::delivered() const {
  return std::all_of(sessions_.begin(), sessions_.end(), [](const auto& session) { return session->delivered(); });
}

}  // namespace udtcat::gridftp::xio
