// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_socket.hpp"

#include <algorithm>

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
  UDTCAT_TRY(auto bound, bridge::bind_unix(io, path, S_IRUSR | S_IWUSR));
  std::unique_ptr<StatusSocket> made(new StatusSocket(std::move(bound), path, std::move(snapshot_source), group));
  if (group) UDTCAT_CHECK(open_to_group(path, *group));
  return made;
}

StatusSocket::StatusSocket(bridge::UnixAcceptor::Bound bound, std::string path, SnapshotSource snapshot_source,
                           std::optional<gid_t> group)
    : path_(std::move(path)),
      snapshot_source_(std::move(snapshot_source)),
      group_(group),
      acceptor_(
          std::move(bound), [this](Socket socket) { take(std::move(socket)); },
          [](const Endpoint&, std::error_code) {}) {}  // it goes on by itself, and nobody else waits for it

StatusSocket::~StatusSocket() { std::ignore = ::unlink(path_.c_str()); }

std::size_t StatusSocket::count(bool is_member) const {
  return static_cast<std::size_t>(std::ranges::count(clients_, is_member, &Client::is_member));
}

void StatusSocket::take(Socket socket) {
  const auto peer = bridge::peer_credentials(socket.native_handle());
  if (!peer) return;
  if (peer->uid == 0 || peer->uid == ::geteuid()) {
    serve(std::move(socket), false);
    if (count(false) >= kMaxStatusClients) acceptor_.pause();
    return;
  }
  const bool is_member = group_ && (peer->gid == *group_ || is_peer_in_group(socket.native_handle(), *group_));
  if (!is_member) return;
  if (count(true) < kMaxGroupClients) return serve(std::move(socket), true);
  // The rest is closed: left in the backlog they would be before the next of this user.
  if (waiting_.size() < kMaxWaitingMembers) waiting_.push_back(std::move(socket));
}

void StatusSocket::serve(Socket socket, bool is_member) {
  const auto client = std::make_shared<Client>(std::move(socket), is_member);
  clients_.insert(client);
  client->question.async_ask(snapshot_source_, [this, asked = std::weak_ptr(client)](const ProcessSnapshot& now) {
    if (const auto asking = asked.lock()) answer(asking, now);
  });
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
  if (count(false) < kMaxStatusClients) acceptor_.resume();
  if (waiting_.empty() || count(true) >= kMaxGroupClients) return;
  Socket next = std::move(waiting_.front());
  waiting_.pop_front();
  serve(std::move(next), true);
}

}  // namespace udtcat::tool
