// SPDX-License-Identifier: Apache-2.0
// recvmmsg of messages that may each be a train (UDP_GRO), with what the kernel tells beside: where to, how many it
// dropped.
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "lib/net/system_error.hpp"
#include "lib/net/train.hpp"

namespace udtcat::net {

namespace {

constexpr std::size_t kMaxTrains = 16;              // guess: a MiB a call, and what a call costs is small by then
constexpr std::size_t kReceivedControlBytes = 256;  // guess: four times what we ask the socket for

bool turn_on(const UdpSocket& socket, int level, int option) {
  const int on = 1;
  return ::setsockopt(socket.descriptor(), level, option, &on, sizeof on) == 0;
}

bool tell_local(const UdpSocket& socket) {
  return socket.family() == AddressFamily::ipv6 ? turn_on(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO)
                                                : turn_on(socket, IPPROTO_IP, IP_PKTINFO);
}

template <typename Address>
std::optional<Endpoint> endpoint_of(const Address& address) {
  // SAFETY: a sockaddr_in, a sockaddr_in6 or a sockaddr_storage, made to be read as any sockaddr.
  auto endpoint = Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (!endpoint) return std::nullopt;
  return *endpoint;
}

std::optional<Endpoint> local_of(const in_pktinfo& reported) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr = reported.ipi_spec_dst;  // not ipi_addr: that may be a broadcast, from which no answer can be sent
  return endpoint_of(address);
}

std::optional<Endpoint> local_of(const in6_pktinfo& reported) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = reported.ipi6_addr;
  if (IN6_IS_ADDR_LINKLOCAL(&reported.ipi6_addr)) address.sin6_scope_id = reported.ipi6_ifindex;
  return endpoint_of(address);
}

}  // namespace

Status prepare_to_receive(UdpSocket& socket, const DatagramSocket::Options& options) {
  if (options.keep_path_errors) UDTCAT_CHECK(socket.keep_path_errors());
  if (options.tell_local && !tell_local(socket))
    return system_error(Errc::cannot_bind, "ask where datagrams were sent to", errno);
  if (!turn_on(socket, SOL_SOCKET, SO_RXQ_OVFL))
    core::log().info("count the datagrams that the system drops: {}: they stay uncounted", core::errno_text(errno));
  if (!turn_on(socket, SOL_SOCKET, SO_TIMESTAMPNS))
    core::log().info("ask when datagrams arrived: {}: it stays unknown", core::errno_text(errno));
  if (options.offload && !turn_on(socket, IPPROTO_UDP, UDP_GRO))
    core::log().info("receive trains of datagrams: {}: they come one by one", core::errno_text(errno));
  return {};
}

struct TrainReceiver::State {
  struct Slot {
    core::ChunkRef chunk;
    iovec piece{};
    sockaddr_storage from{};
    alignas(cmsghdr) std::array<std::byte, kReceivedControlBytes> control{};
  };
  std::array<Slot, kMaxTrains> slots;
  std::array<mmsghdr, kMaxTrains> messages{};

  /// Makes room for `most` trains, as far as there is memory; gives for how many.
  std::size_t load(std::size_t most, core::ChunkPool& chunks) {
    std::size_t loaded = 0;
    for (; loaded < most; ++loaded) {
      Slot& slot = slots[loaded];
      if (slot.chunk.empty()) slot.chunk = chunks.acquire();
      if (slot.chunk.empty()) break;
      slot.piece = {slot.chunk.bytes().data(), slot.chunk.bytes().size()};
      msghdr& message = messages[loaded].msg_hdr;
      message = {};
      message.msg_name = &slot.from;
      message.msg_namelen = sizeof slot.from;
      message.msg_iov = &slot.piece;
      message.msg_iovlen = 1;
      message.msg_control = slot.control.data();
      message.msg_controllen = slot.control.size();
    }
    return loaded;
  }

  void read_beside(const cmsghdr& entry, ReceivedTrain& train, DropCounter& drops) {
    const auto is = [&](int level, int type) { return entry.cmsg_level == level && entry.cmsg_type == type; };
    if (is(IPPROTO_UDP, UDP_GRO)) {
      const int segment_bytes = ancillary_value<int>(entry);
      if (segment_bytes > 0) train.segment_bytes = std::min(train.total_bytes, static_cast<std::size_t>(segment_bytes));
    } else if (is(SOL_SOCKET, SO_RXQ_OVFL)) {
      drops.update(ancillary_value<std::uint32_t>(entry));
    } else if (is(SOL_SOCKET, SCM_TIMESTAMPNS)) {
      const auto when = ancillary_value<timespec>(entry);
      train.arrived = std::chrono::seconds(when.tv_sec) + std::chrono::nanoseconds(when.tv_nsec);
    } else if (is(IPPROTO_IP, IP_PKTINFO)) {
      train.to = local_of(ancillary_value<in_pktinfo>(entry));
    } else if (is(IPPROTO_IPV6, IPV6_PKTINFO)) {
      train.to = local_of(ancillary_value<in6_pktinfo>(entry));
    }
  }

  /// Appends what the message holds, unless it holds nothing or too little of it.
  bool take(std::size_t index, std::vector<ReceivedTrain>& into, DropCounter& drops) {
    msghdr& message = messages[index].msg_hdr;
    ReceivedTrain train;
    train.total_bytes = train.segment_bytes = messages[index].msg_len;
    for_each_ancillary(message, [&](const cmsghdr& entry) { read_beside(entry, train, drops); });
    const auto from = endpoint_of(slots[index].from);
    // With truncated ancillary data the segment size is not known.
    const bool whole = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    if (!whole || !from || train.total_bytes == 0) return false;
    train.from = *from;
    train.chunk = std::move(slots[index].chunk);
    into.push_back(std::move(train));
    return true;
  }

  std::size_t take_all(std::size_t received, std::vector<ReceivedTrain>& into, DropCounter& drops) {
    std::size_t taken = 0;
    for (std::size_t i = 0; i < received; ++i) taken += take(i, into, drops) ? 1U : 0U;
    return taken;
  }

  void give_chunks_back() {
    for (Slot& slot : slots) slot.chunk = {};
  }
};

TrainReceiver::TrainReceiver() : state_(std::make_unique<State>()) {}

TrainReceiver::~TrainReceiver() = default;

std::size_t TrainReceiver::receive(const UdpSocket& socket, std::vector<ReceivedTrain>& into, std::size_t most,
                                   core::ChunkPool& chunks, DropCounter& drops) {
  std::size_t taken = 0;
  // Received again where all datagrams were dropped, so that 0 means an empty queue; bounded: anybody can send those.
  for (int attempt = 0; attempt < kCallAttempts && taken == 0; ++attempt) {
    const auto loaded = static_cast<unsigned>(state_->load(std::min(most, kMaxTrains), chunks));
    if (loaded == 0) break;
    const int received = retry_pending_errors(
        [&] { return ::recvmmsg(socket.descriptor(), state_->messages.data(), loaded, MSG_DONTWAIT, nullptr); });
    if (received <= 0) break;
    taken = state_->take_all(static_cast<std::size_t>(received), into, drops);
  }
  state_->give_chunks_back();
  return taken;
}

}  // namespace udtcat::net
