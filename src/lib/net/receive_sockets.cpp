// SPDX-License-Identifier: Apache-2.0
// Several sockets on one port (SO_REUSEPORT), among which PortFilter steers what arrives.
#include "lib/net/receive_sockets.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include <udtcat/units.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/net/port_filter.hpp"
#include "lib/net/system_error.hpp"

namespace udtcat::net {

namespace {

constexpr std::size_t kMaxSockets = 32;        // measured: they hold 12 MiB of full trains where each may hold 380 KiB
constexpr std::size_t kRunBytes = 192 * kKiB;  // guess: three full trains, half of what a user's socket holds
constexpr std::size_t kTrainsAhead = 2;  // guess: of each socket, whose second train says that there may be a third

Status watch(int epoll, const UdpSocket& socket, std::size_t index) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = index;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, socket.descriptor(), &event) == 0) return {};
  return system_error(Errc::cannot_bind, "watch a socket of a udp port", errno);
}

std::size_t receive_buffer_bytes(const UdpSocket& socket) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  const int known = ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, &length);
  return known == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

/// Whether the descriptor is in the lower half of the limit: the upper half is left to the program.
bool is_among_the_first_half(int descriptor) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(descriptor) < limit.rlim_cur / 2;
}

}  // namespace

struct ReceiveSockets::Source {
  explicit Source(UdpSocket& bound) : socket(bound) {}
  explicit Source(UdpSocket&& owned) : own(std::move(owned)), socket(*own) {}

  std::optional<UdpSocket> own;  // none: the bound socket
  UdpSocket& socket;
  DropCounter drops;
  std::vector<ReceivedTrain> ahead;  // read, and not yet given
  std::size_t given = 0;             // of ahead
  bool emptied = true;               // it had nothing more when it was read
  bool has_errors = false;           // of ICMP

  [[nodiscard]] bool has_train() const { return given < ahead.size(); }
  [[nodiscard]] ReceivedTrain& front() { return ahead[given]; }
};

ReceiveSockets::ReceiveSockets(UdpSocket& bound) { sources_.push_back(std::make_unique<Source>(bound)); }

ReceiveSockets::~ReceiveSockets() {
  if (readable_ >= 0) ::close(readable_);
}

Result<std::unique_ptr<ReceiveSockets>> ReceiveSockets::make(UdpSocket& bound, const DatagramSocket::Options& options) {
  UDTCAT_CHECK(prepare_to_receive(bound, options));
  std::unique_ptr<ReceiveSockets> made(new ReceiveSockets(bound));
  // The kernel gives twice what it is asked for, if it may.
  const std::size_t wanted = 2 * options.receive_buffer_bytes;
  const std::size_t given = receive_buffer_bytes(bound);
  const std::size_t sockets = given == 0 ? 1 : std::min(kMaxSockets, (wanted + given - 1) / given);
  if (sockets <= 1) return made;
  if (const auto shared = made->share(options, sockets); !shared) core::log().info("{}", shared.error().message());
  return made;
}

Result<std::unique_ptr<ReceiveSockets>> ReceiveSockets::make_beside(const ReceiveSockets& first, UdpSocket& unbound,
                                                                    const DatagramSocket::Options& options) {
  UDTCAT_TRY(const Endpoint local, first.sources_.front()->socket.local_endpoint());
  for (const auto& source : first.sources_) UDTCAT_CHECK(share_port(source->socket));
  UDTCAT_CHECK(share_port(unbound));
  UDTCAT_CHECK(prepare_to_receive(unbound, options));
  UDTCAT_CHECK(unbound.bind(local));  // datagrams may come from here on
  std::unique_ptr<ReceiveSockets> made(new ReceiveSockets(unbound));
  if (first.sources_.size() == 1) return made;
  UDTCAT_CHECK(made->watch_bound());
  while (made->sources_.size() < first.sources_.size()) UDTCAT_CHECK(made->open_beside(local, options));
  return made;
}

Status ReceiveSockets::share(const DatagramSocket::Options& options, std::size_t sockets) {
  UdpSocket& bound = sources_.front()->socket;
  UDTCAT_TRY(const Endpoint local, bound.local_endpoint());
  UDTCAT_CHECK(watch_bound());
  UDTCAT_CHECK(share_port(bound));
  for (Status opened; opened && sources_.size() < sockets;) {
    opened = open_beside(local, options);
    if (!opened) core::log().info("{}: {} sockets receive for it", opened.error().message(), sources_.size());
  }
  if (sources_.size() == 1) return {};
  auto steered = steer(1, 1, options.datagram_bytes);
  if (!steered) sources_.resize(1);  // without the filter one socket would get all of a peer's datagrams
  return steered;
}

