// SPDX-License-Identifier: Apache-2.0
/// Attempts to reach a listener, one after another, until the owner is satisfied or the time is over.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {

/// A handshake of libudt can be lost without an error at either end: a new attempt is the cure.
inline constexpr auto kAttemptPatience = std::chrono::milliseconds(2500);  // spec: below libudt's 3 s, see ADR-0003
inline constexpr auto kRetryPause = std::chrono::milliseconds(200);        // guess

///   pausing ──► connecting ──a channel stands──► with the owner ──finish()──► over
///      ▲            │                                  │
///      └── failed ──┴──────────────────────────────────┘          out of time, or no use in trying again: over
///
/// Threads: confined to the io_context thread, where the handlers are called.
class Attempts {
 public:
  /// The beginning of what the next attempt's channel sends; may be none.
  using FirstWords = std::function<Result<core::SharedBytes>()>;
  using ChannelHandler = std::function<void(std::unique_ptr<transport::Channel>)>;
  using FailureHandler = std::function<void(const Error&)>;

  /// secrets   of the engine's ports; outlive this
  Attempts(boost::asio::io_context& io, const DialRequest& request, transport::PortSecrets secrets,
           FirstWords first_words, ChannelHandler on_channel, FailureHandler on_failure);

  /// The handshake over a channel has failed: tries again, or gives up. Its error says more than that of a later
  /// attempt which is not answered.
  void try_again_after(const Error& error) { on_failed(error, true); }
  /// The owner is satisfied: no deadline and no attempt any more.
  void finish();

  [[nodiscard]] const std::shared_ptr<transport::Engine>& engine() const { return engine_; }

 private:
  using Clock = std::chrono::steady_clock;

  void start(const transport::PortSecrets& secrets);
  void attempt();
  void on_failed(const Error& error, bool somebody_answered);
  void give_up(const Error& error);
  [[nodiscard]] Error keys_differ(const std::string& cause) const;
  [[nodiscard]] Error unreachable() const;

  boost::asio::io_context& io_;
  const DialRequest& request_;
  const FirstWords first_words_;
  const ChannelHandler on_channel_;
  const FailureHandler on_failure_;
  const Clock::time_point started_ = Clock::now();
  std::shared_ptr<transport::Engine> engine_;
  std::size_t attempts_ = 0;
  bool heard_only_closed_ports_ = true;
  bool somebody_answered_ = false;
  std::optional<Error> last_error_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::connection
