/// The usual local streams: standard input and output, and TCP connections, singly or as a service.
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

/// Connects every stream that a peer opens to a TCP service. Where that is down, the stream is refused with the reason.
/// Threads: confined to the io_context thread.
class TcpService {
 public:
  /// Called for each connect that failed and each stream that ended with an error, one line for the operator each; of
  /// many of one kind, at most once in 10 s.
  using TroubleHandler = std::function<void(const Endpoint& peer, const Error& error)>;
  virtual ~TcpService() = default;
  /// Serves the connection's streams from now on; once per connection, before its streams arrive. The connection must
  /// outlive this, or have been closed.
  virtual void serve(Connection& connection) = 0;
};
/// targets       the service's addresses, tried in turn for each stream, 10 s in all; not empty
/// target_name   the service as the user wrote it, for messages
[[nodiscard]] std::unique_ptr<TcpService> make_tcp_service(boost::asio::io_context& io, std::vector<Endpoint> targets,
                                                           std::string target_name,
                                                           TcpService::TroubleHandler on_trouble);

/// Accepts local TCP connections; each becomes a stream of one connection.
/// Threads: confined to the io_context thread.
class TcpForward {
 public:
  /// As TcpService's, and for each time when accepting pauses for want of descriptors.
  using TroubleHandler = std::function<void(const Endpoint& client, const Error& error)>;
  virtual ~TcpForward() = default;
  [[nodiscard]] virtual std::vector<Endpoint> local_endpoints() const = 0;
};
/// locals   those with port 0 share one port that the system chooses
/// errors: Errc::cannot_bind.  The connection must outlive the result.
[[nodiscard]] Result<std::unique_ptr<TcpForward>> make_tcp_forward(boost::asio::io_context& io, Connection& connection,
                                                                   const std::vector<Endpoint>& locals,
                                                                   TcpForward::TroubleHandler on_trouble);

}  // namespace udtcat
