// SPDX-License-Identifier: Apache-2.0
/// The socket at which a process tells `udtcat status` what it is doing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/result.hpp>

#include "lib/bridge/unix_socket.hpp"
#include "lib/core/lifetime.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat::tool {

/// Rates in an answer are those of this time, for which the asking end waits: an idle process need not count.
inline constexpr std::chrono::milliseconds kStatusInterval{250};    // guess: some round trips of a long path
inline constexpr std::chrono::milliseconds kStatusPatience{1'000};  // guess: for a client to read, which is local
inline constexpr std::size_t kMaxStatusClients = 4;                 // guess: each costs a snapshot or two

/// Answers each client of this user or of root with one JSON object, and closes. Further clients, but for one,
/// wait until one has gone. Nobody else is answered; a client that does not read is dropped.
/// Threads: confined to the io_context thread, which never waits for a client.
class StatusSocket {
 public:
  using SnapshotSource = std::function<ProcessSnapshot()>;

  /// Only this user can connect. A socket left over at `path` is replaced.
  /// path   in a directory that others cannot write to, which own_status_socket() has checked
  /// errors: Errc::cannot_bind
  [[nodiscard]] static Result<std::unique_ptr<StatusSocket>> open(boost::asio::io_context& io, const std::string& path,
                                                                  SnapshotSource snapshot_source);
  StatusSocket(const StatusSocket&) = delete;
  StatusSocket& operator=(const StatusSocket&) = delete;
  /// Removes it from its directory.
  ~StatusSocket();

 private:
  using Socket = bridge::UnixAcceptor::Socket;
  struct Client {
    explicit Client(Socket connected) : socket(std::move(connected)), timer(socket.get_executor()) {}
    Socket socket;
    boost::asio::steady_timer timer;
    Rates rates;
    std::string answer;
  };
  using ClientPtr = std::shared_ptr<Client>;

  StatusSocket(bridge::UnixAcceptor::Acceptor listening, std::string path, SnapshotSource snapshot_source);
  void serve(Socket socket);
  void answer(const ClientPtr& client);
  void drop(const ClientPtr& client);

  const std::string path_;
  const SnapshotSource snapshot_source_;
  bridge::UnixAcceptor acceptor_;
  std::set<ClientPtr> clients_;  // kMaxStatusClients, and perhaps one that was on its way
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
