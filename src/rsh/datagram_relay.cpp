// SPDX-License-Identifier: Apache-2.0
#include "rsh/datagram_relay.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <boost/asio/buffer.hpp>

#include "lib/core/byte_order.hpp"
#include "lib/core/try.hpp"

namespace udtcat::rsh {

namespace {

using boost::asio::ip::udp;

constexpr std::size_t kLengthBytes = sizeof(std::uint16_t);  // spec: docs/spec/rsh.md §7

udp::endpoint loopback(AddressFamily family, std::uint16_t port) {
  if (family == AddressFamily::ipv6) return {boost::asio::ip::address_v6::loopback(), port};
  return {boost::asio::ip::address_v4::loopback(), port};
}

udp::endpoint reachable(const Endpoint& endpoint) {
  if (endpoint.is_wildcard()) return loopback(endpoint.family(), endpoint.port());
  udp::endpoint result;
  result.resize(endpoint.size_bytes());
  std::copy_n(reinterpret_cast<const std::byte*>(endpoint.data()), endpoint.size_bytes(),
              reinterpret_cast<std::byte*>(result.data()));
  return result;
}

}  // namespace

DatagramRelay::DatagramRelay(boost::asio::io_context& io, LocalStream& pipe, std::function<void()> on_end)
    : pipe_(pipe), on_end_(std::move(on_end)), socket_(io), datagram_(kMaxDatagramBytes), piece_(kQueueBytes) {
  await_pipe();
}

DatagramRelay::~DatagramRelay() { pipe_.abort(); }

Result<Endpoint> DatagramRelay::listen(AddressFamily family) {
  const auto failed = [](const boost::system::error_code& error) {
    return fail(Errc::out_of_resources, "open a UDP socket of the loopback interface", error.message());
  };
  const udp::endpoint any_port = loopback(family, 0);
  boost::system::error_code error;
  Socket fresh(socket_.get_executor());
  fresh.open(any_port.protocol(), error);
  if (!error) fresh.bind(any_port, error);
  if (!error) fresh.non_blocking(true, error);
  udp::endpoint own;
  if (!error) own = fresh.local_endpoint(error);
  if (error) return failed(error);
  socket_lifetime_.end();
  socket_ = std::move(fresh);
  is_waiting_ = false;
  engine_.reset();
  await_datagrams();
  return Endpoint::from_sockaddr(own.data(), own.size());
}

Status DatagramRelay::connect(const Endpoint& engine) {
  UDTCAT_CHECK(listen(engine.family()));
  engine_ = reachable(engine);
  return {};
}

void DatagramRelay::write_first(std::vector<std::byte> bytes) {
  outgoing_.insert(outgoing_.begin(), bytes.begin(), bytes.end());
  write();
}

void DatagramRelay::await_datagrams() {
  if (is_waiting_ || !socket_.is_open() || !on_end_ || outgoing_.size() >= kQueueBytes) return;
  is_waiting_ = true;
  socket_.async_wait(Socket::wait_read, socket_lifetime_.guard([this](const boost::system::error_code& error) {
    is_waiting_ = false;
    if (!error) take_datagrams();
  }));
}

void DatagramRelay::take_datagrams() {
  while (outgoing_.size() < kQueueBytes) {
    const auto bytes = take_one();
    if (!bytes) break;
    if (*bytes == 0) continue;
    const std::size_t at = outgoing_.size();
    outgoing_.resize(at + kLengthBytes + *bytes);
    core::store_be(std::span(outgoing_).subspan(at), static_cast<std::uint16_t>(*bytes));
    std::copy_n(datagram_.begin(), *bytes, outgoing_.begin() + static_cast<std::ptrdiff_t>(at + kLengthBytes));
  }
  write();
  await_datagrams();
}

std::optional<std::size_t> DatagramRelay::take_one() {
  udp::endpoint from;
  boost::system::error_code error;
  const std::size_t bytes = socket_.receive_from(boost::asio::buffer(datagram_), from, 0, error);
  if (error) return std::nullopt;
  if (!engine_) engine_ = from;
  // An engine answers from any address of this host, but by its own port alone.
  return from.port() == engine_->port() ? bytes : 0;
}

void DatagramRelay::write() {
  if (!writing_.empty() || outgoing_.empty() || !on_end_) return;
  std::swap(writing_, outgoing_);
  write_rest(writing_);
}

void DatagramRelay::write_rest(std::span<const std::byte> rest) {
  if (rest.empty()) {
    writing_.clear();
    write();
    return await_datagrams();
  }
  pipe_.async_write_some(rest, lifetime_.guard([this, rest](std::error_code error, std::size_t bytes) {
    if (error) return end();
    write_rest(rest.subspan(bytes));
  }));
}

void DatagramRelay::await_pipe() {
  pipe_.async_wait_readable(lifetime_.guard([this] { read_pipe(); }));
}

void DatagramRelay::read_pipe() {
  const auto got = pipe_.read_some(piece_);
  if (got.state == LocalStream::ReadState::would_block) return await_pipe();
  if (got.state != LocalStream::ReadState::data) return end();
  incoming_.insert(incoming_.end(), piece_.begin(), piece_.begin() + static_cast<std::ptrdiff_t>(got.bytes));
  if (!hand_on()) return end();
  await_pipe();
}

/// returns  false: these are no datagrams
bool DatagramRelay::hand_on() {
  std::span<const std::byte> rest = incoming_;
  while (rest.size() >= kLengthBytes) {
    const std::size_t bytes = core::load_be<std::uint16_t>(rest);
    if (bytes == 0) return false;
    if (rest.size() < kLengthBytes + bytes) break;
    boost::system::error_code lost;  // as on any path
    if (engine_) socket_.send_to(boost::asio::buffer(rest.data() + kLengthBytes, bytes), *engine_, 0, lost);
    rest = rest.subspan(kLengthBytes + bytes);
  }
  incoming_.erase(incoming_.begin(), incoming_.end() - static_cast<std::ptrdiff_t>(rest.size()));
  return true;
}

void DatagramRelay::end() {
  if (on_end_) std::exchange(on_end_, nullptr)();
}

}  // namespace udtcat::rsh
