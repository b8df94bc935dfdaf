// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/local_listener.hpp"

#include <unistd.h>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/core/try.hpp"

namespace udtcat::bridge {

using boost::asio::ip::tcp;

Result<std::unique_ptr<LocalListener>> LocalListener::open(boost::asio::io_context& io, const SocketAddress& address,
                                                           ClientHandler on_client, ShortageHandler on_shortage) {
  std::unique_ptr<LocalListener> listener(new LocalListener(address.unix_path));
  if (!address.is_unix()) {
    UDTCAT_TRY(TcpPorts bound, TcpPorts::bind(io, address.tcp, GracefulClose::receipted));
    auto& ports = listener->accepting_.emplace<TcpPorts>(std::move(bound));
    ports.accept(
        [on_client](tcp::socket socket) {
          boost::system::error_code gone;  // a client that has gone already has no address
          const Endpoint client = from_asio(socket.remote_endpoint(gone));
          on_client(std::move(socket), client);
        },
        on_shortage);
    return listener;
  }
  UDTCAT_TRY(auto bound, bind_unix(io, address.unix_path));
  listener->accepting_ = std::make_unique<UnixAcceptor>(
      std::move(bound), [on_client](auto socket) { on_client(std::move(socket), {}); },
      [on_shortage, path = address.unix_path](const Endpoint& none, std::error_code error) {
        on_shortage(none, {Errc::out_of_resources, "accept at unix " + path, cause_of(error)});
      });
  return listener;
}

LocalListener::~LocalListener() {
  if (!unix_path_.empty() && std::holds_alternative<std::unique_ptr<UnixAcceptor>>(accepting_))
    std::ignore = ::unlink(unix_path_.c_str());  // a socket that stays is removed by the next listener
}

void LocalListener::pause() {
  if (auto* ports = std::get_if<TcpPorts>(&accepting_)) return ports->pause();
  std::get<std::unique_ptr<UnixAcceptor>>(accepting_)->pause();
}

void LocalListener::resume() {
  if (auto* ports = std::get_if<TcpPorts>(&accepting_)) return ports->resume();
  std::get<std::unique_ptr<UnixAcceptor>>(accepting_)->resume();
}

std::vector<std::string> LocalListener::names() const {
  const auto* ports = std::get_if<TcpPorts>(&accepting_);
  if (ports == nullptr) return {"unix " + unix_path_};
  std::vector<std::string> names;
  for (const Endpoint& local : ports->local_endpoints()) names.push_back("tcp " + local.to_string());
  return names;
}

}  // namespace udtcat::bridge
