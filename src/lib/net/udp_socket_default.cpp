// Systems of which we know nothing: no ICMP errors, no times of arrival, no MTU. Callers live with that, see PathError,
// last_arrival() and path_mtu().
#include <sys/socket.h>

#include "lib/net/udp_socket.hpp"

namespace udtcat::net {

void UdpSocket::wish_buffers(std::size_t receive_bytes, std::size_t send_bytes) {
  const int receive = static_cast<int>(receive_bytes);
  const int send = static_cast<int>(send_bytes);
  if (receive != 0) ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive, sizeof receive);
  if (send != 0) ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDBUF, &send, sizeof send);
}

Status UdpSocket::keep_path_errors() { return {}; }

std::vector<PathError> UdpSocket::take_path_errors(std::size_t) { return {}; }

std::optional<std::chrono::system_clock::time_point> UdpSocket::last_arrival() const { return std::nullopt; }

std::optional<std::size_t> UdpSocket::path_mtu() const { return std::nullopt; }

}  // namespace udtcat::net
