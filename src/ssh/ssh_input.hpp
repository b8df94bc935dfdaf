// SPDX-License-Identifier: Apache-2.0
/// The far end's stdin: what comes by ssh while nothing has begun.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "lib/bridge/wake_event.hpp"
#include "ssh/control_message.hpp"

namespace udtcat::ssh {

/// Waits for one request, which ssh's pipes are to carry. Not a byte beyond it is read: the rest is the command's
/// input.
/// Threads: confined to the io_context thread, where the handlers are called, one of them, once; a thread of its own
/// reads.
class SshInput {
 public:
  struct Handlers {
    std::function<void(const ControlMessage&)> on_request;
    /// ssh has ended, or what came is no request.
    std::function<void()> on_end;
  };

  /// descriptor   borrowed; must outlive this.  errors: Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<SshInput>> start(boost::asio::io_context& io, int descriptor,
                                                               Handlers handlers);
  /// No handler is called any more, and nothing is read.
  ~SshInput();

 private:
  SshInput(boost::asio::io_context& io, int descriptor, bridge::WakeEvent stop, Handlers handlers);
  void run();
  [[nodiscard]] bool read_exactly(std::span<std::byte> into) const;
  [[nodiscard]] std::optional<ControlMessage> read_message() const;

  boost::asio::io_context& io_;
  const int descriptor_;
  const bridge::WakeEvent stop_;
  const std::shared_ptr<const Handlers> handlers_;
  std::thread thread_;
};

}  // namespace udtcat::ssh
