// SPDX-License-Identifier: Apache-2.0
/// A listener and a connector that a place has brought together (docs/spec/meet.md §4 to §6).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/stream.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/meeting/message.hpp"
#include "lib/meeting/message_stream.hpp"
#include "meet/datagram_relay.hpp"
#include "meet/peer_ledger.hpp"
#include "meet/tcp_relay.hpp"

namespace udtcat::meet {

/// How a connector's stream has gone.
enum class StreamEnd {
  ended,  ///< by its own word: it wants the pair no more
  lost,   ///< with its session with the place, which need not end that of the pair
};

/// Between the stream of the connector that asked, which is another's, and one that it opened to the listener.
///
///   offered ── ANSWER ──► answered ── the connector's stream has gone, and 2 or 60 s without a byte ─► over
///      └── REFUSED, no answer for 10 s, either stream has gone ───────────────────────────────────────►┘
///
/// Threads: confined to the io_context thread. Handlers are never called from inside a call.
class Pair {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Handlers {
    std::function<void(const meeting::Message&)> to_connector;
    /// It is over, and nothing is called after this.
    std::function<void(const meeting::Refused&)> on_refused;
  };
  /// The ends for people, and the connector for the ledger.
  struct Names {
    std::string listener;
    std::string connector;
    PeerLedger::Peer peer;
  };

  /// Both relays.  datagrams   none: the place has no port to give;  tcp   none: it does not relay TCP
  struct Relays {
    std::unique_ptr<DatagramRelay> datagrams;
    std::unique_ptr<TcpRelay> tcp;
  };

  Pair(boost::asio::io_context& io, const PlaceLimits& limits, Names names, const RelayTokens& tokens, Relays relays,
       Handlers handlers);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() = default;

  void offer(std::unique_ptr<Stream> to_listener, std::vector<std::byte> signed_offer);
  /// AGAIN came from the connector.
  void again();
  /// The end by whose token a TCP connection has begun; none: it is of another pair, or comes too early.
  [[nodiscard]] std::optional<PairRole> role_of(const meeting::Relay::Token& token) const;
  /// Takes that connection. The listener is told to come where its own is missing.
  void take(PairRole from, TcpRelay::Socket socket);
  /// The connector's stream has gone; none of its handlers is called from now on.
  void leave(StreamEnd how);
  /// Whether it is over, or nobody has used it for long.
  [[nodiscard]] bool is_idle(TimePoint now) const;
  /// Whether the connector has left before the answer.
  [[nodiscard]] bool is_given_up() const { return state_ == State::offered && !has_connector_; }

  [[nodiscard]] const Names& names() const { return names_; }
  [[nodiscard]] const DatagramRelay* relay() const { return relays_.datagrams.get(); }
  /// Whether a TCP connection of each end is here.
  [[nodiscard]] bool relays_tcp() const { return relays_.tcp && relays_.tcp->is_joined(); }
  /// Of what came from that end, by UDP and TCP.
  [[nodiscard]] RelayCounts counts(PairRole role) const;
  [[nodiscard]] TimePoint made_at() const { return made_at_; }

 private:
  enum class State { offered, answered, over };

  void on_message(const meeting::Message& message);
  void on_listener_left();
  void refuse(meeting::Refused::Why why, std::string text);
  [[nodiscard]] meeting::Relay relay_of(PairRole role) const;

  const PlaceLimits limits_;
  const Names names_;
  const RelayTokens tokens_;
  const Relays relays_;
  const Handlers handlers_;
  const TimePoint made_at_;
  State state_ = State::offered;
  std::unique_ptr<meeting::MessageStream> to_listener_;
  bool has_listener_ = true;
  bool has_connector_ = true;
  StreamEnd stream_end_ = StreamEnd::lost;
  TimePoint left_at_{};  // by the last of its streams
  std::optional<TimePoint> again_at_;
  boost::asio::steady_timer patience_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meet
