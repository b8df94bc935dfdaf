// SPDX-License-Identifier: Apache-2.0
/// A channel of another thread: the session's side of a connection whose packets an IoThread carries.
///
///   session ─ async_write(), async_read() ─► ThreadChannel ═ tasks ═► Far ─► the channel
///   session ◄─────── handlers ─────────────  ThreadChannel ◄═ events ═ Far ◄── completions
///
/// Bytes cross by reference: records as they are, and what is read goes straight into its reader's memory. Handlers
/// stay here; numbers cross.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/core/lifetime.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/io_thread.hpp"
#include "lib/transport/read_guard.hpp"

namespace udtcat::transport {

/// Questions are answered from a copy, some milliseconds old at most: stats() waits for the thread where it is older,
/// add_end_stats() and close_if_silent_since() always.
/// Threads: confined to the IoThread's owner's, as Channel.
class ThreadChannel final : public Channel {
 public:
  /// Known before the channel is made.
  struct Settings {
    Endpoint peer;
    bool proved_key = false;
    std::uint64_t retained_limit_bytes = 0;
    bool knows_acknowledged = false;  ///< see Channel::written()
  };
  /// Makes the channel, on its thread.
  using Factory = std::function<std::unique_ptr<Channel>(FarUser)>;

  /// thread   outlives this
  ThreadChannel(IoThread& thread, const Settings& settings, Factory factory);
  /// Waits for no thread, but for a copy into the memory of a read.
  ~ThreadChannel() override;
  ThreadChannel(const ThreadChannel&) = delete;
  ThreadChannel& operator=(const ThreadChannel&) = delete;

  void async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) override;
  void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) override;
  void async_write(core::SharedBytes from, WriteHandler handler) override;
  void async_drained(DrainedHandler handler) override;
  void close(std::chrono::milliseconds drain) override;
  /// Waits for the thread.
  [[nodiscard]] bool close_if_silent_since(std::uint64_t bytes_received) override;
  [[nodiscard]] std::size_t datagram_room_bytes() const override;
  void send_datagram(std::span<const std::byte> bytes) override;
  void on_datagram(DatagramHandler handler) override;
  [[nodiscard]] std::optional<Written> written() const override;
  [[nodiscard]] std::uint64_t retained_limit_bytes() const override { return settings_.retained_limit_bytes; }
  [[nodiscard]] std::uint64_t ahead_bytes() const override;
  [[nodiscard]] ChannelStats stats() override;
  void add_end_stats(EndStats& end) const override;
  [[nodiscard]] Endpoint peer() const override;
  [[nodiscard]] bool proved_key() const override { return settings_.proved_key; }
  void trust_peer() override;
  void try_path(const Endpoint& address) override;
  void watch_path(const std::optional<Endpoint>& fallback) override;
  [[nodiscard]] bool path_is_silent() const override;
  void set_tunnel(std::function<void(std::span<const std::byte> packet)> send) override;
  void take_from_tunnel(std::span<const std::byte> packet) override;
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override;

 private:
  class Far;
  using Use = std::function<void(Channel&)>;

  void post(Use use) const;
  void begin_read(ReadSomeHandler handler);
  void on_read(const Result<std::size_t>& read);
  void on_written(std::uint64_t number, const Status& status);

  IoThread& thread_;
  const Settings settings_;
  const std::shared_ptr<ReadGuard> memory_;
  ReadSomeHandler read_handler_;             // none: no read is outstanding
  std::deque<WriteHandler> write_handlers_;  // of the writes from first_write_ on; none: it was called
  std::uint64_t first_write_ = 0;
  DrainedHandler drained_handler_;
  DatagramHandler datagram_handler_;
  std::function<void(std::span<const std::byte>)> tunnel_;
  std::uint64_t written_bytes_ = 0;
  bool closed_ = false;
  core::Lifetime lifetime_;
  const std::shared_ptr<Far> far_;
};

}  // namespace udtcat::transport
