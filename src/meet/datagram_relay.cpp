// SPDX-License-Identifier: Apache-2.0
#include "meet/datagram_relay.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include "lib/core/try.hpp"
#include "lib/net/bind.hpp"
#include "lib/net/stun.hpp"

namespace udtcat::meet {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kChunkBytes = 64 * kKiB;        // spec: the largest UDP payload, or train
constexpr std::size_t kTrainsATurn = 16;              // guess: a MiB; then the other pairs have their turn
constexpr std::size_t kRelayBufferBytes = 1 * kMiB;   // guess: 8 ms at 1 Gbit/s
constexpr std::chrono::milliseconds kRateBurst{100};  // guess: the round trip of a path across an ocean

}  // namespace

struct DatagramRelay::RelaySocket {
  RelaySocket(boost::asio::io_context& io, net::DatagramSocket made, AddressFamily its)
      : datagrams(std::move(made)), family(its), readable(io) {}
  ~RelaySocket() {
    if (readable.is_open()) readable.release();
  }
  RelaySocket(const RelaySocket&) = delete;
  RelaySocket& operator=(const RelaySocket&) = delete;

  net::DatagramSocket datagrams;
  AddressFamily family;
  boost::asio::posix::stream_descriptor readable;  // borrowed
};

RelayResources::RelayResources(BitRate rate)
    : chunks(kChunkBytes), bucket(rate, kRateBurst, std::chrono::steady_clock::now()) {}

std::shared_ptr<TokenBucket> bucket_of_pair(BitRate rate) {
  return std::make_shared<TokenBucket>(rate, kRateBurst, std::chrono::steady_clock::now());
}

Result<std::unique_ptr<DatagramRelay>> DatagramRelay::open(boost::asio::io_context& io,
                                                           const std::vector<Endpoint>& locals,
                                                           const RelayTokens& tokens,
                                                           std::shared_ptr<TokenBucket> bucket,
                                                           RelayResources& resources) {
  UDTCAT_TRY(RelayBinding binding, RelayBinding::create(tokens));
  UDTCAT_TRY(auto bound, net::bind_on_one_port(locals));
  std::unique_ptr<DatagramRelay> relay(new DatagramRelay(io, std::move(binding), std::move(bucket), resources));
  for (net::BoundSocket& each : bound) {
    const net::DatagramSocket::Options options{.tell_local = each.local.is_wildcard(),
                                               .receive_buffer_bytes = kRelayBufferBytes,
                                               .send_buffer_bytes = kRelayBufferBytes};
    UDTCAT_TRY(auto datagrams, net::DatagramSocket::make(std::move(each.socket), options));
    relay->port_ = each.local.port();
    auto socket = std::make_unique<RelaySocket>(io, std::move(datagrams), each.local.family());
    boost::system::error_code no_room;
    socket->readable.assign(socket->datagrams.readable_descriptor(), no_room);
    if (no_room) return fail(Errc::out_of_resources, "watch udp " + each.local.to_string(), no_room.message());
    relay->wait_readable(*relay->sockets_.emplace_back(std::move(socket)));
  }
  return relay;
}

DatagramRelay::DatagramRelay(boost::asio::io_context& io, RelayBinding binding, std::shared_ptr<TokenBucket> bucket,
                             RelayResources& resources)
    : io_(io),
      resources_(resources),
      binding_(std::move(binding)),
      bucket_(std::move(bucket)),
      last_use_(std::chrono::steady_clock::now()) {}

DatagramRelay::~DatagramRelay() = default;

// ---- Datagrams in -------------------------------------------------------------------------------------------------

void DatagramRelay::wait_readable(RelaySocket& socket) {
  socket.readable.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                             lifetime_.guard([this, &socket](const boost::system::error_code& cancelled) {
                               if (!cancelled) on_readable(socket);
                             }));
}

void DatagramRelay::on_readable(RelaySocket& socket) {
  auto& received = resources_.received;
  received.clear();
  const std::size_t trains = socket.datagrams.receive(received, kTrainsATurn, resources_.chunks);
  const auto now = std::chrono::steady_clock::now();
  bucket_->fill(now);
  resources_.bucket.fill(now);
  for (const net::ReceivedTrain& train : received) take(train);
  flush();
  received.clear();
  if (trains < kTrainsATurn) return wait_readable(socket);
  boost::asio::post(io_, lifetime_.guard([this, &socket] { on_readable(socket); }));
}

