// SPDX-License-Identifier: Apache-2.0
/// One stream that a peer has opened to the place: a registration, or asks for a listener (docs/spec/meet.md §4).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/key_pair.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/meeting/message.hpp"
#include "lib/meeting/message_stream.hpp"
#include "meet/pair_table.hpp"
#include "meet/peer_ledger.hpp"
#include "meet/registry.hpp"

namespace udtcat::meet {

/// The state that all streams of a place share.
/// Threads: confined to the io_context thread.
struct PlaceState {
  PlaceState(boost::asio::io_context& with, const PlaceLimits& its, PairTable::Settings settings)
      : io(with), limits(its), ledger(its), pairs(with, its, ledger, std::move(settings)) {}

  boost::asio::io_context& io;
  const PlaceLimits limits;
  PeerLedger ledger;
  Registry registry;
  PairTable pairs;
  std::function<void(const Connection& peer, const Error& why)> on_refused{};
};

/// The session that a stream belongs to.
struct PeerOfStream {
  Connection& connection;
  PeerLedger::Peer peer;
  std::string text;  ///< for people
};

///   fresh ── REGISTER ──► challenged ── PROOF ──► registered ── the peer ends it ──► over
///     │                       └── 10 s, a wrong one ──► refused ── 10 s ────────────►│
///     ├── ASK ──► asking ── ANSWERED ──► paired ── the peer ends it ────────────────►│
///     │◄─ REFUSED ──┘                                                                │
///     └── 10 s, another message ────────────────────────────────────────────────────►┘
///
/// Threads: confined to the io_context thread.
class ClientStream {
 public:
  /// place, peer   outlive this
  ClientStream(PlaceState& place, const PeerOfStream& peer, std::unique_ptr<Stream> stream);
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;
  ~ClientStream() { release(StreamEnd::lost); }

  /// Nothing comes of it any more; destroyed a little later, it has said all.
  [[nodiscard]] bool is_over() const { return state_ == State::over; }

 private:
  enum class State { fresh, challenged, registered, refused, asking, paired, over };

  void on_message(const meeting::Message& message);
  void challenge(const meeting::Register& message);
  void prove(const meeting::Proof& message);
  void ask(const meeting::Ask& message);
  void on_from_pair(const meeting::Message& message);
  void on_refused(const meeting::Refused& why);
  void refuse(meeting::Refused why);
  void wait();
  void release(StreamEnd how);
  void end(StreamEnd how);

  PlaceState& place_;
  const PeerOfStream& peer_;
  State state_ = State::fresh;
  meeting::Challenge challenge_;
  std::optional<PublicKey> name_;  // asked for
  RegisteredListener listener_;
  std::optional<PairTable::Id> pair_;
  bool asks_too_fast_ = false;  // and was told so
  boost::asio::steady_timer patience_;
  meeting::MessageStream messages_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meet
