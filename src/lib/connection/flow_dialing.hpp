// SPDX-License-Identifier: Apache-2.0
/// The connector of a session of several flows dials the others while it runs. See docs/spec/handshake.md §8.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>

#include "lib/connection/flow_growth.hpp"
#include "lib/connection/flow_watch.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/session/join.hpp"
#include "lib/session/session.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {

inline constexpr auto kLeastFlowPatience = std::chrono::milliseconds(300);  // guess: a handshake's packet sent again
inline constexpr auto kMostFlowPatience = std::chrono::seconds(4);  // guess: two round trips of a satellite, slowly
inline constexpr auto kMostFlowPause = std::chrono::seconds(2);     // guess: between dials into an outage
inline constexpr auto kMostRefusedFlowPause = std::chrono::seconds(30);  // guess: it goes on to
inline constexpr auto kLeastReturnPause = std::chrono::seconds(2);       // guess: a cable is pulled and put back
inline constexpr auto kMostReturnPause = std::chrono::seconds(60);       // guess: a try may cost the flow half a second
inline constexpr unsigned kMostReturnPatience = 2;  // guess: doubled so often; a satellite's handshake

/// Brings further flows to one session, as many as its user wants or as help, and others in the place of those that are
/// lost or silent.
/// Threads: confined to the io_context thread.
class FlowDialing {
 public:
  struct Settings {
    std::optional<std::size_t> flows{};  ///< none: as many as help
    std::size_t addresses = 0;       ///< of this host, each of which a flow is to leave from; 0: the system's choice
    std::uint64_t memory_bytes = 0;  ///< of all further flows together
  };
  /// The statistics of the session's two ends, by which it is found whether its path has a limit for a flow.
  using StatsSource = std::function<BothEndsStats()>;

  /// session   runs, has a join key, and outlives this, as engine does
  FlowDialing(boost::asio::io_context& io, transport::Engine& engine, session::Session& session,
              const Settings& settings, StatsSource stats);

  /// Bytes have moved, or the peer is asked for a sign of life: while some do it looks at the flows.
  void on_traffic();
  /// Whether the peer owes a sign of life.
  void set_asked(bool asked);

 private:
  using Clock = std::chrono::steady_clock;
  /// A flow that is to be, and the channel that is being dialled for it.
  struct Dial {
    Dial(boost::asio::io_context& io, std::uint8_t number, std::size_t at_first)
        : name{number, 0}, turn(at_first), timer(io) {}
    session::FlowName name;  // of the latest attempt
    std::size_t turn;        // of the address that it leaves from
    bool returns = false;    // of a flow that is well, to an address that has none
    boost::asio::steady_timer timer;
    Clock::duration pause{0};
    unsigned failures = 0;
    std::vector<std::byte> input;
    std::unique_ptr<transport::Channel>
        channel;              // before the flow has joined; its reads end before the bytes they fill
    core::Lifetime lifetime;  // of the attempt
  };

  void look();
  void arm();
  [[nodiscard]] bool is_policed();
  void want(std::size_t flows);
  [[nodiscard]] bool is_dialling(std::uint8_t flow) const;
  void begin(std::uint8_t flow, std::size_t turn, bool returns = false);
  void replace(std::uint8_t flow) { begin(flow, turns_[flow] + 1); }
  void use_every_address(std::span<const session::FlowProgress> flows);
  [[nodiscard]] bool may_return();
  void connect(Dial& dial);
  void try_again(Dial& dial, const Error& error);
  void read_exactly(Dial& dial, std::size_t bytes, void (FlowDialing::*next)(Dial&));
  void watch_answer(Dial& dial);
  void on_prefix(Dial& dial);
  void on_joined(Dial& dial);
  [[nodiscard]] Clock::duration patience(const Dial& dial) const;
  void replace_lost(std::span<const session::FlowProgress> flows);

  boost::asio::io_context& io_;
  transport::Engine& engine_;
  session::Session& session_;
  const Settings settings_;
  const StatsSource stats_;
  FlowWatch watch_;
  std::optional<FlowGrowth> growth_;     // none: the user has named the number
  std::vector<std::uint32_t> attempts_;  // by flow, so far
  std::vector<std::size_t> turns_;       // by flow, of the address that it has left from
  // Of flows that return to an address that has none.
  std::optional<Clock::time_point> returns_at_{};  // none: each address has a flow
  Clock::time_point returned_at_{};
  Clock::duration return_pause_ = kLeastReturnPause;
  unsigned return_failures_ = 0;
  std::size_t returned_to_ = 0;
  std::list<Dial> dials_;  // one for a flow at most
  std::size_t wanted_ = 1;
  boost::asio::steady_timer tick_;
  bool ticking_ = false;
  bool asked_ = false;
  std::uint64_t looked_at_bytes_ = 0;
  std::list<std::pair<Clock::time_point, BothEndsStats>> lately_;  // of the last second
  core::Lifetime lifetime_;
};

/// How many flows the user wants: one for each address to leave from, at least where a rate is to be divided. None: as
/// many as help.
[[nodiscard]] std::optional<std::size_t> flows_wanted(const SessionTuning& session, const TransportOptions& transport);

/// The options of each of `flows` channels that together are to send no faster than `whole` says.
[[nodiscard]] TransportOptions share_of_each_flow(TransportOptions whole, std::optional<std::size_t> flows);

}  // namespace udtcat::connection
