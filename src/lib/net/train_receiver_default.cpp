// Systems of which we know nothing: one datagram a call, and nothing told beside it.
#include <sys/socket.h>
#include <sys/uio.h>

#include "lib/net/datagram_errno.hpp"
#include "lib/net/train_receiver.hpp"

namespace udtcat::net {

struct TrainReceiver::State {};

TrainReceiver::TrainReceiver() = default;

TrainReceiver::~TrainReceiver() = default;

Status TrainReceiver::prepare(const UdpSocket&, const DatagramSocket::Options&) { return {}; }

std::size_t TrainReceiver::receive(const UdpSocket& socket, std::vector<ReceivedTrain>& into, std::size_t most,
                                   core::ChunkPool& chunks) {
  std::size_t taken = 0;
  // Not for ever past what is dropped: anybody can send that.
  for (int dropped = 0; taken < most && dropped < kCallAttempts;) {
    ReceivedTrain train;
    train.chunk = chunks.acquire();
    if (train.chunk.empty()) break;
    sockaddr_storage name{};
    iovec piece{train.chunk.bytes().data(), train.chunk.bytes().size()};
    msghdr message{};
    message.msg_name = &name;
    message.msg_namelen = sizeof name;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    const int bytes = past_pending_errors([&] { return ::recvmsg(socket.descriptor(), &message, MSG_DONTWAIT); });
    if (bytes < 0) break;
    // SAFETY: sockaddr_storage is made to be read as any sockaddr.
    const auto from = Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&name), message.msg_namelen);
    if (!from || bytes == 0 || (message.msg_flags & MSG_TRUNC) != 0) {
      ++dropped;
      continue;
    }
    train.total_bytes = train.segment_bytes = static_cast<std::size_t>(bytes);
    train.from = *from;
    train.arrived = std::chrono::steady_clock::now().time_since_epoch();
    into.push_back(std::move(train));
    ++taken;
  }
  return taken;
}

std::uint64_t TrainReceiver::drops() const { return 0; }

}  // namespace udtcat::net
