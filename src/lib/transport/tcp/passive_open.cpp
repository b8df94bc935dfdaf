// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/passive_open.hpp"

#include <utility>

#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::transport::tcp {

namespace {

constexpr std::chrono::seconds kPrefacePatience{5};  // spec: tcp.md §2

}  // namespace

PassiveOpen::PassiveOpen(boost::asio::io_context& io, Socket socket, PrefaceProof* proof, Handlers handlers)
    : socket_(std::move(socket)), proof_(proof), handlers_(std::move(handlers)), deadline_(io) {
  set_no_delay(socket_);
  deadline_.expires_after(kPrefacePatience);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) finish(std::nullopt);
  }));
  wait();
}

void PassiveOpen::wait() {
  socket_.async_wait(Socket::wait_read, lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) read();
  }));
}

void PassiveOpen::read() {
  const Received got = receive(socket_, std::span(bytes_).subspan(read_bytes_));
  if (got.state == Received::State::would_block) return wait();
  if (got.state != Received::State::data) return finish(std::nullopt);
  read_bytes_ += got.bytes;
  const DecodedPreface decoded = decode_preface(std::span(bytes_).first(read_bytes_));
  if (decoded.state == DecodedPreface::State::malformed) return finish(std::nullopt);
  if (decoded.state == DecodedPreface::State::incomplete) return wait();
  read_bytes_ = 0;
  on_preface(decoded.preface);
}

void PassiveOpen::on_preface(const Preface& preface) {
  if (hello_) {
    if (preface.type != PrefaceType::proof) return finish(std::nullopt);
    // A client with another key is unproved, as is one without: the session tells it why it is refused.
    const bool proved = proof_ != nullptr && proof_->is_in(preface, *hello_, challenge_);
    return finish(handlers_.has_room(proved) ? std::optional(Opened{.proved = proved}) : std::nullopt);
  }
  if (preface.type == PrefaceType::relay) return finish(Opened{.relay_token = preface.value});
  const bool will_prove = preface.type == PrefaceType::hello_key;
  if (!will_prove && preface.type != PrefaceType::hello) return finish(std::nullopt);
  if (!handlers_.has_room(will_prove && proof_ != nullptr) || !send_challenge()) return finish(std::nullopt);
  if (!will_prove) return finish(Opened{});
  hello_ = preface;
  read();
}

bool PassiveOpen::send_challenge() {
  if (!crypto::randomise(challenge_.value)) return false;
  const auto bytes = encode(challenge_);
  const std::span<const std::byte> piece(bytes);
  // A new connection has room for so few.
  return send(socket_, std::span(&piece, 1)).bytes == bytes.size();
}

void PassiveOpen::finish(const std::optional<Opened>& opened) {
  lifetime_.end();
  deadline_.cancel();
  boost::system::error_code none;
  socket_.cancel(none);
  handlers_.on_done(opened);
}

}  // namespace udtcat::transport::tcp
