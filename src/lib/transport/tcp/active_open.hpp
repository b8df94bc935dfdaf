// SPDX-License-Identifier: Apache-2.0
/// A client's attempt: the connection, and its preface.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/tcp/preface.hpp"
#include "lib/transport/tcp/socket_connect.hpp"
#include "lib/transport/tcp/tcp_socket.hpp"

namespace udtcat::transport::tcp {

///   connecting ──► awaits the challenge ──► done
///   anything else, and the caller's patience: an error
///
/// Threads: confined to the io_context thread.
class ActiveOpen {
 public:
  /// The proof is still to be sent, before all else; empty: there is none.
  struct Opened {
    Socket socket;
    std::vector<std::byte> proof;
  };
  /// Called once, not from inside the constructor; may destroy this.
  using Handler = std::function<void(Result<Opened>)>;

  struct Settings {
    const TransportOptions& options;          ///< outlive this
    std::optional<RelayToken> relay_token{};  ///< `peer` is a meeting place, which has the listener behind it
    PrefaceProof* proof = nullptr;            ///< null: without the listener's key; outlives this
    SocketConnect::Bind bind{};               ///< null: the system chooses
  };

  ActiveOpen(boost::asio::io_context& io, const Endpoint& peer, const Settings& settings,
             std::chrono::milliseconds patience, Handler handler);

 private:
  void on_connected(Result<Socket> made);
  [[nodiscard]] const char* silence() const;
  void wait();
  void read();
  void on_challenge(const Preface& challenge);
  void fail_with(Errc code, const std::string& cause);
  void finish(Result<Opened> result);

  const Endpoint peer_;
  const Settings settings_;
  const Handler handler_;
  std::unique_ptr<SocketConnect> connecting_;
  std::optional<Socket> socket_;  // none: not connected yet
  Preface hello_;
  std::array<std::byte, kPrefaceBytes> bytes_{};
  std::size_t read_bytes_ = 0;
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::tcp
