// SPDX-License-Identifier: Apache-2.0
/// A local stream that gives and takes no more than a rate which it shares with others.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/credentials.hpp>
#include <udtcat/local_stream.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/core/shared_rate.hpp"

namespace udtcat::connection {

/// Its reads count as sent. The first of each waits for what other streams have passed: many short streams have no
/// more than a long one. A write counts as received and is over only when its bytes may have passed: until then
/// the peer gets no new credit for them.
/// Threads: confined, as LocalStream.
class RateLimitedStream final : public LocalStream {
 public:
  RateLimitedStream(boost::asio::io_context& io, std::unique_ptr<LocalStream> local,
                    std::shared_ptr<core::PeerRates> rates)
      : local_(std::move(local)), rates_(std::move(rates)), read_timer_(io), write_timer_(io) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override;
  void receipted() override { local_->receipted(); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override { local_->async_finish(std::move(handler)); }
  void abort() override;
  [[nodiscard]] std::string source_name() const override { return local_->source_name(); }
  [[nodiscard]] std::string sink_name() const override { return local_->sink_name(); }

 private:
  using Clock = std::chrono::steady_clock;

  /// When more may be read.
  [[nodiscard]] Clock::time_point read_again();
  void write_now(std::span<const std::byte> from, WriteHandler handler);

  const std::unique_ptr<LocalStream> local_;
  const std::shared_ptr<core::PeerRates> rates_;
  std::optional<Clock::time_point> read_again_;  // none: nothing was read yet
  bool has_written_ = false;
  boost::asio::steady_timer read_timer_;
  boost::asio::steady_timer write_timer_;
  core::Lifetime lifetime_;
};

/// The stream at the peer's rate: `local` itself where it has none.
/// watch, peer   none: there are no key pairs
[[nodiscard]] std::unique_ptr<LocalStream> limited(boost::asio::io_context& io, std::unique_ptr<LocalStream> local,
                                                   const std::optional<KnownPeers::Watch>& watch,
                                                   const std::optional<PeerIdentity>& peer);

}  // namespace udtcat::connection
