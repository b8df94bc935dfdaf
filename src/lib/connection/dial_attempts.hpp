// SPDX-License-Identifier: Apache-2.0
/// Attempts to have a session with a listener, by race after race of its addresses, until the owner is satisfied or the
/// time is over.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/net/resolver.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {

/// A handshake of libudt can be lost without an error at either end: a new attempt is the cure.
inline constexpr auto kAttemptPatience = std::chrono::milliseconds(2500);  // spec: below libudt's 3 s, see ADR-0003
inline constexpr auto kRetryPause = std::chrono::milliseconds(200);        // guess

/// The owner's part of an attempt at one address. Destroying it breaks the attempt off; one that has failed may still
/// be saying why to the peer.
class Attempt {
 public:
  virtual ~Attempt() = default;
};

/// Each race asks all addresses, the next one 250 ms after the one before or when that has failed; the first to prove
/// the key wins. Each attempt has a source port of its own, so that no router's memory of an earlier one is in the way.
///
///   pausing ──► racing ──a session stands──► with the owner ──finish()──► over
///      ▲           │                              │
///      └─all failed┴──────────────────────────────┘          out of time, or no use in trying again: over
///
/// Threads: confined to the io_context thread, where the handlers are called.
class Attempts {
 public:
  /// To be called once, not from inside Begin. No error: this attempt has won, and the others are gone.
  /// somebody_answered   an error says more than that of an attempt which is not answered
  using Outcome = std::function<void(const std::optional<Error>& error, bool somebody_answered)>;
  using Begin = std::function<std::unique_ptr<Attempt>(transport::Engine&, const Endpoint& address, Outcome)>;
  using FailureHandler = std::function<void(const Error&)>;

  /// secrets   of the engine's ports; outlive this, as request does
  /// engine    null: one is made
  Attempts(boost::asio::io_context& io, const DialRequest& request, transport::PortSecrets secrets, Begin begin,
           FailureHandler on_failure, std::shared_ptr<transport::Engine> engine = nullptr);

  /// The session that won came to nothing: tries again, or gives up. Its error says more than that of a later attempt
  /// which is not answered.
  void try_again_after(const Error& error);
  /// The owner is satisfied: no deadline and no attempt any more. What failed may still be saying why.
  void finish();
  /// Nothing is kept of any handshake.
  void forget() {
    racing_.clear();
    raced_.clear();
  }

  [[nodiscard]] const std::shared_ptr<transport::Engine>& engine() const { return engine_; }

 private:
  using Clock = std::chrono::steady_clock;

  void start(const transport::PortSecrets& secrets);
  void race();
  void ask_next();
  void on_won(std::size_t winner);
  void on_failed(const Error& error, bool somebody_answered);
  void note(const Error& error, bool somebody_answered);
  void race_over();
  void look_up();
  void give_up(const Error& error);
  [[nodiscard]] Error keys_differ(const std::string& cause) const;
  [[nodiscard]] Error unreachable() const;

  boost::asio::io_context& io_;
  const DialRequest& request_;
  const Begin begin_;
  const FailureHandler on_failure_;
  const Clock::time_point started_ = Clock::now();
  std::shared_ptr<transport::Engine> engine_;
  std::vector<Endpoint> addresses_;  // as last found
  std::vector<Endpoint> order_;      // of this race
  std::size_t asked_ = 0;            // of them
  std::size_t running_ = 0;
  std::vector<std::unique_ptr<Attempt>> racing_;
  std::vector<std::unique_ptr<Attempt>> raced_;  // in the race before
  bool heard_only_closed_ports_ = true;
  bool somebody_answered_ = false;
  std::optional<Error> last_error_;
  std::optional<Error> final_error_;  // after which no other race is of use
  bool looking_up_ = false;
  std::optional<net::Resolver> resolver_;  // none: the request names no host, or it is over
  boost::asio::steady_timer timer_;        // of the next address, or the next race
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::connection
