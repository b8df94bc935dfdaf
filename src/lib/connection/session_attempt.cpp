// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/session_attempt.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "lib/connection/credit.hpp"

namespace udtcat::connection {

SessionAttempt::SessionAttempt(boost::asio::io_context& io, const DialRequest& request, transport::Engine& engine,
                               const Endpoint& address, Handler handler)
    : handler_(std::move(handler)) {
  const Credentials* const credentials = request.credentials ? &*request.credentials : nullptr;
  const std::uint32_t window = initial_window_bytes(request.session, request.transport.memory_bytes);
  handshake_ = std::make_unique<session::Handshake>(
      io, session::Role::connector, credentials, request.session, window,
      lifetime_.guard([this](Result<std::unique_ptr<session::Session>> made) { handler_(std::move(made), true); }));
  boost::asio::post(io, lifetime_.guard([this, address, &engine] { start(address, engine); }));
}

void SessionAttempt::start(const Endpoint& address, transport::Engine& engine) {
  auto words = handshake_->first_flight();
  if (!words) return handler_(tl::unexpected(words.error()), false);
  engine.async_connect(address, std::move(*words), kAttemptPatience,
                       lifetime_.guard([this](Result<std::unique_ptr<transport::Channel>> channel) {
                         if (!channel) return handler_(tl::unexpected(channel.error()), false);
                         handshake_->start(std::move(*channel));
                       }));
}

}  // namespace udtcat::connection
