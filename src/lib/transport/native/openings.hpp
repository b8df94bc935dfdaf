// SPDX-License-Identifier: Apache-2.0
/// The connections that a port is opening: each asks until it is answered, refused or given up.
#pragma once

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

struct UdtLink;

/// Threads: confined, as Channel. Handlers are never called from inside the call that took them.
class Openings {
 public:
  using Handler = std::function<void(Result<UdtLink*>)>;
  /// The port's part.
  struct Port {
    std::function<net::SendResult(std::vector<std::byte> packet, const Endpoint& to)> send;
    std::function<UdtLink&(TimePoint now, const ConnectionSettings& agreed)> connect;
  };

  Openings(boost::asio::io_context& io, Port port) : io_(io), port_(std::move(port)) {}

  /// Asks request.peer for `patience`.  errors, of the handler: Errc::cannot_reach
  void add(const OpenRequest& request, std::chrono::milliseconds patience, Handler handler);
  /// Ends all of them without a call.
  void clear() { openings_.clear(); }

  [[nodiscard]] bool contains(std::uint32_t local_id) const { return openings_.contains(local_id); }
  [[nodiscard]] bool empty() const { return openings_.empty(); }

  /// returns   whether `local_id` is the number of one
  [[nodiscard]] bool handle_packet(TimePoint now, std::uint32_t local_id, std::span<const std::byte> packet,
                                   const Endpoint& from);
  void handle_path_error(const net::PathError& error);

 private:
  struct Opening {
    Opening(boost::asio::io_context& io, ActiveOpen how, TimePoint give_up, Handler told)
        : open(std::move(how)), give_up_at(give_up), handler(std::move(told)), timer(io) {}
    ActiveOpen open;
    TimePoint give_up_at;
    Handler handler;
    boost::asio::steady_timer timer;
    std::string likely_cause = "nobody answered";
  };

  void run(std::uint32_t local_id);
  void fail_with(const Opening& opening, std::string cause);
  void finish(std::uint32_t local_id, Result<UdtLink*> result);

  boost::asio::io_context& io_;
  const Port port_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Opening>> openings_;  // by our number
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
