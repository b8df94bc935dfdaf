// SPDX-License-Identifier: Apache-2.0
/// Warnings beside errors and progress: missing protection, refused peers, a pipe that does not end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/bridge/forwarding_stream.hpp"
#include "lib/bridge/trouble.hpp"
#include "lib/core/lifetime.hpp"
#include "tool/cli/console.hpp"
#include "tool/status/picture.hpp"

namespace udtcat::tool {

/// The risk that `protection` leaves open; none for `private`.
[[nodiscard]] std::optional<std::string> protection_warning(Protection protection);
/// Tells the user; of `clear` also one who wants to read errors only.
void warn_of_protection(Protection protection, Console& console);
/// The risk of --plain, which protects nothing.
[[nodiscard]] std::string plain_warning();

/// "alice (192.0.2.1:4711)"; the address alone where a peer has no key pair.
[[nodiscard]] std::string peer_text(const Connection& connection);

/// UDTCAT_PEER, for a command that serves the peer; without a value where it has no name.
[[nodiscard]] bridge::EnvironmentVariable peer_variable(const std::optional<PeerIdentity>& peer);

/// Warns of peers that were turned away, as of any trouble: of the first for each kind of reason at once, then by one
/// line an interval that counts.
/// Threads: confined to the io_context thread.
class RefusalLog {
 public:
  explicit RefusalLog(boost::asio::io_context& io);
  void add(const Endpoint& peer, const Error& why);
  /// How many there were of each kind, and when the last.
  [[nodiscard]] std::vector<RefusalPicture> pictures() const;

 private:
  struct RefusalCount {
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point latest{};
    std::string last{};
  };
  std::map<std::string, RefusalCount> counts_;  // by kind, of which there are no more than codes
  bridge::TroubleReporter reporter_;
};

inline constexpr std::chrono::milliseconds kOpenStdinDelay{3'000};  // guess: enough for an input that ends by itself

/// Whether a descriptor is a pipe, a socket or a file that is not empty, as opposed to a terminal or the null device.
[[nodiscard]] bool has_data(int descriptor);

/// Stdin and stdout as they are. Once all output is written while stdin has given neither a byte nor its end, `warn`
/// is called once, after a while.
/// Threads: confined to the main thread.
class OpenStdinWarning final : public bridge::ForwardingStream {
 public:
  OpenStdinWarning(boost::asio::io_context& io, std::unique_ptr<LocalStream> stdio, std::function<void()> warn,
                   std::chrono::milliseconds timeout = kOpenStdinDelay)
      : ForwardingStream(std::move(stdio)), warn_(std::move(warn)), timeout_(timeout), timer_(io) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;

 private:
  const std::function<void()> warn_;
  const std::chrono::milliseconds timeout_;
  bool has_written_ = false;
  bool has_read_ = false;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
