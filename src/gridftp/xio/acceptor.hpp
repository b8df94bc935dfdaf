// SPDX-License-Identifier: Apache-2.0
/// The passive side of a transfer: a UDP port, and the data connections that come to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "gridftp/xio/link.hpp"
#include "gridftp/xio/link_session.hpp"
#include "gridftp/xio/settings.hpp"
#include "lib/bridge/wake_event.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::gridftp::xio {

/// Data connections that were not accepted yet; further ones are refused.
inline constexpr std::size_t kMaxWaitingLinks = 256;  // guess: more than a client's -p

/// How long, after a peer with another key or protection was turned away, the right one may still come.
inline constexpr auto kRefusalTimeout = std::chrono::seconds(3);  // guess: it was told of the port at the same time

/// Threads: internally synchronised: accept() and what follows it may be called from any thread; the rest is confined
/// to the io_context thread.
class XioAcceptor final : public std::enable_shared_from_this<XioAcceptor> {
 public:
  /// errors: Errc::cannot_bind, if no port of the range is to be had; Errc::out_of_resources
  [[nodiscard]] static Result<std::shared_ptr<XioAcceptor>> make(std::shared_ptr<boost::asio::io_context> io,
                                                                 const Settings& settings, std::optional<Key> key,
                                                                 UdpPortRange ports);

  struct Accepted {
    std::shared_ptr<XioLink> link;
    std::optional<Error> error;  ///< a peer was refused, and no other came
  };
  /// A data connection or an error, if there is one; else the event is raised when there is.
  [[nodiscard]] std::optional<Accepted> accept();
  [[nodiscard]] const bridge::WakeEvent& event() const { return event_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Takes no more peers, and no more streams of those that are there. Links that were not accepted end.
  void stop();
  /// Stopped, and without sessions.
  [[nodiscard]] bool over() const { return !listener_ && sessions_.empty(); }
  void close();
  [[nodiscard]] bool delivered() const;

 private:
  using Position = std::list<std::unique_ptr<LinkSession>>::iterator;

  XioAcceptor(std::shared_ptr<boost::asio::io_context> io, bridge::WakeEvent event)
      : io_(std::move(io)), event_(std::move(event)) {}
  [[nodiscard]] Status listen(const Settings& settings, const std::optional<Key>& key, std::uint16_t port);
  void on_refused(const Error& why);
  void welcome(std::unique_ptr<Connection> connection);
  void on_stream(LinkSession& session, StreamId id);

  const std::shared_ptr<boost::asio::io_context> io_;
  const bridge::WakeEvent event_;
  std::uint16_t port_ = 0;              // constant once made
  std::unique_ptr<Listener> listener_;  // none once stopped
  std::list<std::unique_ptr<LinkSession>> sessions_;
  std::optional<boost::asio::steady_timer> refusal_timer_;  // from the first refusal until a peer is let in
  bool welcomed_ = false;

  core::Mutex mutex_;
  std::deque<std::shared_ptr<XioLink>> waiting_ UDTCAT_GUARDED_BY(mutex_);  // at most kMaxWaitingLinks
  std::optional<Error> refused_ UDTCAT_GUARDED_BY(mutex_);                  // only a peer without our key has come
  bool asked_ UDTCAT_GUARDED_BY(mutex_) = false;                            // accept() waits for the event
};

}  // namespace udtcat::gridftp::xio
