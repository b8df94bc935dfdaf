// SPDX-License-Identifier: Apache-2.0
/// Lines on a stream: the questions and answers of a bench, and the bytes by which it measures.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stream.hpp>

#include "bench/bench_message.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bench {

inline constexpr std::uint32_t kBenchControl = 0;  // spec: docs/spec/bench.md §1
inline constexpr std::uint32_t kBenchOut = 2;      // spec: docs/spec/bench.md §1
inline constexpr std::uint32_t kBenchBack = 4;     // spec: docs/spec/bench.md §1

/// Threads: confined to the io_context thread, where the handlers are called, not after destruction.
class BenchLines {
 public:
  using LineHandler = std::function<void(Result<std::string>)>;
  using WrittenHandler = std::function<void(Status)>;

  explicit BenchLines(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

  /// Calls back with the next line, without its newline. One at a time.
  /// errors: those of the stream; Errc::protocol_violated for a line that is too long; Errc::connection_broken where
  /// the peer has said all
  void async_read(LineHandler handler);
  void async_write(const std::string& line, WrittenHandler handler);

 private:
  void read_more();

  LineHandler handler_;  // of the read under way
  std::array<std::byte, kMaxBenchLineBytes> piece_{};
  std::string arrived_;
  std::string leaving_;
  const std::unique_ptr<Stream> stream_;  // it writes into what stands above
  core::Lifetime lifetime_;
};

/// The bytes that came out of a stream.
struct Goodput {
  using TimePoint = std::chrono::steady_clock::time_point;
  std::uint64_t bytes = 0;
  TimePoint first{};
  TimePoint last{};

  void add(std::size_t more, TimePoint now) {
    if (bytes == 0) first = now;
    last = now;
    bytes += more;
  }
  [[nodiscard]] std::chrono::microseconds time() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(last - first);
  }
};

inline constexpr std::chrono::milliseconds kPollInterval{5};  // guess: below most round trips, and no load

/// Bytes that were given to the session and have not left this host: no more than leaves within two looks, since all of
/// them still have to arrive when the time is over. By the packets sent, of which a few are smaller than is reckoned.
class BenchBacklog {
 public:
  /// The bytes that may be given now. Asked at every look, each time for what left since the last.
  [[nodiscard]] std::size_t room(const ConnectionStats& now);

 private:
  bool began_ = false;
  std::uint64_t packets_ = 0;  // that have left so far, each counted once
  std::uint64_t left_bytes_ = 0;
};

/// Sends constant bytes for a while, and counts those that come.
/// Threads: confined to the io_context thread.
class BenchStream final : public LocalStream {
 public:
  /// connection  it is a stream of
  /// sends_for   from the first byte on; 0: it has nothing to say
  BenchStream(Connection& connection, std::chrono::nanoseconds sends_for, std::shared_ptr<Goodput> goodput)
      : connection_(connection), sends_for_(sends_for), goodput_(std::move(goodput)), poll_timer_(connection.io()) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override;
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override { lifetime_.end(); }
  [[nodiscard]] std::string source_name() const override { return "what is measured"; }
  [[nodiscard]] std::string sink_name() const override { return "what is measured"; }

 private:
  Connection& connection_;
  const std::chrono::nanoseconds sends_for_;
  const std::shared_ptr<Goodput> goodput_;
  std::optional<Goodput::TimePoint> began_;
  BenchBacklog backlog_;
  std::size_t room_bytes_ = 0;
  Goodput::TimePoint next_poll_{};
  boost::asio::steady_timer poll_timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bench
