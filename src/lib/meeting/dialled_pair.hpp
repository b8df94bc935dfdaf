// SPDX-License-Identifier: Apache-2.0
/// A connector's half of a pair: the port that it dials from, its stream at the meeting place,
/// its binding at the relay.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/meeting/binding_client.hpp"
#include "lib/meeting/candidate_gathering.hpp"
#include "lib/meeting/message_stream.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::meeting {

/// Each channel and connection of engine() keeps this alive, so that a relayed session has its relay for as long as it
/// lives, and goes on trying for a direct path: docs/spec/meet.md §7.4.
/// Threads: confined to the io_context thread, where handlers are called, never from inside a call.
class DialledPair : public std::enable_shared_from_this<DialledPair> {
 public:
  /// errors: those of the engine; Errc::cannot_bind
  [[nodiscard]] static Result<std::shared_ptr<DialledPair>> create(boost::asio::io_context& io,
                                                                   const DialRequest& request);
  DialledPair(const DialledPair&) = delete;
  DialledPair& operator=(const DialledPair&) = delete;
  ~DialledPair();

  /// Null: the request is for TCP alone.
  [[nodiscard]] std::shared_ptr<transport::Engine> engine() {
    if (!engine_) return nullptr;
    return {shared_from_this(), engine_.get()};
  }
  /// Of TCP, for `request`. relayed   by that token at the place; the engine then keeps this alive as the other does
  [[nodiscard]] Result<std::shared_ptr<transport::Engine>> tcp_engine(
      const DialRequest& request, const std::optional<transport::RelayToken>& relayed);

  /// on_lost   the place is gone; not called after go_on()
  void take_place(std::unique_ptr<Connection> place, std::function<void(const Error&)> on_lost);
  void gather(CandidateGathering::Handler handler) { gathering_.gather(place_address(), std::move(handler)); }
  [[nodiscard]] bool gets_no_udp() const { return !gathering_.is_place_reached(); }
  /// Of the session with the place.
  [[nodiscard]] Endpoint place_peer() const { return place_->peer(); }
  /// handler   called for each check (RFC 8445 §7.3.1.3) with its source, which nobody vouches for
  void on_check(std::function<void(const Endpoint& from)> handler) { on_check_ = std::move(handler); }
  /// handler   called with Answered or Refused, or not at all where the place is lost
  void ask(const Ask& message, std::function<void(const Message&)> handler);
  /// The relay's address, from which the other end is reached once `on_bound` is called; none: the place has none.
  [[nodiscard]] std::optional<Endpoint> bind(const Relay& relay, std::function<void()> on_bound);
  /// The session, which keeps this alive, is by one of `candidates` or by the relay: tries the others now and then.
  void go_on(Connection& session, std::vector<Endpoint> candidates);
  /// The session is by relayed TCP: the stream at the place stays open, so that the pair does.
  void go_on_by_tcp();

 private:
  DialledPair(boost::asio::io_context& io, const DialRequest& request, std::shared_ptr<transport::Engine> engine,
              std::vector<Endpoint> locals);
  /// Of its datagrams. None: this end sends it none.
  [[nodiscard]] std::optional<Endpoint> place_address() const;
  void on_message(const Message& message);
  void lose(const Error& error);
  void watch();
  void on_moved(std::chrono::steady_clock::time_point now);
  void mend_relay(std::chrono::steady_clock::time_point now);
  void try_candidates(std::chrono::steady_clock::time_point now);

  boost::asio::io_context& io_;
  const std::shared_ptr<const MeetingPlace> via_;
  const std::shared_ptr<transport::Engine> engine_;  // null: by TCP alone
  BindingClient client_;
  CandidateGathering gathering_;
  std::unique_ptr<Connection> place_;
  std::unique_ptr<MessageStream> messages_;
  std::function<void(const Error&)> on_lost_;
  std::function<void(const Message&)> on_answer_;
  std::function<void(const Endpoint&)> on_check_;
  std::optional<Endpoint> relay_;
  std::optional<KeptBinding> binding_;

  using Clock = std::chrono::steady_clock;
  Connection* session_ = nullptr;
  bool is_relayed_ = false;
  Clock::time_point moved_at_{};
  Clock::time_point mended_at_{};
  std::vector<Endpoint> candidates_;
  std::size_t next_candidate_ = 0;
  Clock::time_point try_at_{};
  Clock::duration pause_{};
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meeting
