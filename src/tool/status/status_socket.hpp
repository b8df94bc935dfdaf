// SPDX-License-Identifier: Apache-2.0
/// The socket at which a process tells `udtcat status` what it is doing.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
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
inline constexpr std::size_t kMaxGroupClients = 4;                  // guess: likewise
inline constexpr std::size_t kMaxWaitingMembers = 16;               // guess: a second's, where all read at once

/// Answers each client of this user, of root or of a group with one JSON object, and closes. Nobody else is answered; a
/// client that does not read is dropped. The members of the group have kMaxGroupClients slots; so many more as
/// kMaxWaitingMembers wait for one, and those beyond are closed without an answer. This user and root have
/// kMaxStatusClients slots of their own, which whatever the members do leaves free, and further ones, but for one, wait
/// in the system's backlog, which is not held up by members either.
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
    Client(Socket connected, bool member)
        : is_member(member),
          socket(std::move(connected)),
          timer(socket.get_executor()),
          question(socket.get_executor()) {}
    const bool is_member;  // of the group, and neither this user nor root
    Socket socket;
    boost::asio::steady_timer timer;
    SnapshotQuestion question;
    std::string answer;
  };
  using ClientPtr = std::shared_ptr<Client>;

  StatusSocket(bridge::UnixAcceptor::Bound bound, std::string path, SnapshotSource snapshot_source,
               std::optional<gid_t> group);
  void take(Socket socket);
  void serve(Socket socket, bool is_member);
  void answer(const ClientPtr& client, const ProcessSnapshot& now);
  void drop(const ClientPtr& client);
  [[nodiscard]] std::size_t count(bool is_member) const;

  const std::string path_;
  const SnapshotSource snapshot_source_;
  const std::optional<gid_t> group_;
  bridge::UnixAcceptor acceptor_;
  std::set<ClientPtr> clients_;  // of this user and root kMaxStatusClients, and perhaps one that was on its way
  std::deque<Socket> waiting_;   // members, of which as many as may be are served
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
