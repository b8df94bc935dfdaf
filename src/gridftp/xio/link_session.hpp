// SPDX-License-Identifier: Apache-2.0
/// One session and the links that it carries.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>

#include "gridftp/xio/link.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::gridftp::xio {

/// Threads: confined to the io_context thread.
class LinkSession {
 public:
  using Handler = std::function<void()>;

  /// on_idle   called when a link was the last one; posted
  /// on_over   called once, when the session is; posted. It may destroy this
  LinkSession(boost::asio::io_context& io, std::unique_ptr<Connection> connection, Handler on_idle, Handler on_over);
  /// Links that are left end with an error.
  ~LinkSession();
  LinkSession(const LinkSession&) = delete;
  LinkSession& operator=(const LinkSession&) = delete;

  [[nodiscard]] Connection& connection() { return *connection_; }
  /// A further stream for `link`, whose user may have left meanwhile.
  void open(const std::shared_ptr<XioLink>& link);
  /// The peer's stream is `link` from now on.
  void take(StreamId id, const std::shared_ptr<XioLink>& link);

  [[nodiscard]] bool idle() const { return links_.empty(); }
  /// No link that its user has left is still on its way.
  [[nodiscard]] bool delivered() const;
  [[nodiscard]] bool closing() const { return closing_; }
  /// Sends a CLOSE; links that are left end as interrupted.
  void close();

 private:
  void carry(StreamId id, const std::shared_ptr<XioLink>& link);
  [[nodiscard]] Connection::OutcomeHandler outcome_of(std::shared_ptr<StreamId> id);

  boost::asio::io_context& io_;
  std::unique_ptr<Connection> connection_;
  const Handler on_idle_;
  const Handler on_over_;
  std::unordered_map<StreamId, std::shared_ptr<XioLink>> links_;  // bounded by the session's streams
  bool closing_ = false;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp::xio
