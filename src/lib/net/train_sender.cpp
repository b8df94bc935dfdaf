// SPDX-License-Identifier: Apache-2.0
// sendmmsg of messages that are each a train of their own (UDP_SEGMENT), or one datagram where the kernel takes no
// trains.
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"
#include "lib/core/user_text.hpp"
#include "lib/net/train.hpp"

namespace udtcat::net {

namespace {

constexpr std::size_t kMaxMessageDatagrams = 64;  // spec: UDP_MAX_SEGMENTS of Linux 4.18 to 6.8; later ones take more
constexpr std::size_t kMaxMessages = 64;          // guess: what a call costs beside its messages is small by then
constexpr std::size_t kMaxPieces = 1024;          // spec: UIO_MAXIOV
// A longer train is taken too, and cut in software however able the device is.
constexpr std::size_t kMaxTrainBytes = 65469;  // spec: GSO_LEGACY_MAX_SIZE, less 1, Ethernet 14, VLAN 4, IPv6 40, UDP 8
constexpr std::size_t kAnySegment = std::numeric_limits<std::size_t>::max();
static_assert(kMaxPieces == DatagramTrain::kMaxDatagramPieces);

constexpr std::size_t kSentControlBytes = CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(std::uint16_t));
using SendControl = AncillaryData<kSentControlBytes>;

void append_source(SendControl& control, const Endpoint& from) {
  if (from.family() == AddressFamily::ipv6) {
    sockaddr_in6 address{};
    std::memcpy(&address, from.data(), sizeof address);
    control.append(IPPROTO_IPV6, IPV6_PKTINFO, in6_pktinfo{address.sin6_addr, address.sin6_scope_id});
  } else if (from.family() == AddressFamily::ipv4) {
    sockaddr_in address{};
    std::memcpy(&address, from.data(), sizeof address);
    in_pktinfo source{};
    source.ipi_spec_dst = address.sin_addr;
    control.append(IPPROTO_IP, IP_PKTINFO, source);
  }
}

/// Whether the kernel knows UDP_SEGMENT: older ones ignore it and send a train as one datagram.
bool knows_trains(const UdpSocket& socket) {
  int segment_bytes = 0;
  socklen_t length = sizeof segment_bytes;
  return ::getsockopt(socket.descriptor(), IPPROTO_UDP, UDP_SEGMENT, &segment_bytes, &length) == 0;
}

/// Whether the datagrams of a train that was refused so may be accepted one by one.
bool refuses_trains(int errno_value) {
  return errno_value == EIO || errno_value == EINVAL || errno_value == EMSGSIZE || errno_value == EOPNOTSUPP;
}

/// A datagram of a train, and its first piece.
struct Position {
  std::size_t datagram = 0;
  std::size_t piece = 0;
};

/// Where the message ends that begins at `from`. Nothing fits: `from`.
Position message_end(const DatagramTrain& train, Position from, std::size_t most_datagrams, std::size_t most_pieces) {
  const std::size_t last = std::min(train.datagrams(), from.datagram + most_datagrams);
  Position end = from;
  while (end.datagram < last) {
    const Position next{end.datagram + 1, end.piece + train.piece_counts[end.datagram]};
    const std::size_t end_byte = std::min(next.datagram * train.segment_bytes, train.total_bytes);
    const bool too_long = end_byte - from.datagram * train.segment_bytes > kMaxTrainBytes;
    // One datagram that is too long is for the kernel to refuse.
    if (next.piece - from.piece > most_pieces || (too_long && end.datagram != from.datagram)) break;
    end = next;
  }
  return end;
}

}  // namespace

struct TrainSender::State {
  /// Trains are left to the kernel where their datagrams are smaller than this.
  std::size_t trains_below_bytes = 0;
  bool probing = false;
  std::array<iovec, kMaxPieces> pieces{};
  std::array<mmsghdr, kMaxMessages> messages{};
  std::array<Position, kMaxMessages> ends{};  ///< of the messages
  SendControl control;
  std::size_t source_bytes = 0;  ///< of control: what a message of one datagram needs

  void load_control(const DatagramTrain& train) {
    control.clear();
    if (train.from) append_source(control, *train.from);
    source_bytes = control.used_bytes();
    control.append(IPPROTO_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(train.segment_bytes));
  }

