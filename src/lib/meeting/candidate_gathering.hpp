// SPDX-License-Identifier: Apache-2.0
/// Gathers this end's candidates (RFC 8445 §5.1.1): its interfaces' addresses, and the port's as servers see it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/meeting/binding_client.hpp"
#include "lib/meeting/candidates.hpp"
#include "lib/net/resolver.hpp"

namespace udtcat::meeting {

/// Threads: confined to the io_context thread, where the handler is called, never from inside a call.
class CandidateGathering {
 public:
  using Handler = std::function<void(std::vector<Candidate>)>;

  /// client   outlives this
  /// locals   of the UDP port: a wildcard has all addresses of its family
  CandidateGathering(boost::asio::io_context& io, BindingClient& client, std::vector<Endpoint> locals,
                     std::vector<HostPort> stun);
  CandidateGathering(const CandidateGathering&) = delete;
  CandidateGathering& operator=(const CandidateGathering&) = delete;
  ~CandidateGathering() = default;

  /// Asks the place at `place`, and the other servers, and calls `handler` when all have answered, or after a second.
  /// A gathering under way is given up: its handler is not called.
  /// place   none: it cannot be asked
  void gather(const std::optional<Endpoint>& place, Handler handler);
  /// Whether the place has answered the last call in time: this end gets UDP to and from it.
  [[nodiscard]] bool is_place_reached() const { return is_place_reached_; }

 private:
  void ask(const Endpoint& server, bool is_place);
  void answered();
  void finish();

  BindingClient& client_;
  const std::vector<Endpoint> locals_;
  const std::vector<HostPort> stun_;
  net::Resolver resolver_;
  std::vector<Endpoint> mapped_;
  std::size_t waiting_for_ = 0;
  bool place_answers_ = false;     // this time
  bool is_place_reached_ = false;  // the last time
  Handler handler_;
  boost::asio::steady_timer timer_;
  core::Lifetime asking_;
};

}  // namespace udtcat::meeting
