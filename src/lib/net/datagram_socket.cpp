// SPDX-License-Identifier: Apache-2.0
#include "lib/net/datagram_socket.hpp"

#include <utility>

#include "lib/core/try.hpp"
#include "lib/net/receive_sockets.hpp"
#include "lib/net/train.hpp"

namespace udtcat::net {

struct DatagramSocket::State {
  State(UdpSocket given, const Options& options)
      : socket(std::move(given)), datagram_bytes(options.datagram_bytes), sender(socket, options.offload) {}

  UdpSocket socket;
  std::size_t datagram_bytes;
  TrainSender sender;
  std::unique_ptr<ReceiveSockets> receiver;
};

Result<DatagramSocket> DatagramSocket::make(UdpSocket socket, const Options& options) {
  auto state = std::make_unique<State>(std::move(socket), options);
  state->socket.request_buffers(options.receive_buffer_bytes, options.send_buffer_bytes);
  UDTCAT_TRY(state->receiver, ReceiveSockets::make(state->socket, options));
  return DatagramSocket(std::move(state));
}

Result<DatagramSocket> DatagramSocket::make_beside(const DatagramSocket& first, const Options& options) {
  UDTCAT_TRY(UdpSocket socket, UdpSocket::open(first.socket().family()));
  auto state = std::make_unique<State>(std::move(socket), options);
  state->socket.request_buffers(options.receive_buffer_bytes, options.send_buffer_bytes);
  UDTCAT_TRY(state->receiver, ReceiveSockets::make_beside(*first.state_->receiver, state->socket, options));
  return DatagramSocket(std::move(state));
}

Status DatagramSocket::steer(std::uint32_t ports, std::uint32_t open_ports) {
  return state_->receiver->steer(ports, open_ports, state_->datagram_bytes);
}

DatagramSocket::DatagramSocket(std::unique_ptr<State> state) : state_(std::move(state)) {}
DatagramSocket::DatagramSocket(DatagramSocket&&) noexcept = default;
DatagramSocket& DatagramSocket::operator=(DatagramSocket&&) noexcept = default;
DatagramSocket::~DatagramSocket() = default;

SendResult DatagramSocket::send(const DatagramTrain& train) { return state_->sender.send(state_->socket, train); }

std::size_t DatagramSocket::receive(std::vector<ReceivedTrain>& into, std::size_t most, core::ChunkPool& chunks) {
  return state_->receiver->receive(into, most, chunks);
}

std::vector<PathError> DatagramSocket::take_path_errors(std::size_t most) {
  return state_->receiver->take_path_errors(most);
}

std::uint64_t DatagramSocket::receive_drops() const { return state_->receiver->drops(); }

std::size_t DatagramSocket::receive_buffer_bytes() const { return state_->receiver->buffer_bytes(); }

int DatagramSocket::readable_descriptor() const { return state_->receiver->descriptor(); }

std::size_t DatagramSocket::max_train_datagrams() const { return state_->sender.max_train_datagrams(); }

void DatagramSocket::probe_path_mtu(bool on) { state_->sender.probe_path_mtu(state_->socket, on); }

const UdpSocket& DatagramSocket::socket() const { return state_->socket; }

UdpSocket& DatagramSocket::socket() { return state_->socket; }

}  // namespace udtcat::net
