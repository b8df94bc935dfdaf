// SPDX-License-Identifier: Apache-2.0
/// Dials one peer again whenever its session has ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "forward/redial_backoff.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/net/resolver.hpp"
#include "tool/cli/options.hpp"

namespace udtcat::forward {

inline constexpr std::chrono::milliseconds kUrgentRedialDelay{500};  // guess: a client waits; dial() has pauses, too
inline constexpr std::chrono::seconds kLongEnough{5};                // guess: of a connection whose peer is well

/// One attempt at a time. The name is looked up for each, as the peer may come back at another address. A name that is
/// not found fails the attempt; where the resolver fails the last good answer is dialled.
///
///   idle ──start(), want()──► dialling ──a connection──► idle
///                              ▲ └──an error──► pausing ─┐
///                              └── its end, retry_soon() ─┘
///
/// Threads: confined to the io_context thread, where the handlers are called, which must not destroy this.
class Redial {
 public:
  using ConnectionHandler = std::function<void(std::unique_ptr<Connection>)>;
  /// An attempt has failed; the next follows unless cancel() is called.
  using FailureHandler = std::function<void(const Error&)>;

  /// `options`, which say who the peer is and how it is dialled, must outlive this.
  Redial(boost::asio::io_context& io, const tool::Options& options, std::optional<Credentials> credentials,
         ConnectionHandler on_connection, FailureHandler on_failure);

  void start() { look_up(); }
  /// A connection is wanted, if none is on its way: at once, then after pauses.
  void want();
  /// Dials once by UDP alone, beside a session over TCP. A failure changes nothing.
  void try_udp();
  /// A client waits: the next attempt begins soon.
  void retry_soon();
  /// A connection that an attempt made has ended. After a short life it counts as a failed attempt: a peer that accepts
  /// connections and drops them is not dialled without a pause.
  void on_lost(std::chrono::steady_clock::duration life);
  /// A connection is wanted and not made yet.
  [[nodiscard]] bool is_dialling() const { return state_ != State::idle; }
  /// Dials after the first, whatever came of them; those of try_udp() not.
  [[nodiscard]] std::uint64_t redials() const { return dials_ > 0 ? dials_ - 1 : 0; }
  [[nodiscard]] const std::vector<Endpoint>& addresses() const { return addresses_; }
  /// No connection is wanted any more: the next want() dials at once.
  void cancel();

 private:
  enum class State { idle, dialling, pausing };

  void look_up();
  void attempt(std::vector<Endpoint> addresses);
  void on_dialled(Result<std::unique_ptr<Connection>> connection);
  void on_failed(const Error& error);
  void pause(std::chrono::milliseconds time);

  boost::asio::io_context& io_;
  const tool::Options& options_;
  const std::optional<Credentials> credentials_;
  const ConnectionHandler on_connection_;
  const FailureHandler on_failure_;
  State state_ = State::idle;
  bool urgent_ = false;
  bool lost_soon_ = false;  // the last connection
  std::uint64_t dials_ = 0;
  RedialBackoff backoff_;
  std::minstd_rand random_{std::random_device{}()};
  net::Resolver resolver_;
  boost::asio::steady_timer timer_;
  std::vector<Endpoint> addresses_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Dialer> udp_dialer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::forward
