// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/tcp_info.hpp"

#include <algorithm>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace udtcat::transport::tcp {

namespace {

/// As <linux/tcp.h> has it, which cannot be included beside <netinet/tcp.h>. An older system fills less.
struct SystemTcpInfo {
  std::uint8_t state, ca_state, retransmits, probes, backoff, options, wscales, flags;
  std::uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
  std::uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
  std::uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
  std::uint32_t rcv_rtt, rcv_space, total_retrans;
  std::uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
  std::uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
  std::uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
  std::uint32_t delivered, delivered_ce;
  std::uint64_t bytes_sent, bytes_retrans;
  std::uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd;
};

constexpr std::uint8_t kRateIsOfTheSource = 1;       // spec: linux/tcp.h, tcpi_delivery_rate_app_limited
constexpr std::uint32_t kNotMeasured = 0xffff'ffff;  // spec: net/ipv4/tcp.c: of a least round trip

}  // namespace

std::optional<TcpInfo> tcp_info_of(int descriptor) {
  SystemTcpInfo kernel{};
  socklen_t length = sizeof kernel;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &kernel, &length) != 0) return std::nullopt;
  const std::uint32_t least = kernel.min_rtt == kNotMeasured ? 0 : kernel.min_rtt;
  return TcpInfo{
      .established = kernel.state == TCP_ESTABLISHED,
      .gone = kernel.state == TCP_CLOSE,
      .rtt = std::chrono::microseconds(kernel.rtt),
      .least_rtt = std::chrono::microseconds(least),
      .silence = std::chrono::milliseconds(std::min(kernel.last_data_recv, kernel.last_ack_recv)),
      .unanswered = std::max<unsigned>(kernel.retransmits, kernel.probes),
      .packets_sent = kernel.data_segs_out,
      .packets_resent = kernel.total_retrans,
      .packets_late = kernel.rcv_ooopack,
      .packets_unacknowledged = kernel.unacked,
      .bytes_acknowledged = kernel.bytes_acked,
      .bytes_arrived = kernel.bytes_received,
      .bytes_per_second = kernel.delivery_rate,
      .limited_by_source = (kernel.flags & kRateIsOfTheSource) != 0,
      .limited_by_peer = std::chrono::microseconds(kernel.rwnd_limited),
  };
}

std::uint64_t unacknowledged_bytes(int descriptor) {
  int bytes = 0;
  return ::ioctl(descriptor, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace udtcat::transport::tcp
