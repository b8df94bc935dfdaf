// Systems of which we know nothing: one datagram a call, from the address that the system chooses.
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>

#include "lib/core/invariant.hpp"
#include "lib/net/datagram_errno.hpp"
#include "lib/net/train_sender.hpp"

namespace udtcat::net {

struct TrainSender::State {
  std::array<iovec, DatagramTrain::kMaxDatagramPieces> pieces{};
};

TrainSender::TrainSender(const UdpSocket&, bool) : state_(std::make_unique<State>()) {}

TrainSender::~TrainSender() = default;

SendResult TrainSender::send(const UdpSocket& socket, const DatagramTrain& train) {
  std::size_t piece = 0;
  for (std::size_t datagram = 0; datagram < train.datagrams(); ++datagram) {
    const std::size_t count = train.piece_counts[datagram];
    UDTCAT_INVARIANT(count <= state_->pieces.size(), "callers gather a datagram from kMaxDatagramPieces at most");
    for (std::size_t i = 0; i < count; ++i, ++piece)
      // SAFETY: the system only reads what it is to send.
      state_->pieces[i] = {const_cast<std::byte*>(train.pieces[piece].data()), train.pieces[piece].size()};
    msghdr message{};
    message.msg_name = const_cast<sockaddr*>(train.to.data());  // SAFETY: as above
    message.msg_namelen = static_cast<socklen_t>(train.to.size_bytes());
    message.msg_iov = state_->pieces.data();
    message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
    const int sent = past_pending_errors([&] { return ::sendmsg(socket.descriptor(), &message, MSG_DONTWAIT); });
    if (sent < 0) return ended_by(-sent, datagram);
  }
  return {SendState::sent, train.datagrams(), 0};
}

std::size_t TrainSender::max_train_datagrams() const { return 1; }

void TrainSender::probe_path_mtu(const UdpSocket&, bool) {}

}  // namespace udtcat::net
