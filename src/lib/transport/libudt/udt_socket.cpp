// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/udt_socket.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <udt/udt.h>

#include "lib/core/try.hpp"
#include "lib/net/system_error.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::transport::libudt {

namespace {

constexpr std::size_t kReceiveBytes = 24 * kMiB;  // guess: 2.6 Gbit/s at 75 ms, more than libudt reaches there
constexpr std::size_t kSendBytes = 12 * kMiB;     // guess: half of that; what is in here answers no ping
// A listener keeps every packet in a place as large as its own MSS, whatever the peer's. Fewer places than these would
// leave a peer of 1456-byte packets too small a window; more would let one of large packets hold too much memory.
constexpr std::size_t kLeastReceivePackets = 5600;  // guess: 8 MB of Internet packets, 50 MB of the largest
constexpr std::size_t kLeastSendPackets = 4096;     // guess
// measured: loopback, 1 GB, 2026-11-21: 8 MiB lost 7,000 to 10,000 packets, 32 MiB 0 to 800
constexpr std::size_t kUdpReceiveBytes = 32 * kMiB;
constexpr std::size_t kUdpSendBytes = 4 * kMiB;  // guess

template <typename Value>
bool set_option(int id, UDT::SOCKOPT option, Value value) {
  return UDT::setsockopt(id, 0, option, &value, static_cast<int>(sizeof value)) != UDT::ERROR;
}

std::size_t mss_of(AddressFamily family, std::size_t mtu) {
  return family == AddressFamily::ipv6 ? mtu - kIpv6ExtraBytes : mtu;
}

bool set_options(int id, std::size_t mss, BitRate rate) {
  const int limit_ms = static_cast<int>(kBlockingCallLimit.count());
  // The order matters: libudt clips the MSS to the UDP buffers, and the receive buffer to the window. UDT_REUSEADDR
  // would let it run over another socket than the one it is given.
  return set_option(id, UDP_RCVBUF, static_cast<int>(kUdpReceiveBytes)) &&
         set_option(id, UDP_SNDBUF, static_cast<int>(kUdpSendBytes)) &&
         set_option(id, UDT_MSS, static_cast<int>(mss)) &&
         set_option(id, UDT_FC, static_cast<int>(receive_packets(mss))) &&
         set_option(id, UDT_RCVBUF, static_cast<int>(receive_packets(mss) * mss)) &&
         set_option(id, UDT_SNDBUF, static_cast<int>(send_packets(mss) * mss)) &&
         set_option(id, UDT_LINGER, linger{0, 0}) && set_option(id, UDT_REUSEADDR, false) &&
         set_option(id, UDT_RCVSYN, false) && set_option(id, UDT_RCVTIMEO, limit_ms) &&
         set_option(id, UDT_SNDTIMEO, limit_ms) &&
         (rate.unlimited() || set_option(id, UDT_MAXBW, static_cast<std::int64_t>(rate.bytes_per_second())));
}

/// Half to three quarters of what the process may have, each in turn.
int high_number() {
  constexpr rlim_t kMost = 4096;  // guess: the kernel's table is as large as its highest number
  static std::atomic<unsigned> turn{0};
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const auto numbers = static_cast<unsigned>(std::min(limit.rlim_cur, kMost));
  return static_cast<int>(numbers / 2 + turn.fetch_add(1) % std::max(numbers / 4, 1U));
}

}  // namespace

std::size_t receive_packets(std::size_t mss) { return std::max(kReceiveBytes / mss, kLeastReceivePackets); }

std::size_t send_packets(std::size_t mss) { return std::max(kSendBytes / mss, kLeastSendPackets); }

std::size_t connecting_mss(AddressFamily family, std::optional<std::size_t> path_mtu) {
  const std::size_t mtu = path_mtu.value_or(kInternetMtu);
  return mss_of(family, mtu >= kLoopbackMtu ? kLargestMtu : std::clamp(mtu, kSmallestMtu, kInternetMtu));
}

