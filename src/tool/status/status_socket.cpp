// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/status/status_group.hpp"

namespace udtcat::tool {

namespace {

/// Whether the process at the other end is of this user, root's, or of a member of the group.
bool may_ask(int socket, const std::optional<gid_t>& group) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  if (peer.uid == 0 || peer.uid == ::geteuid()) return true;
  return group && (peer.gid == *group || is_peer_in_group(socket, *group));
}

/// Lets the group connect, whatever the umask.
Status open_to_group(const std::string& path, gid_t group) {
  constexpr mode_t kMode = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP;
  struct stat made {};
  // A unit whose Group= it is may not be allowed to change owners.
  const bool is_its = ::lstat(path.c_str(), &made) == 0 && made.st_gid == group;
  if ((is_its || ::lchown(path.c_str(), ::geteuid(), group) == 0) && ::chmod(path.c_str(), kMode) == 0) return {};
  return core::fail_by_errno(Errc::cannot_bind, fmt::format("give {} to group {}", path, group));
}

}  // namespace

Result<std::unique_ptr<StatusSocket>> StatusSocket::open(boost::asio::io_context& io, const std::string& path,
                                                         SnapshotSource snapshot_source, std::optional<gid_t> group) {
  UDTCAT_TRY(auto listening, bridge::bind_unix(io, path, S_IRUSR | S_IWUSR));
  std::unique_ptr<StatusSocket> made(new StatusSocket(std::move(listening), path, std::move(snapshot_source), group));
  if (group) UDTCAT_CHECK(open_to_group(path, *group));
  return made;
}

StatusSocket::StatusSocket(bridge::UnixAcceptor::Acceptor listening, std::string path, SnapshotSource snapshot_source,
                           std::optional<gid_t> group)
    : path_(std::move(path)),
      snapshot_source_(std::move(snapshot_source)),
      group_(group),
      acceptor_(
          std::move(listening), [this](Socket socket) { serve(std::move(socket)); },
          [](const Endpoint&, std::error_code) {}) {}  // it goes on by itself, and nobody else waits for it

StatusSocket::~StatusSocket() { std::ignore = ::unlink(path_.c_str()); }

void StatusSocket::serve(Socket socket) {
  if (!may_ask(socket.native_handle(), group_)) return;
  const auto client = std::make_shared<Client>(std::move(socket));
  clients_.insert(client);
  client->question.async_ask(snapshot_source_, [this, asked = std::weak_ptr(client)](const ProcessSnapshot& now) {
    if (const auto asking = asked.lock()) answer(asking, now);
  });
  if (clients_.size() >= kMaxStatusClients) acceptor_.pause();
}

void StatusSocket::answer(const ClientPtr& client, const ProcessSnapshot& now) {
  client->answer = to_json(now) + '\n';
  client->timer.expires_after(kStatusPatience);
  client->timer.async_wait([waiting = std::weak_ptr(client)](const boost::system::error_code& cancelled) {
    const auto late = waiting.lock();
    boost::system::error_code closed;
    if (!cancelled && late) late->socket.close(closed);  // which ends the write
  });
  boost::asio::async_write(
      client->socket, boost::asio::buffer(client->answer),
      lifetime_.guard([this, client](const boost::system::error_code&, std::size_t) { drop(client); }));
}

void StatusSocket::drop(const ClientPtr& client) {
  clients_.erase(client);
  if (clients_.size() < kMaxStatusClients) acceptor_.resume();
}

}  // namespace udtcat::tool
