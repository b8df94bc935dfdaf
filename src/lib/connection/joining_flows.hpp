// SPDX-License-Identifier: Apache-2.0
/// Sessions of several flows: the connector opens the others, the listener waits for them. See docs/spec/handshake.md
/// §8.
#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/session/join.hpp"
#include "lib/session/session.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {

inline constexpr auto kFlowsPatience = std::chrono::seconds(8);  // spec: handshake.md §8: less than the listener has
inline constexpr std::size_t kFlowsDialedAtOnce = 4;  // spec: handshake.md §8: a listener's backlog is short

/// Brings the missing flows to one session. Destroying it gives up without a call, and breaks the session off.
/// Threads: confined to the io_context thread.
class FlowDialing {
 public:
  using Handler = std::function<void(Result<std::unique_ptr<session::Session>>)>;

  /// session   one that has a join key
  /// engine    outlives this
  /// handler   called once, never from inside; may destroy this
  /// errors (to the handler): Errc::cannot_reach when they did not come about in time; Errc::connection_broken when the
  /// listener refused one; Errc::authentication_failed if the peer does not hold the key; Errc::protocol_violated;
  /// Errc::cipher_failed
  FlowDialing(boost::asio::io_context& io, transport::Engine& engine, std::unique_ptr<session::Session> session,
              Handler handler);

 private:
  /// One flow on its way.
  struct Attempt {
    Attempt(boost::asio::io_context& io, std::uint8_t number) : flow(number), pause(io) {}
    std::uint8_t flow;
    boost::asio::steady_timer pause;
    std::vector<std::byte> input;
    std::unique_ptr<transport::Channel> channel;  // last: its threads end before the bytes they fill
  };

  void begin_next();
  void connect(Attempt& attempt);
  void try_again(Attempt& attempt, const Error& error);
  void read_exactly(Attempt& attempt, std::size_t bytes, void (FlowDialing::*next)(Attempt&));
  void on_prefix(Attempt& attempt);
  void on_joined(Attempt& attempt);
  void finish(Result<std::unique_ptr<session::Session>> result);

  boost::asio::io_context& io_;
  transport::Engine& engine_;
  Handler handler_;
  std::unique_ptr<session::Session> session_;
  std::size_t next_flow_ = 1;
  std::list<Attempt> attempts_;  // at most kFlowsDialedAtOnce
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

inline constexpr std::size_t kMaxAwaitedSessions = 32;                   // spec: handshake.md §8
inline constexpr auto kAwaitedFlowsDeadline = std::chrono::seconds(10);  // spec: handshake.md §8

/// Threads: confined to the io_context thread. Handlers are called there, not after destruction or clear().
class AwaitedSessions {
 public:
  /// All its flows are there.
  using CompleteHandler = std::function<void(std::unique_ptr<session::Session>)>;
  /// Its flows did not come in time; it is closed.
  using LateHandler = std::function<void(const Endpoint& peer, const Error& why)>;

  AwaitedSessions(boost::asio::io_context& io, CompleteHandler on_complete, LateHandler on_late);

  /// A session that has a join key.  errors: Errc::out_of_resources when too many wait
  [[nodiscard]] Status add(std::unique_ptr<session::Session> session);

  /// A channel that says it belongs to one of them; if it does it is told so. CompleteHandler may be called from
  /// inside. A channel that is refused is gone.
  /// errors   Errc::authentication_failed: no such session waits, the proof is wrong, or the flow is there already or
  ///          not agreed on; nothing has changed
  [[nodiscard]] Status join(const session::Join& join, std::unique_ptr<transport::Channel> channel);

  void clear() { awaited_.clear(); }

 private:
  struct Awaited {
    explicit Awaited(boost::asio::io_context& io) : deadline(io) {}
    std::unique_ptr<session::Session> session;
    std::bitset<kMaxFlows> joined;
    boost::asio::steady_timer deadline;
  };
  using Entry = std::list<Awaited>::iterator;

  void arm(Entry entry);
  [[nodiscard]] Status take_in(Awaited& awaited, const session::Join& join, transport::Channel& channel);

  boost::asio::io_context& io_;
  const CompleteHandler on_complete_;
  const LateHandler on_late_;
  std::list<Awaited> awaited_;  // at most kMaxAwaitedSessions
  core::Lifetime lifetime_;
};

/// The options of each of `flows` channels that together are to send no faster than `whole` says.
[[nodiscard]] TransportOptions share_of_each_flow(TransportOptions whole, std::optional<std::size_t> flows);

}  // namespace udtcat::connection
