// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/active_open.hpp"

#include <utility>

#include "lib/core/user_text.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/net/system_error.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::transport::tcp {

namespace {

constexpr const char* kNobody = "nobody answered";
constexpr const char* kOnlyTaken =
    "nobody answered: something takes the connection, perhaps a proxy, and says nothing; is it a udtcat that "
    "listens there?";
constexpr const char* kOtherWords = "another program answers there, or an older udtcat";

}  // namespace

ActiveOpen::ActiveOpen(boost::asio::io_context& io, const Endpoint& peer, PrefaceProof* proof,
                       std::chrono::milliseconds patience, Handler handler)
    : peer_(peer), proof_(proof), handler_(std::move(handler)), socket_(io), deadline_(io) {
  deadline_.expires_after(patience);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) fail_with(Errc::cannot_reach, connected_ ? kOnlyTaken : kNobody);
  }));
  // It opens the socket, and posts what goes wrong with that.
  socket_.async_connect(to_asio(peer),
                        lifetime_.guard([this](const boost::system::error_code& error) { on_connected(error); }));
}

void ActiveOpen::on_connected(const boost::system::error_code& error) {
  if (error == boost::asio::error::connection_refused) return fail_with(Errc::cannot_reach, kTcpPortClosed);
  if (error) {
    const auto failed = net::system_error(Errc::cannot_reach, "connect tcp " + peer_.to_string(), error.value());
    return finish(tl::unexpected(failed.value()));
  }
  connected_ = true;
  hello_.type = proof_ != nullptr ? PrefaceType::hello_key : PrefaceType::hello;
  if (const auto drawn = crypto::randomise(hello_.value); !drawn) return finish(tl::unexpected(drawn.error()));
  set_no_delay(socket_);
  const auto bytes = encode(hello_);
  const std::span<const std::byte> piece(bytes);
  const Sent sent = send(socket_, std::span(&piece, 1));
  if (sent.bytes != bytes.size()) return fail_with(Errc::cannot_reach, core::errno_text(sent.errno_value));
  wait();
}

void ActiveOpen::wait() {
  socket_.async_wait(Socket::wait_read, lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) read();
  }));
}

void ActiveOpen::read() {
  const Received got = receive(socket_, std::span(bytes_).subspan(read_bytes_));
  if (got.state == Received::State::would_block) return wait();
  if (got.state != Received::State::data) return fail_with(Errc::cannot_reach, kTurnedAway);
  read_bytes_ += got.bytes;
  const DecodedPreface decoded = decode_preface(std::span(bytes_).first(read_bytes_));
  if (decoded.state == DecodedPreface::State::incomplete) return wait();
  if (decoded.state == DecodedPreface::State::malformed || decoded.preface.type != PrefaceType::challenge)
    return fail_with(Errc::cannot_reach, kOtherWords);
  on_challenge(decoded.preface);
}

void ActiveOpen::on_challenge(const Preface& challenge) {
  if (proof_ == nullptr) return finish(Opened{std::move(socket_), {}});
  const auto proof = proof_->make(hello_, challenge);
  if (!proof) return finish(tl::unexpected(proof.error()));
  const auto bytes = encode(*proof);
  finish(Opened{std::move(socket_), {bytes.begin(), bytes.end()}});
}

void ActiveOpen::fail_with(Errc code, const std::string& cause) {
  finish(fail(code, "connect tcp " + peer_.to_string(), cause));
}

void ActiveOpen::finish(Result<Opened> result) {
  lifetime_.end();
  deadline_.cancel();
  handler_(std::move(result));
}

}  // namespace udtcat::transport::tcp