Status ReceiveSockets::watch_bound() {
  readable_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (readable_ < 0) return system_error(Errc::out_of_resources, "watch the sockets of a port", errno);
  auto watched = watch(readable_, sources_.front()->socket, 0);
  if (!watched) ::close(std::exchange(readable_, -1));
  return watched;
}

Status ReceiveSockets::steer(std::uint32_t ports, std::uint32_t open_ports, std::size_t datagram_bytes) {
  return attach(sources_.front()->socket,
                {.ports = ports,
                 .open_ports = open_ports,
                 .sockets = static_cast<std::uint32_t>(sources_.size()),
                 .run_packets = static_cast<std::uint32_t>(std::max<std::size_t>(kRunBytes / datagram_bytes, 1))});
}

Status ReceiveSockets::open_beside(const Endpoint& local, const DatagramSocket::Options& options) {
  UDTCAT_TRY(UdpSocket socket, UdpSocket::open(local.family()));
  if (!is_among_the_first_half(socket.descriptor()))
    return fail(Errc::out_of_resources, "open sockets beside the bound one", "half of the descriptors are in use");
  UDTCAT_CHECK(share_port(socket));
  socket.request_buffers(options.receive_buffer_bytes, 0);
  UDTCAT_CHECK(prepare_to_receive(socket, options));
  UDTCAT_CHECK(socket.bind(local));  // datagrams may come from here on
  UDTCAT_CHECK(watch(readable_, socket, sources_.size()));
  sources_.push_back(std::make_unique<Source>(std::move(socket)));
  return {};
}

std::size_t ReceiveSockets::receive(std::vector<ReceivedTrain>& into, std::size_t most, core::ChunkPool& chunks) {
  if (sources_.size() == 1)
    return receiver_.receive(sources_.front()->socket, into, most, chunks, sources_.front()->drops);
  find_readable();
  std::size_t taken = 0;
  for (; taken < most; ++taken) {
    Source* const source = earliest(chunks);
    if (source == nullptr) break;
    into.push_back(std::move(source->front()));
    ++source->given;
  }
  return taken;
}

void ReceiveSockets::find_readable() {
  std::array<epoll_event, kMaxSockets> events{};
  const int ready = ::epoll_wait(readable_, events.data(), static_cast<int>(events.size()), 0);
  for (const epoll_event& event : std::span(events).first(static_cast<std::size_t>(std::max(ready, 0)))) {
    Source& source = *sources_[event.data.u64];
    source.emptied = false;
    source.has_errors |= (event.events & EPOLLERR) != 0;
  }
}

std::vector<PathError> ReceiveSockets::take_path_errors(std::size_t most) {
  std::vector<PathError> all;
  for (const auto& source : sources_) {
    if (sources_.size() > 1 && !std::exchange(source->has_errors, false)) continue;
    const auto taken = source->socket.take_path_errors(most);
    all.insert(all.end(), taken.begin(), taken.end());
  }
  return all;
}

/// The source of the train that arrived first, read where nothing of it is ahead; none: there is no train.
ReceiveSockets::Source* ReceiveSockets::earliest(core::ChunkPool& chunks) {
  Source* first = nullptr;
  for (const auto& source : sources_) {
    if (!source->has_train() && !source->emptied) {
      source->ahead.clear();
      source->given = 0;
      const std::size_t got = receiver_.receive(source->socket, source->ahead, kTrainsAhead, chunks, source->drops);
      source->emptied = got < kTrainsAhead;
    }
    if (source->has_train() && (first == nullptr || source->front().arrived < first->front().arrived))
      first = source.get();
  }
  return first;
}

std::uint64_t ReceiveSockets::drops() const {
  std::uint64_t all = 0;
  for (const auto& source : sources_) all += source->drops.total();
  return all;
}

std::size_t ReceiveSockets::buffer_bytes() const {
  std::size_t all = 0;
  for (const auto& source : sources_) all += receive_buffer_bytes(source->socket);
  return all;
}

int ReceiveSockets::descriptor() const { return readable_ >= 0 ? readable_ : sources_.front()->socket.descriptor(); }

}  // namespace udtcat::net
