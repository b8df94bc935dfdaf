/// Our side of a control connection to an FTP server.  spec: RFC 959; docs/spec/gridftp.md §4
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/reply.hpp"
#include "gridftp/task.hpp"

namespace udtcat::gridftp {

/// One dialogue. A server that says nothing for `patience` has ended it.
/// Threads: confined to the io_context thread; one call at a time.
class ControlClient {
 public:
  /// Connects and takes the server's greeting.
  /// errors: Errc::cannot_resolve, Errc::cannot_reach, and those of reply()
  [[nodiscard]] static Task<Result<std::unique_ptr<ControlClient>>> connect(boost::asio::io_context& io,
                                                                            HostPort server,
                                                                            std::chrono::milliseconds patience);

  /// `line` without its end; holds neither CR nor LF.  errors: Errc::connection_broken
  [[nodiscard]] Task<Status> send(std::string line);
  /// The next reply of any kind.  errors: Errc::connection_broken, Errc::peer_lost after silence, Errc::protocol_violated
  /// moved   counts what else comes from or goes to the server: as long as it grows, silence here is none
  [[nodiscard]] Task<Result<Reply>> reply(std::function<std::uint64_t()> moved = {});
  /// Sends, and takes replies until one that is not preliminary.
  [[nodiscard]] Task<Result<Reply>> ask(std::string line);
  /// The same, and the answer must be a completion.  errors: also Errc::stream_refused, with what the server said
  [[nodiscard]] Task<Result<Reply>> demand(std::string line);

  [[nodiscard]] Endpoint local() const;
  [[nodiscard]] Endpoint peer() const;
  void close();

 private:
  ControlClient(boost::asio::io_context& io, boost::asio::ip::tcp::socket socket, std::string name,
                std::chrono::milliseconds patience);

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  const std::string name_;  // for messages
  const std::chrono::milliseconds patience_;
  ReplyReader reader_;
  std::array<char, 16'384> piece_{};
};

}  // namespace udtcat::gridftp
