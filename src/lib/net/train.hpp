// SPDX-License-Identifier: Apache-2.0
/// The two halves of a DatagramSocket, and what both need: ancillary data, and the meaning of an errno.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "lib/core/dropped_datagrams.hpp"
#include "lib/net/datagram_socket.hpp"

namespace udtcat::net {

/// The ancillary data of a message, written before sendmsg and read after recvmsg: entries in the form that the kernel
/// reads, `kBytes` (a sum of CMSG_SPACE) at most.
/// Threads: unsynchronised.
template <std::size_t kBytes>
class AncillaryData {
 public:
  void clear() { used_bytes_ = 0; }
  template <typename Value>
  void append(int level, int type, const Value& value) {
    cmsghdr header{};
    header.cmsg_len = CMSG_LEN(sizeof value);
    header.cmsg_level = level;
    header.cmsg_type = type;
    std::memcpy(bytes_.data() + used_bytes_, &header, sizeof header);
    std::memcpy(bytes_.data() + used_bytes_ + CMSG_LEN(0), &value, sizeof value);
    used_bytes_ += CMSG_SPACE(sizeof value);
  }
  [[nodiscard]] std::byte* data() { return bytes_.data(); }
  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }

 private:
  alignas(cmsghdr) std::array<std::byte, kBytes> bytes_{};
  std::size_t used_bytes_ = 0;
};

/// The value of an entry that is known to hold one.
template <typename Value>
[[nodiscard]] Value ancillary_value(const cmsghdr& entry) {
  Value value{};
  std::memcpy(&value, CMSG_DATA(&entry), sizeof value);
  return value;
}

/// Calls `visit` with every entry of a received message.
template <typename Visit>
void for_each_ancillary(msghdr& message, Visit&& visit) {
  for (cmsghdr* entry = CMSG_FIRSTHDR(&message); entry != nullptr; entry = CMSG_NXTHDR(&message, entry)) visit(*entry);
}

/// How often a call is made until its error counts. Each ICMP error of an earlier datagram fails one later call.
inline constexpr int kCallAttempts = 3;  // guess: two such errors may come between two calls

/// Whether the errno passes by itself: no room, or nothing there, now.
[[nodiscard]] inline bool is_transient(int errno_value) {
  return errno_value == EAGAIN || errno_value == EWOULDBLOCK || errno_value == ENOBUFS || errno_value == ENOMEM;
}

/// Repeats `call` past errors of earlier datagrams. returns  its result, or its errno as a negative number
template <typename Call>
[[nodiscard]] int retry_pending_errors(Call&& call) {
  for (int attempt = 1;; ++attempt) {
    const auto given = call();
    if (given >= 0) return static_cast<int>(given);
    const int errno_value = errno;
    if (attempt == kCallAttempts || is_transient(errno_value)) return -errno_value;
  }
}

/// How a send ended that had `taken` datagrams taken before this errno.
[[nodiscard]] inline SendResult ended_by(int errno_value, std::size_t taken) {
  // The socket counts as writable all the while.
  if (errno_value == ENOBUFS || errno_value == ENOMEM) return {SendState::no_memory, taken, 0};
  if (is_transient(errno_value)) return {SendState::would_block, taken, 0};
  if (errno_value == EMSGSIZE) return {SendState::too_large, taken, 0};
  return {SendState::failed, taken, errno_value};
}

/// The datagrams that one socket had no room for, by what the kernel tells modulo 2^32.
class DropCounter {
 public:
  void update(std::uint32_t reported) {
    // A datagram may have been queued by another core before a drop that was told already.
    const auto more = static_cast<std::int32_t>(reported - reported_);
    if (more <= 0) return;
    total_ += static_cast<std::uint64_t>(more);
    core::count_dropped_datagrams(static_cast<std::uint64_t>(more));
    reported_ = reported;
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  std::uint64_t total_ = 0;
  std::uint32_t reported_ = 0;
};

/// Has the kernel join datagrams to trains (UDP_GRO), say where they were sent to, and keep ICMP errors.
/// errors   Errc::cannot_bind
[[nodiscard]] Status prepare_to_receive(UdpSocket& socket, const DatagramSocket::Options& options);

/// The way into a DatagramSocket: what is there, in as few system calls as the kernel gives it.
/// Threads: unsynchronised.
class TrainReceiver {
 public:
  TrainReceiver();
  ~TrainReceiver();
  TrainReceiver(const TrainReceiver&) = delete;
  TrainReceiver& operator=(const TrainReceiver&) = delete;

  std::size_t receive(const UdpSocket& socket, std::vector<ReceivedTrain>& into, std::size_t most,
                      core::ChunkPool& chunks, DropCounter& drops);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The way out of a DatagramSocket: trains in as few system calls as the kernel takes them.
/// Threads: unsynchronised.
class TrainSender {
 public:
  /// `offload`: try to let the kernel cut trains (UDP_SEGMENT).
  TrainSender(const UdpSocket& socket, bool offload);
  ~TrainSender();
  TrainSender(const TrainSender&) = delete;
  TrainSender& operator=(const TrainSender&) = delete;

  [[nodiscard]] SendResult send(const UdpSocket& socket, const DatagramTrain& train);
  [[nodiscard]] std::size_t max_train_datagrams() const;
  void probe_path_mtu(const UdpSocket& socket, bool on);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace udtcat::net
