// SPDX-License-Identifier: Apache-2.0
#include "ssh/datagram_pipe.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include "lib/core/byte_order.hpp"

namespace udtcat::ssh {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 16;    // guess: what a pipe has at once
constexpr std::size_t kLengthBytes = sizeof(std::uint16_t);  // spec: docs/spec/rsh.md §7

}  // namespace

DatagramPipe::DatagramPipe(LocalStream& pipe, DatagramHandler on_datagram, std::function<void()> on_end)
    : pipe_(pipe), on_datagram_(std::move(on_datagram)), on_end_(std::move(on_end)), piece_(kPieceBytes) {
  await_pipe();
}

DatagramPipe::~DatagramPipe() { pipe_.abort(); }

void DatagramPipe::send(std::span<const std::byte> datagram) {
  if (!on_end_ || datagram.size() > kMaxDatagramBytes || outgoing_.size() + datagram.size() > kQueueBytes) return;
  std::array<std::byte, kLengthBytes> length{};
  core::store_be(length, static_cast<std::uint16_t>(datagram.size()));
  outgoing_.insert(outgoing_.end(), length.begin(), length.end());
  outgoing_.insert(outgoing_.end(), datagram.begin(), datagram.end());
  write();
}

void DatagramPipe::write_first(std::span<const std::byte> bytes) {
  outgoing_.insert(outgoing_.begin(), bytes.begin(), bytes.end());
  write();
}

void DatagramPipe::write() {
  if (!writing_.empty() || outgoing_.empty() || !on_end_) return;
  std::swap(writing_, outgoing_);
  write_rest(writing_);
}

void DatagramPipe::write_rest(std::span<const std::byte> rest) {
  if (rest.empty()) {
    writing_.clear();
    return write();
  }
  pipe_.async_write_some(rest, lifetime_.guard([this, rest](std::error_code error, std::size_t bytes) {
    if (error) return end();
    write_rest(rest.subspan(bytes));
  }));
}

void DatagramPipe::await_pipe() {
  pipe_.async_wait_readable(lifetime_.guard([this] { read_pipe(); }));
}

void DatagramPipe::read_pipe() {
  const auto got = pipe_.read_some(piece_);
  if (got.state == LocalStream::ReadState::would_block) return await_pipe();
  if (got.state != LocalStream::ReadState::data) return end();
  incoming_.insert(incoming_.end(), piece_.begin(), piece_.begin() + static_cast<std::ptrdiff_t>(got.bytes));
  if (!hand_on()) return end();
  await_pipe();
}

/// returns  false: these are no datagrams
bool DatagramPipe::hand_on() {
  std::span<const std::byte> rest = incoming_;
  while (rest.size() >= kLengthBytes) {
    const std::size_t bytes = core::load_be<std::uint16_t>(rest);
    if (bytes == 0) return false;
    if (rest.size() < kLengthBytes + bytes) break;
    on_datagram_(rest.subspan(kLengthBytes, bytes));
    rest = rest.subspan(kLengthBytes + bytes);
  }
  incoming_.erase(incoming_.begin(), incoming_.end() - static_cast<std::ptrdiff_t>(rest.size()));
  return true;
}

void DatagramPipe::end() {
  if (on_end_) std::exchange(on_end_, nullptr)();
}

std::shared_ptr<DatagramPipe> tunnel_through(LocalStream& pipe, Connection& connection, std::function<void()> on_end) {
  auto datagrams = std::make_shared<DatagramPipe>(
      pipe, [&connection](std::span<const std::byte> packet) { connection.take_from_tunnel(packet); },
      std::move(on_end));
  send_through(datagrams, connection);
  return datagrams;
}

void send_through(const std::shared_ptr<DatagramPipe>& pipe, Connection& connection) {
  connection.set_tunnel([weak = std::weak_ptr(pipe)](std::span<const std::byte> packet) {
    if (const auto alive = weak.lock()) alive->send(packet);
  });
}

}  // namespace udtcat::ssh
