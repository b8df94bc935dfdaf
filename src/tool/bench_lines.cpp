// SPDX-License-Identifier: Apache-2.0
#include "tool/bench_lines.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace udtcat::tool {

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

LocalStream::ReadResult BenchStream::read_some(std::span<std::byte> into) {
  const auto now = BenchTally::TimePoint::clock::now();
  if (!began_) began_ = now;
  if (now - *began_ >= sends_for_) return {.state = ReadState::end};
  // Written over, always: a block's memory may hold what is nobody else's business.
  constexpr std::byte kWithoutMeaning{0x55};  // spec: docs/spec/bench.md §1
  std::ranges::fill(into, kWithoutMeaning);
  return {.state = ReadState::data, .bytes = into.size()};
}

void BenchStream::async_wait_readable(WaitHandler handler) {
  boost::asio::post(io_, lifetime_.guard(std::move(handler)));
}

void BenchStream::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  tally_->add(from.size(), BenchTally::TimePoint::clock::now());
  boost::asio::post(io_, lifetime_.guard([handler = std::move(handler), bytes = from.size()] { handler({}, bytes); }));
}

void BenchStream::async_finish(FinishHandler handler) {
  boost::asio::post(io_, lifetime_.guard([handler = std::move(handler)] { handler({}); }));
}

}  // namespace udtcat::tool
