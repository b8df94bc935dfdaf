// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/rate_limited_stream.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::connection {

LocalStream::ReadResult RateLimitedStream::read_some(std::span<std::byte> into) {
  const auto now = Clock::now();
  if (now < read_again()) return {.state = ReadState::would_block};
  const auto result = local_->read_some(into.first(std::min(into.size(), rates_->sent.piece_bytes())));
  if (result.bytes > 0) read_again_ = rates_->sent.pass(result.bytes, now);
  return result;
}

RateLimitedStream::Clock::time_point RateLimitedStream::read_again() {
  if (!read_again_) read_again_ = rates_->sent.next();
  return *read_again_;
}

void RateLimitedStream::async_wait_readable(WaitHandler handler) {
  if (Clock::now() >= read_again()) return local_->async_wait_readable(std::move(handler));
  read_timer_.expires_at(read_again());
  read_timer_.async_wait(
      lifetime_.guard([this, handler = std::move(handler)](const boost::system::error_code& cancelled) mutable {
        if (!cancelled) local_->async_wait_readable(std::move(handler));
      }));
}

void RateLimitedStream::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  const bool is_first = !std::exchange(has_written_, true);
  if (!is_first || rates_->received.next() <= Clock::now()) return write_now(from, std::move(handler));
  write_timer_.expires_at(rates_->received.next());
  write_timer_.async_wait(
      lifetime_.guard([this, from, handler = std::move(handler)](const boost::system::error_code& cancelled) mutable {
        if (!cancelled) write_now(from, std::move(handler));
      }));
}

void RateLimitedStream::write_now(std::span<const std::byte> from, WriteHandler handler) {
  const auto piece = from.first(std::min(from.size(), rates_->received.piece_bytes()));
  // Before it is written: the client may be gone with the last byte, and this stream with it.
  const auto after_all = rates_->received.pass(piece.size(), Clock::now());
  local_->async_write_some(piece, lifetime_.guard([this, handler = std::move(handler), after_all, all = piece.size()](
                                                      std::error_code error, std::size_t bytes) mutable {
    const auto again = after_all - rates_->received.take_back(all - bytes);
    if (error || again <= Clock::now()) return handler(error, bytes);
    write_timer_.expires_at(again);
    write_timer_.async_wait(
        lifetime_.guard([handler = std::move(handler), bytes](const boost::system::error_code& cancelled) {
          if (!cancelled) handler({}, bytes);
        }));
  }));
}

void RateLimitedStream::abort() {
  lifetime_.end();
  read_timer_.cancel();
  write_timer_.cancel();
  local_->abort();
}

std::unique_ptr<LocalStream> limited(boost::asio::io_context& io, std::unique_ptr<LocalStream> local,
                                     const std::optional<KnownPeers::Watch>& watch,
                                     const std::optional<PeerIdentity>& peer) {
  auto rates = watch && peer ? watch->peers().rates_of(*peer) : nullptr;
  if (!rates) return local;
  return std::make_unique<RateLimitedStream>(io, std::move(local), std::move(rates));
}

}  // namespace udtcat::connection