void DatagramRelay::take(const net::ReceivedTrain& train) {
  auto rest = std::span<const std::byte>(train.chunk.bytes()).first(train.total_bytes);
  while (!rest.empty()) {
    const auto datagram = rest.first(std::min(rest.size(), std::max<std::size_t>(train.segment_bytes, 1)));
    rest = rest.subspan(datagram.size());
    if (take_binding(datagram, train)) continue;
    if (const auto from = role_at(train.from))
      relay(*from, datagram);
    else
      ++stray_datagrams_;
  }
}

std::optional<PairRole> DatagramRelay::role_at(const Endpoint& address) const {
  for (const PairRole role : {PairRole::listener, PairRole::connector})
    if (end(role).address == address) return role;
  return std::nullopt;
}

// ---- Binding ------------------------------------------------------------------------------------------------------

/// Whether it was for this host, and not for the other end.
bool DatagramRelay::take_binding(std::span<const std::byte> datagram, const net::ReceivedTrain& train) {
  if (!net::is_stun(datagram)) return false;
  const auto outcome = binding_.handle(datagram, train.from, std::chrono::steady_clock::now());
  if (!outcome) return false;
  flush();  // what came before it goes where it was to go
  if (outcome->role) bind(*outcome->role, train.from, train.to);
  if (!outcome->answer.empty()) answer(outcome->answer, train);
  return true;
}

void DatagramRelay::bind(PairRole role, const Endpoint& address, const std::optional<Endpoint>& local) {
  // One address is one end: the other is no longer there.
  End& other = end(other_than(role));
  if (other.address == address) other.address.reset();
  end(role).address = address;
  end(role).local = local;
}

/// Best effort: an end that does not get it asks again.
void DatagramRelay::answer(const std::vector<std::byte>& message, const net::ReceivedTrain& to) {
  net::DatagramTrain train;
  train.to = to.from;
  train.from = to.to;
  train.segment_bytes = train.total_bytes = message.size();
  train.pieces.emplace_back(message);
  train.piece_counts.push_back(1);
  if (RelaySocket* const socket = socket_for(to.from.family())) std::ignore = socket->datagrams.send(train);
}

// ---- Datagrams out ------------------------------------------------------------------------------------------------

void DatagramRelay::relay(PairRole from, std::span<const std::byte> datagram) {
  RelayCounts& counts = end(from).counts;
  const auto& to = end(other_than(from)).address;
  if (!to) {
    ++counts.undelivered_datagrams;
    return;
  }
  if (!bucket_->has(datagram.size()) || !resources_.bucket.has(datagram.size())) {
    counts.over_rate_bytes += datagram.size();
    return;
  }
  bucket_->take(datagram.size());
  resources_.bucket.take(datagram.size());
  net::DatagramTrain& outgoing = resources_.outgoing;
  // Datagrams of several trains leave as one that the kernel cuts: all are equal but the last, which may be shorter.
  const bool fits = outgoing.datagrams() > 0 && outgoing_from_ == from && datagram.size() <= outgoing.segment_bytes &&
                    outgoing.total_bytes == outgoing.datagrams() * outgoing.segment_bytes &&
                    outgoing.datagrams() < net::DatagramTrain::kMaxDatagramPieces;
  if (!fits) {
    flush();
    outgoing.segment_bytes = datagram.size();
    outgoing_from_ = from;
  }
  outgoing.pieces.push_back(datagram);
  outgoing.piece_counts.push_back(1);
  outgoing.total_bytes += datagram.size();
}

void DatagramRelay::flush() {
  net::DatagramTrain& outgoing = resources_.outgoing;
  if (outgoing.datagrams() == 0) return;
  const End& receiver = end(other_than(outgoing_from_));
  RelayCounts& counts = end(outgoing_from_).counts;
  outgoing.to = *receiver.address;
  outgoing.from = receiver.local;
  outgoing.may_fragment = true;
  RelaySocket* const socket = socket_for(outgoing.to.family());
  const std::size_t sent = socket == nullptr ? 0 : socket->datagrams.send(outgoing).datagrams;
  counts.undelivered_datagrams += outgoing.datagrams() - sent;
  counts.relayed_datagrams += sent;
  counts.relayed_bytes += std::min(sent * outgoing.segment_bytes, outgoing.total_bytes);
  if (sent > 0) last_use_ = std::chrono::steady_clock::now();
  outgoing.clear();
}

DatagramRelay::RelaySocket* DatagramRelay::socket_for(AddressFamily family) {
  const auto found = std::ranges::find(sockets_, family, [](const auto& each) { return each->family; });
  return found == sockets_.end() ? nullptr : found->get();
}

}  // namespace udtcat::meet
