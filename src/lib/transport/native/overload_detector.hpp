// SPDX-License-Identifier: Apache-2.0
/// Whether this host reads datagrams more slowly than they come, and which connections bring them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace udtcat::transport::native {

/// A backlog is what is read from one moment at which the sockets are empty to the next. The host is overloaded where a
/// backlog is large, or the sockets had no room for some of it: the connections that brought the most of it then tell
/// their senders, which slow down.
/// Threads: unsynchronised.
class OverloadDetector {
 public:
  /// A connection's part.
  struct Share {
    std::uint64_t backlog_number = 0;  ///< of the last backlog in which the connection brought something
    std::uint64_t backlog_bytes = 0;   ///< that it brought in that one
    std::uint64_t overloads = 0;       ///< to which it brought so much that its sender is told
  };

  /// buffer_bytes   the sockets' receive buffers
  explicit OverloadDetector(std::size_t buffer_bytes) : buffer_bytes_(buffer_bytes) {}

  /// The connection has got a datagram.
  void on_datagram(Share& share, std::size_t bytes) const {
    if (std::exchange(share.backlog_number, backlog_number_) != backlog_number_) share.backlog_bytes = 0;
    share.backlog_bytes += bytes;
  }
  /// Datagrams were read.
  /// bytes         that they took of the buffers
  /// drops         that the socket has counted so far: less than before where it is another socket
  /// connections   a range of all
  /// share_of      gives the Share& of each
  template <typename Connections, typename ShareOf>
  void on_read(std::size_t bytes, std::uint64_t drops, Connections& connections, ShareOf share_of) {
    backlog_bytes_ += bytes;
    const bool has_dropped = std::exchange(drops_, drops) < drops;
    if (!has_dropped && backlog_bytes_ < buffer_bytes_ / kBacklogPart) return;
    tell(connections, share_of);
    on_emptied();  // an overload that lasts is told again
  }
  void on_emptied() {
    backlog_bytes_ = 0;
    ++backlog_number_;
  }

 private:
  static constexpr std::uint64_t kBacklogPart = 2;  // measured: ADR-0030

  /// A connection that brought less than half an equal share is not told.
  template <typename Connections, typename ShareOf>
  void tell(Connections& connections, ShareOf share_of) const {
    std::uint64_t all_bytes = 0;
    std::uint64_t senders = 0;
    const auto brought = [this](const Share& share) {
      return share.backlog_number == backlog_number_ ? share.backlog_bytes : 0;
    };
    for (auto& each : connections) {
      const std::uint64_t bytes = brought(share_of(each));
      all_bytes += bytes;
      if (bytes > 0) ++senders;
    }
    for (auto& each : connections) {
      Share& share = share_of(each);
      if (brought(share) > 0 && brought(share) * 2 * senders >= all_bytes) ++share.overloads;
    }
  }

  const std::size_t buffer_bytes_;
  std::uint64_t backlog_bytes_ = 0;
  std::uint64_t backlog_number_ = 0;
  std::uint64_t drops_ = 0;
};

}  // namespace udtcat::transport::native
