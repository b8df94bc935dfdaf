/// Sessions of several flows that have proved the key and wait for the rest of their channels. See docs/spec/handshake.md §8.
#pragma once

#include <bitset>
#include <chrono>
#include <functional>
#include <list>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/session/join.hpp"
#include "lib/session/session.hpp"

namespace udtcat::connection {

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

  /// A channel that says it belongs to one of them; if it does it is told so. CompleteHandler may be called from inside. A channel
  /// that is refused is gone.
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
  using Place = std::list<Awaited>::iterator;

  void arm(Place place);
  [[nodiscard]] Status take_in(Awaited& awaited, const session::Join& join, transport::Channel& channel);

  boost::asio::io_context& io_;
  const CompleteHandler on_complete_;
  const LateHandler on_late_;
  std::list<Awaited> awaited_;  // at most kMaxAwaitedSessions
  core::Lifetime lifetime_;
};

}  // namespace udtcat::connection
