// SPDX-License-Identifier: Apache-2.0
/// Datagrams in batches: one system call for many, where the kernel can (UDP_SEGMENT, UDP_GRO, sendmmsg, recvmmsg).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/core/chunk.hpp"
#include "lib/net/udp_socket.hpp"

namespace udtcat::net {

/// Datagrams that leave together for one peer, each gathered from pieces of memory. All are `segment_bytes` long but
/// the last, which may be shorter. Borrows the pieces until it is sent. Reused: clear() keeps its capacity.
struct DatagramTrain {
  static constexpr std::size_t kMaxDatagramPieces = 1024;  // spec: IOV_MAX of Linux and the BSDs; callers keep to it

  Endpoint to;
  std::optional<Endpoint> from;  ///< the local address to send from (its port is ignored); none: the system's choice
  std::size_t segment_bytes = 0;
  std::size_t total_bytes = 0;
  bool singly = false;                             ///< each is sent as a message of its own, without UDP_SEGMENT
  bool may_fragment = false;                       ///< the system may fragment datagrams larger than the path MTU
  std::vector<std::span<const std::byte>> pieces;  ///< of all datagrams, in order
  std::vector<std::uint16_t> piece_counts;         ///< for each datagram

  [[nodiscard]] std::size_t datagrams() const { return piece_counts.size(); }
  void clear() {
    pieces.clear();
    piece_counts.clear();
    total_bytes = 0;
    singly = false;
  }
};

/// One or more datagrams of one peer, of equal size but the last.
struct ReceivedTrain {
  core::ChunkRef chunk;
  std::size_t total_bytes = 0;
  std::size_t segment_bytes = 0;  ///< total_bytes where it is one datagram
  Endpoint from;
  std::optional<Endpoint> to;  ///< the local address it was sent to (port 0), if asked for
  /// When the system got its first datagram, by a clock of the system's; zero where it does not say. Good for
  /// differences.
  std::chrono::nanoseconds arrived{0};
};

/// would_block: until the socket is writable; no_memory: a queue of the system is full, which nothing tells the end of
enum class SendState { sent, would_block, no_memory, too_large, failed };
struct SendResult {
  SendState state = SendState::sent;
  std::size_t datagrams = 0;  ///< taken by the kernel, from the first on; all of them for SendState::sent
  int errno_value = 0;        ///< for SendState::failed
};

/// A non-blocking UDP socket that moves trains. What the device or the kernel refuses is turned off for good, with one
/// line in the log, and done one datagram at a time from then on: a train is never lost to that.
/// Threads: unsynchronised.
class DatagramSocket {
 public:
  struct Options {
    bool offload = true;      ///< false: neither UDP_SEGMENT nor UDP_GRO (tests, bench)
    bool tell_local = false;  ///< fill ReceivedTrain::to (IP_PKTINFO)
    /// Wished for; zero: the system's choice. Where the system allows a socket less, several share the port.
    std::size_t receive_buffer_bytes = 0;
    std::size_t send_buffer_bytes = 0;
    std::size_t datagram_bytes = 1500;  ///< of large ones, as expected
    bool keep_path_errors = false;      ///< for take_path_errors()
  };

  /// Takes a bound or unbound socket.  errors: Errc::cannot_bind
  [[nodiscard]] static Result<DatagramSocket> make(UdpSocket socket, const Options& options);
  /// One more on the port of `first`, which has others that steer() tells of. Until then the system gives any of the
  /// port's datagrams to any of them.  errors: Errc::cannot_bind, Errc::out_of_resources
  [[nodiscard]] static Result<DatagramSocket> make_beside(const DatagramSocket& first, const Options& options);
  DatagramSocket(DatagramSocket&&) noexcept;
  DatagramSocket& operator=(DatagramSocket&&) noexcept;
  ~DatagramSocket();

  /// Never blocks. SendState::too_large: the first datagram not taken is larger than the path's known MTU.
  /// Pending ICMP errors of other datagrams never count as a failure of this one.
  [[nodiscard]] SendResult send(const DatagramTrain& train);
  /// Appends what is there, at most `most` trains (or what one system call gives), and gives how many; never blocks.
  /// Datagrams that are empty, or larger than a chunk, are dropped.
  std::size_t receive(std::vector<ReceivedTrain>& into, std::size_t most, core::ChunkPool& chunks);

  /// Of the first on its port, beside which others were made: the first `open_ports` of `ports` get the datagrams whose
  /// destination id, modulo `ports`, is their number. See PortFilter.  errors: Errc::cannot_bind
  [[nodiscard]] Status steer(std::uint32_t ports, std::uint32_t open_ports);

  [[nodiscard]] std::vector<PathError> take_path_errors(std::size_t most);
  /// Datagrams the kernel dropped since the socket was made because its receive buffer was full (SO_RXQ_OVFL); a train
  /// that reaches the buffer as one counts as one. Known from the last one received.
  [[nodiscard]] std::uint64_t receive_drops() const;
  /// SO_RCVBUF of all sockets together, as the kernel counts it.
  [[nodiscard]] std::size_t receive_buffer_bytes() const;
  /// Readable where there is something to receive; not for writing, which is socket()'s.
  [[nodiscard]] int readable_descriptor() const;
  /// Most datagrams that one system call takes, with offload or without. A longer train is sent too, by more calls.
  [[nodiscard]] std::size_t max_train_datagrams() const;
  /// True: set DF and let oversize datagrams through to the device (IP_PMTUDISC_PROBE), so that the path is probed.
  /// False: the system's own discovery, fragments where it must.
  void probe_path_mtu(bool on);
  [[nodiscard]] const UdpSocket& socket() const;
  [[nodiscard]] UdpSocket& socket();

 private:
  struct State;
  explicit DatagramSocket(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace udtcat::net
