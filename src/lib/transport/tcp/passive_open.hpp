// SPDX-License-Identifier: Apache-2.0
/// A listener's side of the preface of one connection.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/tcp/preface.hpp"
#include "lib/transport/tcp/tcp_socket.hpp"

namespace udtcat::transport::tcp {

///   awaits hello ──a place──► awaits proof ──► let in
///        ├────────without a key─────────────────┤
///        └────────a token for a relay───────────┘
///   anything else, and kPrefacePatience: turned away
///
/// Threads: confined to the io_context thread. Reads no byte behind the preface.
class PassiveOpen {
 public:
  /// A connection that is let in.
  struct Opened {
    bool proved = false;
    std::optional<Preface::Value> relay_token{};  ///< it is for a meeting place's relay, and not for a session here
  };
  /// has_room   whether one more may be let in that has, or has not, proved the key
  /// on_done    called once, as the last: the connection is let in, or (none) is to be closed; may destroy this
  struct Handlers {
    std::function<bool(bool proved)> has_room;
    std::function<void(const std::optional<Opened>&)> on_done;
  };
  /// proof   null: without a key, or it is not known; outlives this
  PassiveOpen(boost::asio::io_context& io, Socket socket, PrefaceProof* proof, Handlers handlers);

  [[nodiscard]] Socket take_socket() { return std::move(socket_); }

 private:
  void wait();
  void read();
  void on_preface(const Preface& preface);
  [[nodiscard]] bool send_challenge();
  void finish(const std::optional<Opened>& opened);

  Socket socket_;
  PrefaceProof* const proof_;
  const Handlers handlers_;
  std::array<std::byte, kPrefaceBytes> bytes_{};
  std::size_t read_bytes_ = 0;
  std::optional<Preface> hello_;  // of one whose proof is to follow
  Preface challenge_{.type = PrefaceType::challenge};
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::tcp
