// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/port_transmitter.hpp"

#include <cerrno>
#include <utility>

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kMaxTrainBytes = 65'000;                  // spec: UDP over IPv4 carries 65507
constexpr Duration kMemoryWait = std::chrono::milliseconds(1);  // guess: a queue of a thousand packets at 10 Gbit/s

}  // namespace

PortTransmitter::PortTransmitter(boost::asio::io_context& io, net::DatagramSocket& socket, Tunnel& tunnel,
                                 std::function<void()> on_unblocked)
    : socket_(socket),
      tunnel_(tunnel),
      on_unblocked_(std::move(on_unblocked)),
      builder_(socket.max_train_datagrams(), kMaxTrainBytes),
      alone_(1, kMaxTrainBytes),
      wait_(io, [this] { send_what_waited(); }) {}

void PortTransmitter::transmit(UdtConnection& connection) {
  while (!blocked()) {
    builder_.clear();
    if (!connection.poll_transmit(clock_now(), builder_)) return;
    if (!send_train(connection)) return;
  }
}

/// returns   whether the train has left; if not, what is left of it waits in builder_
bool PortTransmitter::send_train(UdtConnection& connection) {
  const bool may_fragment = builder_.train().may_fragment;
  if (may_fragment != may_fragment_) socket_.probe_path_mtu(!(may_fragment_ = may_fragment));
  const auto result = send(builder_.train());
  switch (result.state) {
    case net::SendState::sent:
      return true;
    case net::SendState::would_block:
    case net::SendState::no_memory:
      builder_.drop_front(result.datagrams);
      builder_.keep();
      blocked_ = &connection;
      wait(result.state);
      return false;
    case net::SendState::too_large:
      connection.handle_too_large(clock_now(), builder_.train());
      return true;
    case net::SendState::failed:
      // The address that the peer knows us by may be ours no more: the peer follows.
      if (result.errno_value == EINVAL && builder_.train().from) {
        builder_.drop_front(result.datagrams);
        builder_.train().from.reset();
        connection.forget_local_address();
        return send_train(connection);
      }
      return true;  // as if the path had lost it: an interface may come back
  }
  return true;
}

net::SendResult PortTransmitter::send_alone(std::vector<std::byte> packet, const Endpoint& to,
                                            const std::optional<Endpoint>& from) {
  alone_.set_control(std::move(packet));
  alone_.train().to = to;
  alone_.train().from = from;
  return send(alone_.train());
}

net::SendResult PortTransmitter::send(const net::DatagramTrain& train) {
  return tunnel_.is_at(train.to) ? tunnel_.send(train) : socket_.send(train);
}

void PortTransmitter::wait(net::SendState why) {
  if (wait_.is_watching()) return;
  if (why == net::SendState::no_memory) return wait_.after(kMemoryWait);
  auto duplicate = socket_.socket().duplicate();
  if (!duplicate) return wait_.after(kMemoryWait);
  watched_ = std::move(*duplicate);
  wait_.until(SocketWait::Readiness::wait_write, watched_->descriptor(), kMemoryWait);
}

void PortTransmitter::send_what_waited() {
  wait_.stop_watching();
  watched_.reset();
  UdtConnection* const connection = std::exchange(blocked_, nullptr);  // none: it is gone
  if (connection == nullptr || send_train(*connection)) on_unblocked_();
}

void PortTransmitter::unblock() {
  blocked_ = nullptr;
  builder_.clear();
}

}  // namespace udtcat::transport::native
