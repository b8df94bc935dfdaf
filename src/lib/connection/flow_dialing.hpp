/// The connector's other flows: connect, say JOIN, hear JOINED. See docs/spec/handshake.md §8.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/result.hpp>

#include "lib/connection/attempts.hpp"
#include "lib/core/lifetime.hpp"
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
  /// errors (to the handler): Errc::cannot_reach when they did not come about in time; Errc::connection_broken when the listener
  /// refused one; Errc::authentication_failed if who answered holds no key; Errc::protocol_violated; Errc::cipher_failed
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
  void say_join(Attempt& attempt);
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

}  // namespace udtcat::connection
