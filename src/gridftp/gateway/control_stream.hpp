// SPDX-License-Identifier: Apache-2.0
/// A control connection's socket, as the session sees it: its bytes go through a ControlRelay both ways.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "gridftp/gateway/control_ports.hpp"
#include "gridftp/gateway/control_relay.hpp"
#include "lib/bridge/forwarding_stream.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::gridftp {

/// Holds what one piece that was read, or one that is being written, becomes, and the relay's own answers to the
/// client.
/// Threads: confined to the io_context thread.
class ControlStream final : public bridge::ForwardingStream {
 public:
  /// Told why the relay ended the connection, before the session is.
  using ViolationHandler = std::function<void(const Error&)>;

  ControlStream(boost::asio::io_context& io, std::unique_ptr<LocalStream> socket, LocalPeer local,
                std::shared_ptr<ControlPorts> ports, ViolationHandler on_violation);

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;

 private:
  [[nodiscard]] std::error_code report(const Status& status);
  void write_on();
  void on_written(std::error_code error, std::size_t bytes);
  void complete_calls(std::error_code error);

  boost::asio::io_context& io_;
  const std::shared_ptr<ControlPorts> ports_;
  const ViolationHandler on_violation_;
  ControlRelay relay_;
  ControlRelay::Output out_;
  std::size_t given_bytes_ = 0;  // of out_.to_session
  std::string being_written_;    // the socket's until it says otherwise
  std::size_t written_bytes_ = 0;
  bool writes_ = false;
  std::vector<std::byte> piece_;
  // Handlers called once out_.to_local is written; one of each at most.
  WriteHandler writing_;
  std::size_t writing_bytes_ = 0;
  FinishHandler finishing_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
