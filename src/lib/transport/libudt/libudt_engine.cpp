// SPDX-License-Identifier: Apache-2.0
#include <list>
#include <utility>

#include "lib/core/try.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/libudt/connect_attempt.hpp"
#include "lib/transport/libudt/libudt_acceptor.hpp"
#include "lib/transport/libudt/runtime.hpp"

namespace udtcat::transport::libudt {

const bool kIsLinked = true;

namespace {

/// Threads: confined, as Engine.
class LibudtEngine final : public Engine {
 public:
  LibudtEngine(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime, const TransportOptions& options)
      : io_(io), runtime_(std::move(runtime)), options_(options) {}

  void async_connect(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                     ChannelHandler handler) override {
    const auto on_done = [this, handshake_data = std::move(handshake_data), handler = std::move(handler)](
                             ConnectAttempt& attempt, Result<std::unique_ptr<Channel>> result) {
      attempts_.remove_if([&](const auto& each) { return each.get() == &attempt; });
      if (result) write_handshake_data(**result, handshake_data);
      handler(std::move(result));
    };
    attempts_.push_back(std::make_unique<ConnectAttempt>(io_, runtime_, peer, options_, patience, on_done));
  }

  Result<std::unique_ptr<Acceptor>> listen(const std::vector<Endpoint>& locals) override {
    UDTCAT_TRY(auto listeners, bind_listeners(locals, options_.rate));
    return std::make_unique<LibudtAcceptor>(io_, runtime_, std::move(listeners), options_.idle_timeout);
  }

 private:
  boost::asio::io_context& io_;
  const std::shared_ptr<Runtime> runtime_;
  const TransportOptions options_;
  std::list<std::unique_ptr<ConnectAttempt>> attempts_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_libudt_engine(boost::asio::io_context& io, const TransportOptions& options) {
  UDTCAT_TRY(std::shared_ptr<Runtime> runtime, Runtime::acquire());
  return std::make_unique<LibudtEngine>(io, std::move(runtime), options);
}

}  // namespace udtcat::transport::libudt
