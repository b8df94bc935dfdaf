// SPDX-License-Identifier: Apache-2.0
/// The usual local streams: standard input and output, TCP connections, and services behind sockets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

namespace udtcat {

/// The halves of a descriptor pair that are bridged. A half that is off reads as ended, and drops what is written.
struct StdioHalves {
  bool read = true;
  bool write = true;
  bool until_read = true;  ///< the end waits until the consumer has read all; false: until the system has it
};

/// Bridges two descriptors of any kind: pipe, file, terminal, device, socket. Each half has a thread of its own, so a
/// slow disk stalls nothing else; the descriptors' shared flags are never changed. They are closed when each half ends.
/// errors: Errc::out_of_resources
[[nodiscard]] Result<std::unique_ptr<LocalStream>> make_stdio_stream(boost::asio::io_context& io, int input_fd,
                                                                     int output_fd, StdioHalves halves);

/// Bridges one connected TCP socket. Its other side sees a reset after abort(); the end of the stream, or of this
/// process, looks to it like an end.
[[nodiscard]] std::unique_ptr<LocalStream> make_tcp_stream(boost::asio::ip::tcp::socket socket);

/// A place where a service listens, or where clients come to.
struct SocketAddress {
  std::vector<Endpoint> tcp;  ///< of a service: the first that answers; of clients: all of them
  std::string unix_path{};    ///< in their place; empty: TCP

  [[nodiscard]] bool is_unix() const { return !unix_path.empty(); }
};

/// A service to which a peer's streams are connected.
struct Service {
  std::string name;       ///< by which streams ask for it; empty: what streams without a name reach
  std::string shown;      ///< its address, for messages: "tcp db:5432", "unix /run/db.sock"
  SocketAddress address;  ///< it has 10 s to answer
  HostPort host{};        ///< in its place, looked up for each stream; empty: the address
};

/// Connects the streams that peers open to services. Where one is down, the stream is refused with the reason; where
/// very many come at once they wait for each other.
/// Threads: confined to the io_context thread.
class Services {
 public:
  /// Called for each connect that failed and each stream that ended with an error, one line for the operator each; of
  /// many of one kind, at most once in 10 s; all names that are refused are of one kind. A host that is not found at
  /// the start is told of without a peer.
  using ErrorHandler = std::function<void(const Endpoint& peer, const Error& error)>;
  /// Whether the peer may reach the service of that name, now.
  using Permission = std::function<bool(const std::string& name)>;
  virtual ~Services() = default;
  /// Serves the connection's streams from now on; once per connection, before its streams arrive. Its
  /// SessionOptions::services let the names through. The connection must outlive this, or have been closed.
  virtual void serve(Connection& connection, Permission may_reach) = 0;
};
/// family   of the addresses of a Service::host
[[nodiscard]] std::unique_ptr<Services> make_services(boost::asio::io_context& io, std::vector<Service> services,
                                                      Services::ErrorHandler on_error,
                                                      AddressFamily family = AddressFamily::any);

}  // namespace udtcat
