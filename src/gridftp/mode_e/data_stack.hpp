/// What data connections run over: TCP, plain UDT4, or sessions of ours.  spec: docs/spec/gridftp.md §7
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/key.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "gridftp/client/transfer.hpp"
#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"

namespace udtcat::gridftp {

/// A port that data connections come to, while it lives.
class DataDoor {
 public:
  virtual ~DataDoor() = default;
  [[nodiscard]] virtual Endpoint local() const = 0;
};

/// Threads: confined to the io_context thread, where handlers are called.
class DataStack {
 public:
  using ConnectionHandler = std::function<void(std::shared_ptr<StreamIo>, const Endpoint& peer)>;

  virtual ~DataStack() = default;
  /// errors: Errc::cannot_reach within the patience that it was made with; of a session also Errc::authentication_failed, Errc::parameters_refused
  [[nodiscard]] virtual Task<Result<std::shared_ptr<StreamIo>>> connect(Endpoint to) = 0;
  /// local   whose port 0 lets the system choose.  errors: Errc::cannot_bind, Errc::out_of_resources
  [[nodiscard]] virtual Result<std::unique_ptr<DataDoor>> listen(const Endpoint& local, ConnectionHandler handler) = 0;
};

[[nodiscard]] std::shared_ptr<DataStack> make_tcp_stack(boost::asio::io_context& io,
                                                        std::chrono::milliseconds patience = kConnectPatience);
/// Any UDT4 program is a peer: the stock driver `udt`. Nothing is protected.
[[nodiscard]] std::shared_ptr<DataStack> make_udt_stack(boost::asio::io_context& io, const TransportOptions& transport,
                                                        std::chrono::milliseconds patience = kConnectPatience);
/// Connections to one port are streams of one session. A peer is who proves the key.
/// key   none only at Protection::clear
[[nodiscard]] std::shared_ptr<DataStack> make_session_stack(boost::asio::io_context& io, const SessionOptions& session,
                                                            const TransportOptions& transport, std::optional<Key> key,
                                                            std::chrono::milliseconds patience = kConnectPatience);

}  // namespace udtcat::gridftp
