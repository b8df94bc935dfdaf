// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/front.hpp"

#include <unistd.h>

#include "lib/bridge/asio_terms.hpp"
#include "lib/core/try.hpp"

namespace udtcat::bridge {

using boost::asio::ip::tcp;

Result<std::unique_ptr<Front>> Front::open(boost::asio::io_context& io, const SocketAddress& address,
                                           ClientHandler on_client, ShortageHandler on_shortage) {
  std::unique_ptr<Front> front(new Front(address.unix_path));
  if (!address.is_unix()) {
    UDTCAT_TRY(TcpPorts ports, TcpPorts::bind(io, address.tcp, SocketEnd::receipted));
    auto& kept = front->accepting_.emplace<TcpPorts>(std::move(ports));
    kept.accept(
        [on_client](tcp::socket socket) {
          boost::system::error_code gone;  // a client that has gone already has no address
          const Endpoint client = from_asio(socket.remote_endpoint(gone));
          on_client(std::move(socket), client);
        },
        on_shortage);
    return front;
  }
  UDTCAT_TRY(auto listening, bind_unix(io, address.unix_path));
  front->accepting_ = std::make_unique<UnixAcceptor>(
      std::move(listening), [on_client](auto socket) { on_client(std::move(socket), {}); },
      [on_shortage, path = address.unix_path](const Endpoint& none, std::error_code error) {
        on_shortage(none, {Errc::out_of_resources, "accept at unix " + path, cause_of(error)});
      });
  return front;
}

Front::~Front() {
  if (!unix_path_.empty() && std::holds_alternative<std::unique_ptr<UnixAcceptor>>(accepting_))
    std::ignore = ::unlink(unix_path_.c_str());  // one that stays is taken away by who listens there next
}

void Front::hold() {
  if (auto* ports = std::get_if<TcpPorts>(&accepting_)) return ports->hold();
  std::get<std::unique_ptr<UnixAcceptor>>(accepting_)->hold();
}

void Front::go_on() {
  if (auto* ports = std::get_if<TcpPorts>(&accepting_)) return ports->go_on();
  std::get<std::unique_ptr<UnixAcceptor>>(accepting_)->go_on();
}

std::vector<std::string> Front::names() const {
  const auto* ports = std::get_if<TcpPorts>(&accepting_);
  if (ports == nullptr) return {"unix " + unix_path_};
  std::vector<std::string> names;
  for (const Endpoint& local : ports->local_endpoints()) names.push_back("tcp " + local.to_string());
  return names;
}

}  // namespace udtcat::bridge