std::size_t listening_mss(AddressFamily family, std::optional<std::size_t> mtu) {
  return mss_of(family, std::clamp(mtu.value_or(kInternetMtu), kInternetMtu, kLargestMtu));
}

Result<net::UdpSocket> duplicate_high(const net::UdpSocket& socket) {
  auto high = socket.duplicate(high_number());
  return high ? std::move(high) : socket.duplicate();
}

Status replace_descriptor(int descriptor, const net::UdpSocket& socket) {
  timeval timeout{};
  socklen_t length = sizeof timeout;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, &length) != 0 ||
      ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
      ::dup2(socket.descriptor(), descriptor) < 0 || ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
    return net::system_error(Errc::out_of_resources, "put a udp socket under UDT", errno);
  return {};
}

Result<UdtSocket> UdtSocket::open(AddressFamily family, std::size_t mss, BitRate rate) {
  UdtSocket opened(UDT::socket(family == AddressFamily::ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0));
  if (opened.id_ == UDT::INVALID_SOCK || !set_options(opened.id_, mss, rate))
    return tl::unexpected(last_error(Errc::out_of_resources, "open a UDT socket"));
  return opened;
}

UdtSocket::UdtSocket(UdtSocket&& other) noexcept : id_(std::exchange(other.id_, -1)) {}

UdtSocket& UdtSocket::operator=(UdtSocket&& other) noexcept {
  std::swap(id_, other.id_);
  return *this;
}

UdtSocket::~UdtSocket() { close(); }

void UdtSocket::close() {
  if (id_ != -1) UDT::close(id_);
}

Status UdtSocket::run_over(net::UdpSocket& socket, const net::UdpSocket& alias) {
  UDTCAT_TRY(net::UdpSocket handed, duplicate_high(alias));
  const int descriptor = handed.release();  // libudt's from here, whether or not it succeeds
  if (UDT::bind2(id_, descriptor) == UDT::ERROR)
    return tl::unexpected(last_error(Errc::cannot_bind, "run UDT over a udp socket"));
  if (&socket != &alias) UDTCAT_CHECK(replace_descriptor(descriptor, socket));
  // libudt has just set the sizes within the system's ceiling; where we may go past it, now is the time.
  socket.request_buffers(kUdpReceiveBytes, kUdpSendBytes);
  return {};
}

Status UdtSocket::make_blocking() {
  if (set_option(id_, UDT_RCVSYN, true) || UDT::getlasterror_code() == UDT::ERRORINFO::ECONNLOST) return {};
  return tl::unexpected(last_error(Errc::connection_broken, "use a UDT socket"));
}

UdtSocket::EndState UdtSocket::end_state() const {
  char nothing = 0;
  // Reads nothing, but libudt looks first whether it could.
  if (UDT::recv(id_, &nothing, 0, 0) != UDT::ERROR) return EndState::holds_bytes;
  return UDT::getlasterror_code() == UDT::ERRORINFO::ECONNLOST ? EndState::over : EndState::never_connected;
}

Error last_error(Errc otherwise, std::string what) {
  UDT::ERRORINFO& said = UDT::getlasterror();
  std::string cause = said.getErrorMessage();
  while (!cause.empty() && (cause.back() == '.' || cause.back() == '\n')) cause.pop_back();
  // Not a switch: libudt's codes are constants of its own object file, not of the compiler.
  const int code = said.getErrorCode();
  if (code == CUDTException::ECONNLOST || code == CUDTException::ENOCONN || code == CUDTException::EINVSOCK)
    return Error{Errc::connection_broken, std::move(what), std::move(cause)};
  if (code == CUDTException::ERESOURCE || code == CUDTException::ETHREAD || code == CUDTException::ENOBUF)
    return Error{Errc::out_of_resources, std::move(what), std::move(cause)};
  return Error{otherwise, std::move(what), std::move(cause)};
}

bool last_error_is_try_again() {
  const int code = UDT::getlasterror_code();
  return code == CUDTException::ETIMEOUT || code == CUDTException::EASYNCRCV || code == CUDTException::EASYNCSND;
}

}  // namespace udtcat::transport::libudt
