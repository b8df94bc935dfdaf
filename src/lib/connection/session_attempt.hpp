// SPDX-License-Identifier: Apache-2.0
/// One attempt to have a session with one address: a channel, and the handshake over it.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include <udtcat/peering.hpp>

#include "lib/connection/attempts.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/session/handshake.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {

/// Threads: confined to the io_context thread; the handler is called once, not from inside the constructor.
class SessionAttempt final : public Attempt {
 public:
  /// somebody_answered   an error is the handshake's, and says more than silence
  using Handler = std::function<void(Result<std::unique_ptr<session::Session>>, bool somebody_answered)>;

  /// request, engine   outlive this
  SessionAttempt(boost::asio::io_context& io, const DialRequest& request, transport::Engine& engine,
                 const Endpoint& address, Handler handler);

 private:
  void start(const Endpoint& address, transport::Engine& engine);

  const Handler handler_;
  std::unique_ptr<session::Handshake> handshake_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::connection
