// SPDX-License-Identifier: Apache-2.0
/// A client's side of a control connection.  spec: RFC 959; docs/spec/gridftp.md §4
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/coroutine/task.hpp"
#include "gridftp/dialogue/control_connection.hpp"
#include "gridftp/dialogue/reply.hpp"

namespace udtcat::gridftp {

/// A server that sends nothing for `timeout` is lost.
/// Threads: confined to the io_context thread; one call at a time.
class ControlClient {
 public:
  /// Connects by TCP and takes the server's greeting.
  /// errors: Errc::cannot_resolve, Errc::cannot_reach, and those of reply()
  [[nodiscard]] static Task<Result<std::unique_ptr<ControlClient>>> connect(boost::asio::io_context& io,
                                                                            HostPort server,
                                                                            std::chrono::milliseconds timeout);
  /// Over a stream that is there already.
  /// name   for messages: "ftp server host:2811"
  [[nodiscard]] static Task<Result<std::unique_ptr<ControlClient>>> begin(std::unique_ptr<ControlConnection> control,
                                                                          std::string name,
                                                                          std::chrono::milliseconds timeout);

  /// `line` without its end; holds neither CR nor LF.  errors: Errc::connection_broken
  [[nodiscard]] Task<Status> send(std::string line);
  /// The next reply of any kind.  errors: Errc::connection_broken, Errc::peer_lost after silence,
  /// Errc::protocol_violated
  /// timeout   none: that of the connection
  [[nodiscard]] Task<Result<Reply>> reply(ControlConnection::Moved moved = {},
                                          std::optional<std::chrono::milliseconds> timeout = {});
  /// Sends, and takes replies until one that is not preliminary.  timeout   as in reply()
  [[nodiscard]] Task<Result<Reply>> ask(std::string line, std::optional<std::chrono::milliseconds> timeout = {});
  /// The same, and the answer must be a completion.  errors: also Errc::stream_refused, with what the server said
  [[nodiscard]] Task<Result<Reply>> demand(std::string line);

  [[nodiscard]] const Endpoint& local() const { return control_->local(); }
  [[nodiscard]] const Endpoint& peer() const { return control_->peer(); }
  [[nodiscard]] const std::optional<PublicKey>& peer_key() const { return control_->peer_key(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The server has not hung up by this moment.
  [[nodiscard]] bool is_open() const { return control_->look().has_value(); }
  void close() { control_->close(); }

 private:
  ControlClient(std::unique_ptr<ControlConnection> control, std::string name, std::chrono::milliseconds timeout)
      : control_(std::move(control)), name_(std::move(name)), timeout_(timeout) {}

  const std::unique_ptr<ControlConnection> control_;
  const std::string name_;
  const std::chrono::milliseconds timeout_;
  ReplyReader reader_;
};

}  // namespace udtcat::gridftp
