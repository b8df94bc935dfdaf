// SPDX-License-Identifier: Apache-2.0
/// The socket at which a process tells `udtcat status` what it is doing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/result.hpp>

#include "lib/bridge/unix_socket.hpp"
#include "lib/core/lifetime.hpp"
#include "tool/status/snapshot_question.hpp"

namespace udtcat::tool {

inline constexpr std::chrono::milliseconds kStatusPatience{1'000};  // guess: for a client to read, which is local
inline constexpr std::size_t kMaxStatusClients = 4;                 // guess: each costs a snapshot or two

/// Answers each client of this user, of root or of a group with one JSON object, and closes. Further clients, but for
/// one, wait until one has gone. Nobody else is answered; a client that does not read is dropped.
/// Threads: confined to the io_context thread, which never waits for a client.
class StatusSocket {
 public:
  /// Only this user can connect, and members of the group. A socket left over at `path` is replaced.
  /// path    in a directory that others cannot write to, which own_status_socket() has checked
  /// group   one that this user is in; none: nobody else may ask
  /// errors: Errc::cannot_bind
  [[nodiscard]] static Result<std::unique_ptr<StatusSocket>> open(boost::asio::io_context& io, const std::string& path,
                                                                  SnapshotSource snapshot_source,
                                                                  std::optional<gid_t> group = {});
  StatusSocket(const StatusSocket&) = delete;
  StatusSocket& operator=(const StatusSocket&) = delete;
  /// Removes it from its directory.
  ~StatusSocket();

 private:
  using Socket = bridge::UnixAcceptor::Socket;
  struct Client {
    explicit Client(Socket connected)
        : socket(std::move(connected)), timer(socket.get_executor()), question(socket.get_executor()) {}
    Socket socket;
    boost::asio::steady_timer timer;
    SnapshotQuestion question;
    std::string answer;
  };
  using ClientPtr = std::shared_ptr<Client>;

  StatusSocket(bridge::UnixAcceptor::Acceptor listening, std::string path, SnapshotSource snapshot_source,
               std::optional<gid_t> group);
  void serve(Socket socket);
  void answer(const ClientPtr& client, const ProcessSnapshot& now);
  void drop(const ClientPtr& client);

  const std::string path_;
  const SnapshotSource snapshot_source_;
  const std::optional<gid_t> group_;
  bridge::UnixAcceptor acceptor_;
  std::set<ClientPtr> clients_;  // kMaxStatusClients, and perhaps one that was on its way
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
