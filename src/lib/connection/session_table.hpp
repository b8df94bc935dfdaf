// SPDX-License-Identifier: Apache-2.0
/// The sessions of a listener that further flows may join. See docs/spec/handshake.md §8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <span>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/session/join.hpp"
#include "lib/session/session.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::connection {

inline constexpr std::size_t kMaxEndedSessions = 256;  // guess: those of the seconds for which a flow is on its way

/// Finds the session that a join names, and gives it the channel.
/// Threads: confined to the io_context thread.
class SessionTable {
 public:
  /// A session's place in the table; destroying it takes the session out.
  class Entry {
   public:
    Entry(std::shared_ptr<SessionTable> table, session::Session& session);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    friend class SessionTable;
    const std::shared_ptr<SessionTable> table_;
    session::Session& session_;
    const Endpoint entered_from_;
  };

  /// Gives a further channel of a session its place, and so much memory.
  /// entered_from   the peer's address when the session was let in
  using FlowAdmission = std::function<Result<std::shared_ptr<void>>(const session::Session& session,
                                                                    const Endpoint& entered_from, std::uint64_t bytes)>;
  /// A channel that says it belongs to one of them; if it does it is told so, and is the session's. One that is refused
  /// is gone.
  /// errors   Errc::peer_lost: the session has ended of late; Errc::authentication_failed: no such session, the proof
  ///          is wrong, or the flow is there already or not agreed on; those of `admit`; nothing has changed
  [[nodiscard]] Status join(const session::Join& join, std::unique_ptr<transport::Channel> channel,
                            const FlowAdmission& admit);
  /// Whether these first words of a channel are a join that one of them proves.
  [[nodiscard]] bool takes(std::span<const std::byte> words) const;
  /// Whether one of them runs over a transport whose flows cannot be replaced.
  [[nodiscard]] bool has_unreplaceable() const;
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// Called when the last one has been taken out.
  void on_empty(std::function<void()> handler) { on_empty_ = std::move(handler); }

 private:
  std::list<const Entry*> entries_;       // their sessions have join keys
  std::deque<session::SessionId> ended_;  // the last kMaxEndedSessions that were taken out
  std::function<void()> on_empty_;
};

}  // namespace udtcat::connection
