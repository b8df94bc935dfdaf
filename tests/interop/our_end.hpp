// SPDX-License-Identifier: Apache-2.0
/// Our engine on a thread of its own, behind calls that wait, so that a test reads from top to bottom.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "interop/pattern.hpp"
#include "interop/transfer.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::test::interop {

class OurChannel;

/// An engine and its io_context's thread. Threads: confined; the engine lives on the inner thread.
class OurEnd {
 public:
  explicit OurEnd(const TransportOptions& options = {});
  OurEnd(const OurEnd&) = delete;
  OurEnd& operator=(const OurEnd&) = delete;
  ~OurEnd();

  /// Runs `call` on the inner thread and waits for what it returns.
  template <typename Call>
  auto run(Call call) -> decltype(call()) {
    std::promise<decltype(call())> promise;
    auto future = promise.get_future();
    boost::asio::post(io_, [&] {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        promise.set_value();
      } else {
        promise.set_value(call());
      }
    });
    return future.get();
  }

  /// Binds the loopback address of the family (or `at`) and returns the port, 0 for a failed test.
  std::uint16_t listen(AddressFamily family = AddressFamily::ipv4, const std::optional<Endpoint>& at = {});
  /// Begins the one accept at a time.
  void start_accept();
  [[nodiscard]] std::unique_ptr<OurChannel> accepted(std::chrono::milliseconds limit);
  void stop_listening();

  void start_connect(const Endpoint& peer, std::chrono::milliseconds patience);
  [[nodiscard]] Result<std::unique_ptr<OurChannel>> connected(std::chrono::milliseconds limit);
  [[nodiscard]] Result<std::unique_ptr<OurChannel>> connect(
      const Endpoint& peer, std::chrono::milliseconds patience = std::chrono::seconds(5));

 private:
  using Arrival = std::promise<Result<std::unique_ptr<transport::Channel>>>;

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::unique_ptr<transport::Engine> engine_;  // the inner thread's, as the next
  std::unique_ptr<transport::Acceptor> acceptor_;
  std::future<Result<std::unique_ptr<transport::Channel>>> accepting_;
  std::future<Result<std::unique_ptr<transport::Channel>>> connecting_;
  std::thread thread_;
};

/// A channel of an OurEnd, which outlives it. Threads: confined.
class OurChannel {
 public:
  OurChannel(OurEnd& end, std::unique_ptr<transport::Channel> channel);
  OurChannel(const OurChannel&) = delete;
  OurChannel& operator=(const OurChannel&) = delete;
  ~OurChannel();

  /// "" when done within `limit`; else what went wrong.
  [[nodiscard]] std::string read(std::span<std::byte> into, std::chrono::milliseconds limit = std::chrono::seconds(10));
  [[nodiscard]] std::string write(std::vector<std::byte> bytes,
                                  std::chrono::milliseconds limit = std::chrono::seconds(10));
  /// Begins a write whose end nobody waits for.
  void start_write(std::vector<std::byte> bytes);
  /// The result of a read of `bytes`, within `limit`; none while it goes on.
  void start_read(std::size_t bytes);
  [[nodiscard]] std::optional<Status> read_ended(std::chrono::milliseconds limit);
  /// The bytes that start_read() read, once it has ended.
  [[nodiscard]] std::span<const std::byte> read_bytes() const { return into_; }

  Job start_sending(const Pattern& pattern, std::uint64_t bytes, std::size_t piece_bytes = 256 * 1024);
  /// In pieces of `piece_bytes`, the last one smaller. A channel tells nothing of a part of a piece.
  Job start_receiving(const Pattern& pattern, std::uint64_t bytes, std::size_t piece_bytes = 64 * 1024);

  void close(std::chrono::milliseconds drain = std::chrono::seconds(10));
  [[nodiscard]] transport::ChannelStats stats();
  [[nodiscard]] Endpoint peer();
  [[nodiscard]] bool port_is_closed();
  [[nodiscard]] std::string counters();

 private:
  struct Sending;
  struct Receiving;
  static void send_more(const std::shared_ptr<Sending>& sending);
  static void receive_more(const std::shared_ptr<Receiving>& receiving);

  OurEnd& end_;
  std::unique_ptr<transport::Channel> channel_;  // the inner thread's
  std::vector<std::byte> into_;                  // of start_read()
  std::future<Status> reading_;
};

}  // namespace udtcat::test::interop
