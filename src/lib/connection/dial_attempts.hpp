// SPDX-License-Identifier: Apache-2.0
/// Attempts to have a session with a listener, by race after race of its addresses, until the owner is satisfied or the
/// time is over.
#pragma once

#include <algorithm>
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
/// Where nobody has answered by UDP for so long, TCP is tried, too.
inline constexpr auto kTcpDelay = std::chrono::milliseconds(200);  // spec: tcp.md §5
/// And for so long where somebody has answered: then only the rest of the handshake is missing.
inline constexpr auto kAnsweredPatience = std::chrono::milliseconds(1000);  // spec: tcp.md §5
/// UDP's handshake packet is repeated after so long.
inline constexpr auto kUdpRepeats = std::chrono::milliseconds(250);  // spec: udt4.md §4
inline constexpr auto kHoldSlack = std::chrono::milliseconds(50);    // guess: what hosts and timers take

/// The owner's part of an attempt at one address. Destroying it breaks the attempt off; one that has failed may still
/// be saying why to the peer.
class Attempt {
 public:
  virtual ~Attempt() = default;
};

/// Each race asks all addresses, from each local one that the user names, the next one 250 ms after the one before or
/// when that has failed; the first to prove the key wins. Each attempt has a source port of its own, so that no
/// router's memory of an earlier one is in the way.
/// With TransportKind::automatic TCP joins a race that is silent by UDP, and wins where UDP has not even answered its
/// second packet (docs/spec/tcp.md §5).
///
///   pausing ──► racing ──a session stands──► with the owner ──finish()──► over
///      ▲           │                              │
///      └─all failed┴──────────────────────────────┘          out of time, or no use in trying again: over
///
/// Threads: confined to the io_context thread, where the handlers are called.
class Attempts {
 public:
  using Clock = std::chrono::steady_clock;
  /// To be called once, not from inside Begin. No error: this attempt has won, and the others are gone.
  /// somebody_answered   an error says more than that of an attempt which is not answered
  using Outcome = std::function<void(const std::optional<Error>& error, bool somebody_answered)>;
  /// To be called when the peer has proved the key and before it could know that we have: the attempt goes on when
  /// `go_on` is called.
  /// round_trip   of the path, as TCP has measured it
  using ProofHandler = std::function<void(Clock::duration round_trip, std::function<void()> go_on)>;
  /// hold   none: the attempt is not held
  using Begin = std::function<std::unique_ptr<Attempt>(transport::Engine&, const Endpoint& address, Outcome outcome,
                                                       ProofHandler hold)>;
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

  /// By which the attempt that has won goes.
  [[nodiscard]] const std::shared_ptr<transport::Engine>& engine() const { return winner_; }

 private:
  /// A transport in a race.
  struct Transport {
    explicit Transport(boost::asio::io_context& io) : timer(io) {}
    std::shared_ptr<transport::Engine> engine;
    std::size_t asked = 0;  // of the addresses, in this race
    std::size_t running = 0;
    boost::asio::steady_timer timer;  // of the next address
  };
  struct Entry {
    Transport* transport;
    Endpoint address;
    Clock::time_point began;
    std::unique_ptr<Attempt> attempt;
    bool has_proved = false;  // by UDP: the listener may have the session
  };
  /// An attempt by TCP whose peer has proved the key.
  struct Proof {
    std::size_t index;
    std::function<void()> go_on;
  };

  void start(const transport::PortSecrets& secrets);
  void race();
  void ask_next(Transport& transport);
  void ask(Transport& transport, const Endpoint& address);
  void begin_tcp();
  void hold(std::size_t index, Clock::duration round_trip, std::function<void()> go_on);
  void release_at(Clock::time_point at, bool may_wait_longer);
  void release(bool has_waited = false);
  void on_won(std::size_t winner);
  void on_failed(std::size_t index, const Error& error, bool somebody_answered);
  void on_udp_over();
  void on_tcp_over();
  void note(const Error& error, bool somebody_answered);
  void note_tcp(const Error& error, bool somebody_answered);
  void race_over();
  void look_up();
  void give_up(const Error& error);
  [[nodiscard]] bool is_over(const Transport& transport) const {
    return transport.asked == order_.size() && transport.running == 0;
  }
  [[nodiscard]] bool has_proved_by_udp() const {
    return std::ranges::any_of(racing_, [](const Entry& each) { return each.has_proved && each.attempt != nullptr; });
  }
  [[nodiscard]] bool races_tcp() const { return tcp_.engine != nullptr && !proxy_refuses_; }
  [[nodiscard]] Error keys_differ(const std::string& cause) const;
  [[nodiscard]] Error unreachable() const;

  boost::asio::io_context& io_;
  const DialRequest& request_;
  const Begin begin_;
  const FailureHandler on_failure_;
  const Clock::time_point started_ = Clock::now();
  std::shared_ptr<transport::Engine> winner_;
  std::vector<Endpoint> addresses_;  // as last found
  std::vector<Endpoint> order_;      // of this race
  Clock::time_point race_began_;
  Transport first_;  // the only one, or that by UDP
  Transport tcp_;    // beside it; without an engine: it does not race
  bool tcp_began_ = false;
  std::vector<Entry> racing_;
  std::vector<Entry> raced_;  // in the race before
  std::vector<Proof> held_;
  bool proxy_refuses_ = false;  // TCP to the peer
  bool heard_only_closed_ports_ = true;
  bool somebody_answered_ = false;
  std::optional<Error> last_error_;
  std::optional<Error> tcp_error_;
  std::optional<Error> final_error_;  // after which no other race is of use
  bool looking_up_ = false;
  std::optional<net::Resolver> resolver_;  // none: the request names no host, or it is over
  boost::asio::steady_timer timer_;        // of the next race
  boost::asio::steady_timer tcp_timer_;    // of TCP's beginning, and then of its held attempt
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::connection
