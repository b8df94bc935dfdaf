// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "lib/core/try.hpp"

namespace udtcat::tool {

namespace {

/// Whether the process at the other end is of this user, or root's.
bool may_ask(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

}  // namespace

Result<std::unique_ptr<StatusSocket>> StatusSocket::open(boost::asio::io_context& io, const std::string& path,
                                                         SnapshotSource snapshot_source) {
  UDTCAT_TRY(auto listening, bridge::bind_unix(io, path, S_IRUSR | S_IWUSR));
  return std::unique_ptr<StatusSocket>(new StatusSocket(std::move(listening), path, std::move(snapshot_source)));
}

StatusSocket::StatusSocket(bridge::UnixAcceptor::Acceptor listening, std::string path, SnapshotSource snapshot_source)
    : path_(std::move(path)),
      snapshot_source_(std::move(snapshot_source)),
      acceptor_(
          std::move(listening), [this](Socket socket) { serve(std::move(socket)); },
          [](const Endpoint&, std::error_code) {}) {}  // it goes on by itself, and nobody else waits for it

StatusSocket::~StatusSocket() { std::ignore = ::unlink(path_.c_str()); }

void StatusSocket::serve(Socket socket) {
  if (!may_ask(socket.native_handle())) return;
  const auto client = std::make_shared<Client>(std::move(socket));
  clients_.insert(client);
  ProcessSnapshot before = snapshot_source_();
  client->rates.set(before, Rates::TimePoint::clock::now());
  client->timer.expires_after(kStatusInterval);
  client->timer.async_wait(lifetime_.guard([this, client](const boost::system::error_code&) { answer(client); }));
  if (clients_.size() >= kMaxStatusClients) acceptor_.pause();
}

void StatusSocket::answer(const ClientPtr& client) {
  ProcessSnapshot now = snapshot_source_();
  client->rates.set(now, Rates::TimePoint::clock::now());
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
