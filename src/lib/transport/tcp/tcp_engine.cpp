// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <poll.h>

#include "lib/core/lifetime.hpp"
#include "lib/core/try.hpp"
#include "lib/net/system_error.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/local_addresses.hpp"
#include "lib/transport/tcp/active_open.hpp"
#include "lib/transport/tcp/preface.hpp"
#include "lib/transport/tcp/tcp_acceptor.hpp"
#include "lib/transport/tcp/tcp_channel.hpp"
#include "lib/transport/tcp/tcp_connection.hpp"

namespace udtcat::transport::tcp {

namespace {

constexpr int kDrainPollMilliseconds = 2;  // guess: the last acknowledgement makes no descriptor ready

/// Threads: confined, as Engine.
class TcpEngine final : public Engine {
 public:
  TcpEngine(boost::asio::io_context& io, const TransportOptions& options, std::unique_ptr<PrefaceProof> proof)
      : io_(io), options_(options), proof_(std::move(proof)), locals_(options.local_addresses) {}
  ~TcpEngine() override;
  TcpEngine(const TcpEngine&) = delete;
  TcpEngine& operator=(const TcpEngine&) = delete;

  void async_connect(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                     ChannelHandler handler) override {
    const auto turn = std::make_shared<std::size_t>(locals_.next_turn(peer));
    open(peer, std::move(handshake_data), patience, turn,
         [this, turn, handler = std::move(handler)](Result<std::unique_ptr<Channel>> channel) {
           if (channel) first_turn_ = *turn;
           handler(std::move(channel));
         });
  }
  void async_connect_flow(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                          const FlowSettings& settings, ChannelHandler handler) override {
    open(peer, std::move(handshake_data), patience, std::make_shared<std::size_t>(first_turn_ + settings.turn),
         std::move(handler));
  }
  void relay_by(const RelayToken& token) override { relay_token_ = token; }
  Result<std::unique_ptr<Acceptor>> listen(const std::vector<Endpoint>& locals) override;

 private:
  void open(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
            const std::shared_ptr<std::size_t>& turn, ChannelHandler handler);
  [[nodiscard]] Status bind(Socket& socket, const Endpoint& to, std::size_t& turn);
  TcpConnection& add(Socket socket, const Endpoint& peer, bool proved, const Acceptor::MemoryShare& memory = {});
  void finish();

  boost::asio::io_context& io_;
  const TransportOptions options_;
  const std::unique_ptr<PrefaceProof> proof_;  // none: without the listener's key
  std::optional<RelayToken> relay_token_;      // none: to listeners themselves
  std::list<std::unique_ptr<ActiveOpen>> attempts_;
  std::list<std::unique_ptr<TcpConnection>> connections_;
  LocalAddresses locals_;
  std::size_t first_turn_ = 0;  // of the channel that further flows are beside
  core::Lifetime lifetime_;
};

TcpEngine::~TcpEngine() {
  lifetime_.end();
  attempts_.clear();
  finish();
}

/// Connections that were closed send the rest, for as long as each may take.
void TcpEngine::finish() {
  for (;;) {
    std::vector<pollfd> draining;
    for (const auto& each : connections_) {
      if (each->state() == TcpConnection::State::open) each->close(std::chrono::milliseconds(0));
      each->drain_on(TcpConnection::Clock::now());
      if (each->state() == TcpConnection::State::over) continue;
      const int events = (each->peer_has_ended() ? 0 : POLLIN) | (each->wants_to_send() ? POLLOUT : 0);
      // poll() ignores -1; with no events it would still return at once, for POLLHUP.
      const int number = events == 0 ? -1 : each->descriptor();
      draining.push_back({.fd = number, .events = static_cast<short>(events), .revents = 0});
    }
    if (draining.empty()) return;
    std::ignore = ::poll(draining.data(), draining.size(), kDrainPollMilliseconds);
  }
}

/// The socket leaves from the address whose turn it is.
Status TcpEngine::bind(Socket& socket, const Endpoint& to, std::size_t& turn) {
  if (locals_.empty()) return {};
  UDTCAT_TRY(turn, locals_.bind(to, turn, [&](const Endpoint& local) -> Status {
    boost::system::error_code error;
    if (!socket.is_open()) socket.open(to_asio(to).protocol(), error);
    if (!error) socket.bind(to_asio(local), error);
    if (!error) return {};
    return net::system_error(Errc::cannot_bind, "bind tcp " + local.to_string(), error.value());
  }));
  return {};
}

void TcpEngine::open(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                     const std::shared_ptr<std::size_t>& turn, ChannelHandler handler) {
  const auto attempt = attempts_.emplace(attempts_.end());
  const auto bind = [this, turn](Socket& socket, const Endpoint& to) { return this->bind(socket, to, *turn); };
  *attempt = std::make_unique<ActiveOpen>(
      io_, peer,
      ActiveOpen::Settings{.options = options_, .relay_token = relay_token_, .proof = proof_.get(), .bind = bind},
      patience, [this, attempt, peer, handshake_data, handler = std::move(handler)](Result<ActiveOpen::Opened> opened) {
        const auto done = std::move(*attempt);  // which is calling
        attempts_.erase(attempt);
        const ChannelHandler told = handler;
        if (!opened) return told(tl::unexpected(opened.error()));
        TcpConnection& connection = add(std::move(opened->socket), peer, false);
        if (!opened->proof.empty()) connection.write(core::SharedBytes::adopt(std::move(opened->proof)));
        auto channel = std::make_unique<TcpChannel>(io_, connection);
        write_handshake_data(*channel, handshake_data);
        told(std::move(channel));
      });
}

Result<std::unique_ptr<Acceptor>> TcpEngine::listen(const std::vector<Endpoint>& locals) {
  UDTCAT_TRY(auto sockets, listen_on_one_port(io_, locals));
  return std::make_unique<TcpAcceptor>(
      io_, std::move(sockets), options_, proof_.get(),
      [this](Socket socket, const Endpoint& peer, bool proved, const Acceptor::MemoryShare& memory) -> TcpConnection& {
        return add(std::move(socket), peer, proved, memory);
      });
}

TcpConnection& TcpEngine::add(Socket socket, const Endpoint& peer, bool proved, const Acceptor::MemoryShare& memory) {
  TransportOptions options = options_;
  if (memory) options.memory_bytes = memory(connections_.size());
  const auto place = connections_.emplace(connections_.end());
  *place = std::make_unique<TcpConnection>(io_, std::move(socket), peer, options, proved,
                                           lifetime_.guard([this, place] { connections_.erase(place); }));
  return **place;
}

}  // namespace

Result<std::unique_ptr<Engine>> make_tcp_engine(boost::asio::io_context& io, const TransportOptions& options,
                                                const PortSecrets& secrets) {
  std::unique_ptr<PrefaceProof> proof;
  if (!secrets.admission_key.empty()) {
    UDTCAT_TRY(PrefaceProof made, PrefaceProof::derive(secrets.admission_key));
    proof = std::make_unique<PrefaceProof>(std::move(made));
  }
  return std::make_unique<TcpEngine>(io, options, std::move(proof));
}

}  // namespace udtcat::transport::tcp
