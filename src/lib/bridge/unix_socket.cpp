// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/unix_socket.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>
#include <boost/asio/error.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/bridge/descriptor.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::bridge {

using boost::asio::local::stream_protocol;

namespace {

constexpr std::chrono::milliseconds kFullBacklogPause{10};  // guess: a service takes thousands of connections a second

tl::unexpected<Error> cannot_listen(const std::string& path, std::string why) {
  return fail(Errc::cannot_bind, "listen at unix " + path, std::move(why));
}

}  // namespace

std::optional<ucred> peer_credentials(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
  return peer;
}

bool is_left_over(const std::string& path) {
  struct stat about {};
  if (path.size() > kMaxUnixPathBytes || ::lstat(path.c_str(), &about) != 0 || !S_ISSOCK(about.st_mode)) return false;
  // Non-blocking: one that listens may be stopped, and its backlog full.
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const stream_protocol::endpoint address(path);
  return probe.is_open() && ::connect(probe.number(), address.data(), static_cast<socklen_t>(address.size())) != 0 &&
         errno == ECONNREFUSED;
}

Result<UnixAcceptor::Bound> bind_unix(boost::asio::io_context& io, const std::string& path, mode_t mode) {
  if (path.empty() || path.size() > kMaxUnixPathBytes)
    return cannot_listen(path, "a path of a socket has 1 to 107 bytes");
  UnixAcceptor::Acceptor listening(io);
  boost::system::error_code error;
  listening.open(stream_protocol(), error);
  // Before it has its name, so that there is no moment at which others could connect.
  if (!error && ::fchmod(listening.native_handle(), mode) != 0) return cannot_listen(path, core::errno_text(errno));
  if (!error) listening.bind(stream_protocol::endpoint(path), error);
  if (error == boost::asio::error::address_in_use && is_left_over(path) && ::unlink(path.c_str()) == 0)
    listening.bind(stream_protocol::endpoint(path), error);
  if (error) return cannot_listen(path, cause_of(from_asio(error)));
  listening.listen(boost::asio::socket_base::max_listen_connections, error);
  if (!error) return UnixAcceptor::Bound{std::move(listening), {}};
  std::ignore = ::unlink(path.c_str());  // the name is ours
  return cannot_listen(path, cause_of(from_asio(error)));
}

UnixConnect::UnixConnect(boost::asio::io_context& io, const std::string& path, std::chrono::milliseconds timeout,
                         Handler handler)
    : target_(path),
      deadline_(std::chrono::steady_clock::now() + timeout),
      handler_(std::move(handler)),
      socket_(io),
      timer_(io) {
  attempt();
}

/// The system answers at once. Asio would take the lack of an answer, which a full backlog is, for a connection.
void UnixConnect::attempt() {
  boost::system::error_code error;
  if (!socket_.is_open()) socket_.open(stream_protocol(), error);
  if (!error) socket_.native_non_blocking(true, error);
  std::error_code outcome = from_asio(error);
  if (!error && ::connect(socket_.native_handle(), target_.data(), static_cast<socklen_t>(target_.size())) != 0)
    outcome = {errno, std::generic_category()};
  // The system does not tell when a backlog is full no longer.
  const bool is_full = outcome == std::errc::resource_unavailable_try_again;
  const bool again = is_full && std::chrono::steady_clock::now() < deadline_;
  timer_.expires_after(again ? kFullBacklogPause : std::chrono::milliseconds(0));
  timer_.async_wait(lifetime_.guard([this, again, outcome](const boost::system::error_code&) {
    if (again) return attempt();
    const Handler handler = std::move(handler_);
    handler(outcome, std::move(socket_));  // may destroy this
  }));
}

}  // namespace udtcat::bridge
