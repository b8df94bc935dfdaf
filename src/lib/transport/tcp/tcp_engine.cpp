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
#include "lib/transport/engine.hpp"
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
      : io_(io), options_(options), proof_(std::move(proof)) {}
  ~TcpEngine() override;
  TcpEngine(const TcpEngine&) = delete;
  TcpEngine& operator=(const TcpEngine&) = delete;

  void async_connect(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                     ChannelHandler handler) override;
  void relay_by(const RelayToken& token) override { relay_token_ = token; }
  Result<std::unique_ptr<Acceptor>> listen(const std::vector<Endpoint>& locals) override;

 private:
  TcpConnection& add(Socket socket, const Endpoint& peer, bool proved, const Acceptor::MemoryShare& memory = {});
  void finish();

  boost::asio::io_context& io_;
  const TransportOptions options_;
  const std::unique_ptr<PrefaceProof> proof_;  // none: without the listener's key
  std::optional<RelayToken> relay_token_;      // none: to listeners themselves
  std::list<std::unique_ptr<ActiveOpen>> attempts_;
  std::list<std::unique_ptr<TcpConnection>> connections_;
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
      const short events = each->wants_to_send() ? POLLIN | POLLOUT : POLLIN;
      draining.push_back({.fd = each->descriptor(), .events = events, .revents = 0});
    }
    if (draining.empty()) return;
    std::ignore = ::poll(draining.data(), draining.size(), kDrainPollMilliseconds);
  }
}

void TcpEngine::async_connect(const Endpoint& peer, core::SharedBytes handshake_data,
                              std::chrono::milliseconds patience, ChannelHandler handler) {
  const auto attempt = attempts_.emplace(attempts_.end());
  *attempt = std::make_unique<ActiveOpen>(
      io_, peer, ActiveOpen::Settings{.options = options_, .relay_token = relay_token_, .proof = proof_.get()},
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
