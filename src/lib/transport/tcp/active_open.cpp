// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/active_open.hpp"

#include <utility>

#include "lib/core/user_text.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/net/system_error.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::transport::tcp {

namespace {

constexpr const char* kOnlyTaken =
    "nobody answered: something takes the connection, perhaps a proxy, and says nothing; is it a udtcat that "
    "listens there?";
constexpr const char* kNotRelayed = "the other end has not come to the meeting place by TCP in time";
constexpr const char* kOtherWords = "another program answers there, or an older udtcat";

}  // namespace

ActiveOpen::ActiveOpen(boost::asio::io_context& io, const Endpoint& peer, const Settings& settings,
                       std::chrono::milliseconds patience, Handler handler)
    : peer_(peer), settings_(settings), handler_(std::move(handler)), deadline_(io) {
  deadline_.expires_after(patience);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) fail_with(Errc::cannot_reach, socket_ ? silence() : connecting_->silence());
  }));
  connecting_ = std::make_unique<SocketConnect>(
      io, peer, settings.options, lifetime_.guard([this](Result<Socket> made) { on_connected(std::move(made)); }),
      settings_.bind);
}

void ActiveOpen::on_connected(Result<Socket> made) {
  const auto done = std::move(connecting_);  // which is calling
  if (!made) return finish(tl::unexpected(made.error()));
  socket_ = std::move(*made);
  hello_.type = settings_.proof != nullptr ? PrefaceType::hello_key : PrefaceType::hello;
  if (const auto drawn = crypto::randomise(hello_.value); !drawn) return finish(tl::unexpected(drawn.error()));
  const auto bytes = encode(hello_);
  std::array<std::byte, kPrefaceBytes> token{};
  if (settings_.relay_token) token = encode({.type = PrefaceType::relay, .value = *settings_.relay_token});
  const std::array<std::span<const std::byte>, 2> pieces{token, bytes};
  const auto said = std::span(pieces).last(settings_.relay_token ? 2 : 1);
  // A new connection has room for so few.
  const Sent sent = send(*socket_, said);
  if (sent.bytes != said.size() * kPrefaceBytes)
    return fail_with(Errc::cannot_reach, core::errno_text(sent.errno_value));
  wait();
}

const char* ActiveOpen::silence() const { return settings_.relay_token ? kNotRelayed : kOnlyTaken; }

void ActiveOpen::wait() {
  socket_->async_wait(Socket::wait_read, lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) read();
  }));
}

void ActiveOpen::read() {
  const Received got = receive(*socket_, std::span(bytes_).subspan(read_bytes_));
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
  if (settings_.proof == nullptr) return finish(Opened{std::move(*socket_), {}});
  const auto proof = settings_.proof->make(hello_, challenge);
  if (!proof) return finish(tl::unexpected(proof.error()));
  const auto bytes = encode(*proof);
  finish(Opened{std::move(*socket_), {bytes.begin(), bytes.end()}});
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
