// SPDX-License-Identifier: Apache-2.0
/// Embryonic connections: those whose handshake is not complete at the connecting end.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/net/datagram_socket.hpp"
#include "lib/transport/native/active_open.hpp"

namespace udtcat::transport::native {

class UdtLink;

/// Threads: confined, as Channel. Handlers are never called from inside the call that took them.
class EmbryonicConnections {
 public:
  using Handler = std::function<void(Result<UdtLink*>)>;
  /// The port's part.
  struct Port {
    std::function<net::SendResult(std::vector<std::byte> packet, const Endpoint& to)> send;
    std::function<UdtLink&(TimePoint now, const ConnectionSettings& agreed)> connect;
  };

  EmbryonicConnections(boost::asio::io_context& io, Port port) : io_(io), port_(std::move(port)) {}

  /// Opens a connection to request.peer within `patience`.  errors, of the handler: Errc::cannot_reach
  void add(const OpenRequest& request, std::chrono::milliseconds patience, Handler handler);
  /// Gives all of them up; no handler is called.
  void clear() { attempts_.clear(); }

  [[nodiscard]] bool contains(std::uint32_t local_id) const { return attempts_.contains(local_id); }
  [[nodiscard]] bool empty() const { return attempts_.empty(); }
  /// Whether a packet has come from the peer of one of them.
  [[nodiscard]] bool is_answered() const {
    return std::ranges::any_of(attempts_, [](const auto& each) { return each.second->is_answered; });
  }

  /// returns   whether `local_id` is one of theirs
  [[nodiscard]] bool handle_packet(TimePoint now, std::uint32_t local_id, std::span<const std::byte> packet,
                                   const Endpoint& from);
  void handle_path_error(const net::PathError& error);
  /// A listener at `from` has sent a check: its firewall may have dropped what we sent before.
  void handle_check(const Endpoint& from);

 private:
  struct Attempt {
    Attempt(boost::asio::io_context& io, ActiveOpen how, TimePoint give_up, Handler told)
        : open(std::move(how)), give_up_at(give_up), handler(std::move(told)), timer(io) {}
    ActiveOpen open;
    TimePoint give_up_at;
    Handler handler;
    boost::asio::steady_timer timer;
    std::string likely_cause = "nobody answered";
    bool is_answered = false;
  };

  void run(std::uint32_t local_id);
  void fail_with(const Attempt& attempt, std::string cause);
  void finish(std::uint32_t local_id, Result<UdtLink*> result);

  boost::asio::io_context& io_;
  const Port port_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Attempt>> attempts_;  // by our number
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
