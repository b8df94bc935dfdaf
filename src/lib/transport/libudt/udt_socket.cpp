// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/udt_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

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
// measured: loopback, 1 GB, 2026-11-21: 8 MiB lost 7,000 to 10,000 packets, 32 MiB 0 to 800
constexpr std::size_t kUdpReceiveBytes = 32 * kMiB;
constexpr std::size_t kUdpSendBytes = 4 * kMiB;  // guess

template <typename Value>
bool set_option(int id, UDT::SOCKOPT option, Value value) {
  return UDT::setsockopt(id, 0, option, &value, static_cast<int>(sizeof value)) != UDT::ERROR;
}

bool set_options(int id, std::size_t mss, BitRate rate) {
  const int limit_ms = static_cast<int>(kBlockingCallLimit.count());
  // The order matters: libudt clips the MSS to the UDP buffers, and the receive buffer to the window. UDT_REUSEADDR
  // would let it run over another socket than the one it is given.
  return set_option(id, UDP_RCVBUF, static_cast<int>(kUdpReceiveBytes)) &&
         set_option(id, UDP_SNDBUF, static_cast<int>(kUdpSendBytes)) &&
         set_option(id, UDT_MSS, static_cast<int>(mss)) &&
         set_option(id, UDT_FC, static_cast<int>(kReceiveBytes / mss)) &&
         set_option(id, UDT_RCVBUF, static_cast<int>(kReceiveBytes)) &&
         set_option(id, UDT_SNDBUF, static_cast<int>(kSendBytes)) && set_option(id, UDT_LINGER, linger{0, 0}) &&
         set_option(id, UDT_REUSEADDR, false) && set_option(id, UDT_RCVSYN, false) &&
         set_option(id, UDT_RCVTIMEO, limit_ms) && set_option(id, UDT_SNDTIMEO, limit_ms) &&
         (rate.unlimited() || set_option(id, UDT_MAXBW, static_cast<std::int64_t>(rate.bytes_per_second())));
}

/// A descriptor that no other file will get. When libudt takes a UDP socket down, it first closes the descriptor and
/// only then stops the thread that reads from it: a file that another thread opens in between, and that gets the
/// number, would lose bytes. New files get the lowest free number; these are far up, each used once in a long while.
Result<net::UdpSocket> duplicate_high(const net::UdpSocket& socket) {
  constexpr unsigned kLowest = 512, kTurns = 256;  // spec: POSIX, a process has 1024 as a rule
  static std::atomic<unsigned> turn{0};
  auto high = socket.duplicate(static_cast<int>(kLowest + turn.fetch_add(1) % kTurns));
  return high ? std::move(high) : socket.duplicate();
}

/// Makes `descriptor` mean `socket` instead of what it means now, with that one's receive timeout, on which libudt's
/// reading thread depends.  errors: Errc::out_of_resources
Status replace_descriptor(int descriptor, const net::UdpSocket& socket) {
  timeval timeout{};
  socklen_t length = sizeof timeout;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, &length) != 0 ||
      ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
      ::dup2(socket.descriptor(), descriptor) < 0 || ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
    return net::system_error(Errc::out_of_resources, "put a udp socket under UDT", errno);
  return {};
}

}  // namespace

std::size_t packet_bytes(AddressFamily family) {
  return family == AddressFamily::ipv6 ? kInternetMtu - kIpv6ExtraBytes : kInternetMtu;
}

Result<UdtSocket> UdtSocket::open(AddressFamily family, BitRate rate) {
  UdtSocket opened(UDT::socket(family == AddressFamily::ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0));
  if (opened.id_ == UDT::INVALID_SOCK || !set_options(opened.id_, packet_bytes(family), rate))
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
