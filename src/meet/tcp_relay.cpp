// SPDX-License-Identifier: Apache-2.0
#include "meet/tcp_relay.hpp"

#include <utility>

#include <boost/asio/buffer.hpp>

namespace udtcat::meet {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPieceBytes = 64 * kKiB;       // guess: a system call for each is little beside the copy
constexpr std::size_t kLeastPieceBytes = 16 * kKiB;  // guess: where a rate allows no more
constexpr auto kRatePause = 5ms;                     // guess: a hundredth of what users notice

}  // namespace

TcpRelay::TcpRelay(boost::asio::io_context& io, std::shared_ptr<TokenBucket> bucket, RelayResources& resources,
                   std::chrono::milliseconds patience)
    : bucket_(std::move(bucket)),
      resources_(resources),
      patience_(patience),
      directions_{Direction(io), Direction(io)},
      deadline_(io) {}

TcpRelay::~TcpRelay() { end(false); }

void TcpRelay::take(PairRole from, Socket socket) {
  if (is_joined_) return;
  boost::system::error_code failed;
  socket.non_blocking(true, failed);
  if (failed) return;
  last_use_ = std::chrono::steady_clock::now();
  this->socket(from) = std::move(socket);
  if (has(other_than(from))) return join();
  deadline_.expires_after(patience_);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled && !is_joined_) end(true);
  }));
}

void TcpRelay::join() {
  is_joined_ = true;
  deadline_.cancel();
  for (const PairRole role : {PairRole::listener, PairRole::connector}) {
    Direction& each = direction(role);
    each.bytes.resize(kPieceBytes);
    each.over = false;
    wait_readable(role);
  }
}

void TcpRelay::wait_readable(PairRole from) {
  socket(from)->async_wait(Socket::wait_read, joining_.guard([this, from](const boost::system::error_code& cancelled) {
    if (!cancelled) read(from);
  }));
}

/// Of the next piece, by the rates.
std::size_t TcpRelay::allowed_bytes() {
  const auto now = std::chrono::steady_clock::now();
  bucket_->fill(now);
  resources_.bucket.fill(now);
  if (bucket_->has(kPieceBytes) && resources_.bucket.has(kPieceBytes)) return kPieceBytes;
  // Into debt: or datagrams, which need less at a time, would leave nothing.
  return bucket_->has(1) && resources_.bucket.has(1) ? kLeastPieceBytes : 0;
}

void TcpRelay::read(PairRole from) {
  Direction& each = direction(from);
  const std::size_t allowed = allowed_bytes();
  if (allowed == 0) {
    each.pause.expires_after(kRatePause);
    each.pause.async_wait(joining_.guard([this, from](const boost::system::error_code& cancelled) {
      if (!cancelled) read(from);
    }));
    return;
  }
  boost::system::error_code failed;
  const std::size_t got = socket(from)->read_some(boost::asio::buffer(each.bytes.data(), allowed), failed);
  if (failed == boost::asio::error::would_block) return wait_readable(from);
  if (failed == boost::asio::error::eof) return end_direction(from);
  if (failed) return end(false);
  bucket_->take(got);
  resources_.bucket.take(got);
  each.first_byte = 0;
  each.end_byte = got;
  write(from);
}

void TcpRelay::write(PairRole from) {
  Direction& each = direction(from);
  Socket& to = *socket(other_than(from));
  while (each.first_byte < each.end_byte) {
    boost::system::error_code failed;
    const std::size_t wrote = to.write_some(
        boost::asio::buffer(each.bytes.data() + each.first_byte, each.end_byte - each.first_byte), failed);
    if (failed == boost::asio::error::would_block) {
      to.async_wait(Socket::wait_write, joining_.guard([this, from](const boost::system::error_code& cancelled) {
        if (!cancelled) write(from);
      }));
      return;
    }
    if (failed) return end(false);
    each.first_byte += wrote;
    each.counts.relayed_bytes += wrote;
    last_use_ = std::chrono::steady_clock::now();
  }
  wait_readable(from);
}

void TcpRelay::end_direction(PairRole from) {
  direction(from).over = true;
  if (direction(other_than(from)).over) return end(true);
  boost::system::error_code gone;
  socket(other_than(from))->shutdown(Socket::shutdown_send, gone);
}

/// in_order   else each is told by a reset, whatever is still under way
void TcpRelay::end(bool in_order) {
  joining_.end();
  deadline_.cancel();
  for (Direction& each : directions_) {
    each.pause.cancel();
    each.bytes = {};
  }
  for (std::optional<Socket>& each : sockets_) {
    if (!each) continue;
    boost::system::error_code gone;
    if (!in_order) each->set_option(boost::asio::socket_base::linger(true, 0), gone);
    each->close(gone);  // a destructor would take the option back
    each.reset();
  }
  is_joined_ = false;
}

}  // namespace udtcat::meet