  void load_message(std::size_t index, const DatagramTrain& train, Position from, iovec* first_piece) {
    for (std::size_t i = from.piece; i < ends[index].piece; ++i)
      // SAFETY: the kernel only reads what it is to send.
      first_piece[i - from.piece] = {const_cast<std::byte*>(train.pieces[i].data()), train.pieces[i].size()};
    const std::size_t control_bytes = ends[index].datagram - from.datagram > 1 ? control.used_bytes() : source_bytes;
    msghdr& message = messages[index].msg_hdr;
    message.msg_name = const_cast<sockaddr*>(train.to.data());  // SAFETY: as above
    message.msg_namelen = static_cast<socklen_t>(train.to.size_bytes());
    message.msg_iov = first_piece;
    message.msg_iovlen = ends[index].piece - from.piece;
    message.msg_control = control_bytes == 0 ? nullptr : control.data();
    message.msg_controllen = control_bytes;
  }

  /// Makes messages of what comes from `at` on, as far as there is room; gives how many.
  std::size_t load(const DatagramTrain& train, Position at, std::size_t most_datagrams) {
    std::size_t loaded = 0;
    for (std::size_t used_pieces = 0; loaded < kMaxMessages && at.datagram < train.datagrams(); ++loaded) {
      ends[loaded] = message_end(train, at, most_datagrams, kMaxPieces - used_pieces);
      if (ends[loaded].datagram == at.datagram) break;
      load_message(loaded, train, at, pieces.data() + used_pieces);
      used_pieces += ends[loaded].piece - at.piece;
      at = ends[loaded];
    }
    UDTCAT_INVARIANT(loaded > 0, "callers gather a datagram from kMaxDatagramPieces at most");
    return loaded;
  }

  /// The datagrams were accepted one by one after their train was refused with `errno_value`.
  void forget_trains(int errno_value, std::size_t segment_bytes) {
    // A datagram too large for one path says nothing of the kernel. EINVAL is how older kernels say that, and
    // without probing an oversize datagram goes, in fragments: smaller ones deserve another chance.
    if (errno_value == EMSGSIZE) return;
    trains_below_bytes = errno_value == EINVAL && !probing ? segment_bytes : 0;
    core::log().info("send trains of {}-byte datagrams: {}: from now on they go one by one", segment_bytes,
                     core::errno_text(errno_value));
  }
};

TrainSender::TrainSender(const UdpSocket& socket, bool offload) : state_(std::make_unique<State>()) {
  if (offload && knows_trains(socket)) state_->trains_below_bytes = kAnySegment;
}

TrainSender::~TrainSender() = default;

SendResult TrainSender::send(const UdpSocket& socket, const DatagramTrain& train) {
  state_->load_control(train);
  const bool as_trains = !train.singly && train.segment_bytes < state_->trains_below_bytes;
  std::size_t most_datagrams = as_trains ? kMaxMessageDatagrams : 1;
  int refusal = 0;  // what the kernel said to the train whose datagrams we try singly
  for (Position at; at.datagram < train.datagrams();) {
    const auto loaded = static_cast<unsigned>(state_->load(train, at, most_datagrams));
    const int sent = retry_pending_errors(
        [&] { return ::sendmmsg(socket.descriptor(), state_->messages.data(), loaded, MSG_DONTWAIT | MSG_NOSIGNAL); });
    if (sent > 0) {
      at = state_->ends[static_cast<std::size_t>(sent) - 1];
      if (refusal != 0) state_->forget_trains(std::exchange(refusal, 0), train.segment_bytes);
    } else if (state_->ends[0].datagram - at.datagram > 1 && refuses_trains(-sent)) {
      refusal = -sent;
      most_datagrams = 1;
    } else {
      return ended_by(-sent, at.datagram);
    }
  }
  return {SendState::sent, train.datagrams(), 0};
}

// Without trains as many go in one call, each as a message of its own.
std::size_t TrainSender::max_train_datagrams() const { return kMaxMessageDatagrams; }

void TrainSender::probe_path_mtu(const UdpSocket& socket, bool on) {
  state_->probing = on;
  const bool ipv6 = socket.family() == AddressFamily::ipv6;
  const int ipv6_way = on ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_WANT;
  const int ipv4_way = on ? IP_PMTUDISC_PROBE : IP_PMTUDISC_WANT;
  const int level = ipv6 ? IPPROTO_IPV6 : IPPROTO_IP;
  const int option = ipv6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER;
  // Every kernel that has the option takes these values.
  std::ignore = ::setsockopt(socket.descriptor(), level, option, ipv6 ? &ipv6_way : &ipv4_way, sizeof(int));
}

}  // namespace udtcat::net
