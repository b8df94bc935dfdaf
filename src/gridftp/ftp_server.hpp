/// Serves a directory to GridFTP clients.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "bridge/tcp_acceptor.hpp"
#include "core/lifetime.hpp"
#include "gridftp/serve_options.hpp"
#include "gridftp/served_client.hpp"
#include "gridftp/served_root.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread.
class FtpServer {
 public:
  FtpServer(boost::asio::io_context& io, ServedRoot root, ServeOptions options);

  /// Clients come by TCP.  errors: Errc::cannot_bind
  [[nodiscard]] Status listen(const std::vector<Endpoint>& locals);
  /// A client that has come. Beyond the most there may be, it is told so and dropped.
  void welcome(std::unique_ptr<ControlLink> link);
  /// Lets nobody in any more, and breaks off who is there.
  void stop();

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const;
  /// Payload moved either way since the start.
  [[nodiscard]] std::uint64_t moved_bytes() const;

 private:
  void forget(std::uint64_t number);

  boost::asio::io_context& io_;
  const ServedRoot root_;
  const ServeOptions options_;
  std::vector<std::unique_ptr<bridge::TcpAcceptor>> doors_;
  std::map<std::uint64_t, std::unique_ptr<ServedClient>> clients_;
  std::uint64_t next_number_ = 0;
  std::uint64_t moved_before_ = 0;  // for clients that have gone
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
