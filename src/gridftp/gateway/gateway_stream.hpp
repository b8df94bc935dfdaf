// SPDX-License-Identifier: Apache-2.0
/// Streams between two gateways: each begins with a line that says what it is.  spec: docs/spec/gridftp.md §6
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/forwarding_stream.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::gridftp {

inline constexpr std::size_t kMaxGreetingBytes = 64;  // spec: docs/spec/gridftp.md §6, with the line end

struct GatewayGreeting {
  std::optional<Endpoint> data;  ///< a data connection to what was announced so; none: a control connection
  friend bool operator==(const GatewayGreeting&, const GatewayGreeting&) = default;
};

/// With the line end.
[[nodiscard]] std::string to_line(const GatewayGreeting& greeting);
/// `line` without its end. Total.  errors: Errc::stream_refused
[[nodiscard]] Result<GatewayGreeting> parse_gateway_greeting(std::string_view line);

/// At the gateway that opens the stream: reads as the greeting and then as the local stream; writes go to the latter.
/// Threads: confined to the io_context thread.
class PrefixedStream final : public bridge::ForwardingStream {
 public:
  PrefixedStream(std::string greeting, std::unique_ptr<LocalStream> stream)
      : ForwardingStream(std::move(stream)), greeting_(std::move(greeting)) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;

 private:
  const std::string greeting_;
  std::size_t given_bytes_ = 0;  // of the greeting
};

/// At the gateway that accepts the stream, whose local end depends on the greeting.
///
///   reading the line ── LineHandler ──► waiting ── Attach ──► attached: all goes to the local end, behind the line
///
/// Nothing is read before it is attached; bytes written behind the line wait, within the stream's credit.
/// Threads: confined to the io_context thread.
class DeferredStream final : public LocalStream {
 public:
  /// Gives the stream its local end; resets that end where the stream has ended meanwhile.
  using Attach = std::function<void(std::unique_ptr<LocalStream> local)>;
  /// With the line, without its end; or with why there is none.  errors: Errc::stream_refused
  using LineHandler = std::function<void(Result<std::string> line, Attach attach)>;

  /// `on_line` is called once, never from inside another call.
  DeferredStream(boost::asio::io_context& io, std::size_t most_line_bytes, LineHandler on_line);

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override;
  void receipted() override { local_->receipted(); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;
  [[nodiscard]] std::string source_name() const override { return name(); }
  [[nodiscard]] std::string sink_name() const override { return name(); }

 private:
  void attach(std::unique_ptr<LocalStream> local);
  void take_line(std::span<const std::byte> from, WriteHandler handler);
  void tell(Result<std::string> line);
  [[nodiscard]] std::string name() const {
    return local_ ? local_->sink_name() : "a stream that was not connected yet";
  }

  boost::asio::io_context& io_;
  const std::size_t most_line_bytes_;
  LineHandler on_line_;  // empty once it was called
  std::string line_;
  std::unique_ptr<LocalStream> local_;
  // Calls from before there is a local end; one of each at most.
  WaitHandler waiting_;
  std::span<const std::byte> unwritten_;
  WriteHandler writing_;
  FinishHandler finishing_;
  std::shared_ptr<DeferredStream*> self_ = std::make_shared<DeferredStream*>(this);
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
