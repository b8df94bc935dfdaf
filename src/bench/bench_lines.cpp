// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_lines.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace udtcat::bench {

void BenchLines::async_read(LineHandler handler) {
  handler_ = std::move(handler);
  read_more();
}

void BenchLines::read_more() {
  stream_->async_read(piece_, lifetime_.guard([this](Result<std::size_t> bytes) {
    const auto tell = [this](Result<std::string> line) { std::exchange(handler_, nullptr)(std::move(line)); };
    if (!bytes) return tell(tl::unexpected(bytes.error()));
    if (*bytes == 0) return tell(fail(Errc::connection_broken, "read a message of a bench", "the other end said all"));
    // SAFETY: any byte is a char.
    arrived_.append(reinterpret_cast<const char*>(piece_.data()), *bytes);
    const auto end = arrived_.find('\n');
    if (end == std::string::npos && arrived_.size() < kMaxBenchLineBytes) return read_more();
    // One question at a time, one answer: nothing follows a line before it was answered.
    if (end + 1 != arrived_.size())
      return tell(fail(Errc::protocol_violated, "read a message of a bench", "it is not one line of 4 kB"));
    std::string line = std::exchange(arrived_, {});
    line.pop_back();
    tell(std::move(line));
  }));
}

void BenchLines::async_write(const std::string& line, WrittenHandler handler) {
  leaving_ = line + '\n';
  stream_->async_write(std::as_bytes(std::span(leaving_)), lifetime_.guard(std::move(handler)));
}

std::size_t BenchBacklog::room(const ConnectionStats& now) {
  constexpr std::uint64_t kLeastBytes = 8'192;  // guess: at 1 Mbit/s a fifteenth of a second
  constexpr std::uint64_t kHeaderBytes = 44;    // spec: IPv4, UDP and UDT
  constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
  if (now.evidence.here.packet_bytes == 0) return kMostBytes;  // libudt does not tell what has left
  const std::uint64_t packets = now.packets_sent - now.packets_resent;
  if (!std::exchange(began_, true)) {
    packets_ = packets;
    left_bytes_ = now.bytes_sent;
  }
  const std::uint64_t packet_bytes = std::max(now.evidence.here.packet_bytes, kHeaderBytes) - kHeaderBytes;
  const std::uint64_t moved_bytes = (packets - std::min(packets, std::exchange(packets_, packets))) * packet_bytes;
  const std::uint64_t taken_bytes = now.evidence.there ? now.evidence.there->bytes_received : 0;
  left_bytes_ = std::min(std::max(left_bytes_ + moved_bytes, taken_bytes), now.bytes_sent);
  const std::uint64_t waiting_bytes = now.bytes_sent - left_bytes_;
  const std::uint64_t most_bytes = kLeastBytes + 2 * moved_bytes;
  return most_bytes - std::min(most_bytes, waiting_bytes);
}

LocalStream::ReadResult BenchStream::read_some(std::span<std::byte> into) {
  const auto now = Goodput::TimePoint::clock::now();
  if (!began_) began_ = now;
  if (now - *began_ >= sends_for_) return {.state = ReadState::end};
  if (now >= next_poll_) {
    room_bytes_ = backlog_.room(connection_.stats());
    next_poll_ = now + kPollInterval;
  }
  if (room_bytes_ == 0) return {.state = ReadState::would_block};
  const auto piece = into.first(std::min(into.size(), room_bytes_));
  room_bytes_ -= piece.size();
  // Always written: a block's memory may hold another session's data.
  constexpr std::byte kWithoutMeaning{0x55};  // spec: docs/spec/bench.md §1
  std::ranges::fill(piece, kWithoutMeaning);
  return {.state = ReadState::data, .bytes = piece.size()};
}

void BenchStream::async_wait_readable(WaitHandler handler) {
  poll_timer_.expires_at(next_poll_);
  poll_timer_.async_wait(lifetime_.guard([handler = std::move(handler)](const boost::system::error_code& cancelled) {
    if (!cancelled) handler();
  }));
}

void BenchStream::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  goodput_->add(from.size(), Goodput::TimePoint::clock::now());
  boost::asio::post(connection_.io(),
                    lifetime_.guard([handler = std::move(handler), bytes = from.size()] { handler({}, bytes); }));
}

void BenchStream::async_finish(FinishHandler handler) {
  boost::asio::post(connection_.io(), lifetime_.guard([handler = std::move(handler)] { handler({}); }));
}

}  // namespace udtcat::bench
