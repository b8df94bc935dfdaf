#include "tool/status_socket.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "lib/bridge/descriptor.hpp"
#include "lib/core/user_text.hpp"
#include "tool/status_place.hpp"

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
                                                         TakePicture take_picture) {
  const auto refused = [&](const std::string& why) { return fail(Errc::cannot_bind, "bind " + path, why); };
  if (path.size() >= sizeof(sockaddr_un::sun_path)) return refused("the path is too long for a socket");
  bridge::Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Before it has its name, so that there is no moment at which others could connect.
  if (!descriptor.is_open() || ::fchmod(descriptor.number(), S_IRUSR | S_IWUSR) != 0)
    return refused(core::errno_text(errno));
  boost::system::error_code error;
  Protocol::acceptor acceptor(io);
  acceptor.assign(Protocol(), descriptor.release(), error);
  if (!error) acceptor.bind(Protocol::endpoint(path), error);
  if (error == boost::asio::error::address_in_use && remove_dead_socket(path))
    acceptor.bind(Protocol::endpoint(path), error);
  if (!error) acceptor.listen(static_cast<int>(kMaxStatusClients), error);
  if (error) return refused(core::errno_text(error.value()));
  return std::unique_ptr<StatusSocket>(new StatusSocket(io, std::move(acceptor), path, std::move(take_picture)));
}

StatusSocket::StatusSocket(boost::asio::io_context& io, Protocol::acceptor acceptor, std::string path,
                           TakePicture take_picture)
    : path_(std::move(path)), take_picture_(std::move(take_picture)), acceptor_(std::move(acceptor)), pause_(io) {
  accept();
}

StatusSocket::~StatusSocket() { std::ignore = ::unlink(path_.c_str()); }

void StatusSocket::accept() {
  acceptor_.async_accept(lifetime_.guard([this](const boost::system::error_code& error, Protocol::socket socket) {
    if (!error) return serve(std::move(socket));
    pause_.expires_after(kStatusPatience);  // descriptors are short, or something not known here
    pause_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) accept();
    }));
  }));
}

void StatusSocket::serve(Protocol::socket socket) {
  if (!may_ask(socket.native_handle())) return accept();
  const auto client = std::make_shared<Client>(std::move(socket));
  clients_.insert(client);
  ProcessPicture before = take_picture_();
  client->rates.set(before, Rates::TimePoint::clock::now());
  client->timer.expires_after(kStatusInterval);
  client->timer.async_wait(lifetime_.guard([this, client](const boost::system::error_code&) { answer(client); }));
  if (clients_.size() < kMaxStatusClients) accept();
}

void StatusSocket::answer(const ClientPtr& client) {
  ProcessPicture now = take_picture_();
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
  const bool was_full = clients_.size() == kMaxStatusClients;
  clients_.erase(client);
  if (was_full) accept();
}

}  // namespace udtcat::tool
