// SPDX-License-Identifier: Apache-2.0
/// Host names, resolved without blocking and cached for seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/net/lookup.hpp"

namespace udtcat::net {

struct ResolverTimeouts {
  std::chrono::milliseconds answer_lasts{5'000};   // guess: a client after a failover waits no longer for the new one
  std::chrono::milliseconds failure_lasts{1'000};  // guess: a name that comes late is found by the next try
  std::chrono::milliseconds stale_after{1'800};    // spec: RFC 8767 §5, client response timer
  std::chrono::milliseconds timeout{10'000};       // guess: as a service that is connected to has
};

/// Asks the system's resolver on threads of its own, a few at a time. Requests for one name share an answer, which
/// lasts some seconds. Where the resolver fails, or is slow, the last good answer is given, unless the name was found
/// not to exist since.
/// Threads: confined to the io_context thread, where the handlers are called, never from look_up().
class Resolver {
 public:
  using Handler = std::function<void(Result<std::vector<Endpoint>>)>;
  using LookupFunction = std::function<LookupResult(const HostPort& host, AddressFamily family)>;

  Resolver(boost::asio::io_context& io, AddressFamily family, ResolverTimeouts times = {},
           LookupFunction ask = net::look_up);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  /// The number of handlers that wait is bounded by the callers. Destroying this drops them.
  /// errors   Errc::cannot_resolve, also where the resolver does not answer in time
  void look_up(const HostPort& target, Handler handler);

 private:
  using Clock = std::chrono::steady_clock;
  struct PendingLookup {
    std::uint16_t port;
    Handler handler;
  };
  struct CachedName {
    explicit CachedName(boost::asio::io_context& io) : timer(io) {}
    std::vector<Endpoint> good;  // the last good answer
    std::optional<Error> error;  // of the last one, where nothing good is to be had
    Clock::time_point lasts_until;
    bool asking = false;
    bool is_slow = false;  // the resolver, this time
    std::deque<PendingLookup> waiting;
    boost::asio::steady_timer timer;
  };
  class Mailbox;

  void ask_next();
  void on_answer(const std::string& host, const LookupResult& answer);
  void on_slow(const std::string& host, CachedName& name);
  void answer_all(CachedName& name);

  boost::asio::io_context& io_;
  const AddressFamily family_;
  const ResolverTimeouts times_;
  const LookupFunction ask_;
  std::map<std::string, CachedName> names_;  // as many as the user has written
  std::deque<std::string> queue_;            // of those that wait for a thread; each once
  std::size_t threads_ = 0;
  const std::shared_ptr<Mailbox> mailbox_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::net
