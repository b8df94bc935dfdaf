// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/control_connection.hpp"

#include <array>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/core/text.hpp"
#include "lib/net/interface_addresses.hpp"

namespace udtcat::gridftp {

Endpoint local_address_towards(const Endpoint& peer) {
  return net::source_address(peer).value_or(bridge::from_asio({bridge::to_asio(peer).protocol(), 0}));
}

struct ControlConnection::State {
  State(boost::asio::io_context& context, std::shared_ptr<StreamIo> over)
      : io(context), stream(std::move(over)), changed(context), taken(context) {}

  void end(Error why);
  /// Takes bytes that are there.  returns  whether there may be more
  bool take();
  static Task<void> read_on(std::shared_ptr<State> state);
  static Task<void> write(std::shared_ptr<State> state, std::string text);

  boost::asio::io_context& io;
  const std::shared_ptr<StreamIo> stream;
  std::string heard;
  std::optional<Error> ended;
  bool writing = false;
  AsyncCondition changed;  // something was heard or written, or it is the end
  AsyncCondition taken;    // there is room in `heard`
};

void ControlConnection::State::end(Error why) {
  if (ended) return;
  ended = std::move(why);
  stream->abort();
  changed.notify();
  taken.notify();
}

bool ControlConnection::State::take() {
  constexpr std::size_t kPieceBytes = 16'384;  // guess
  std::array<std::byte, kPieceBytes> piece{};
  const auto came = stream->take(piece);
  if (came && !*came) return false;
  if (!came) {
    end(came.error());
  } else if (**came == 0) {
    end({Errc::connection_broken, "hear " + stream->name(), "it hung up"});
  } else {
    heard += core::as_text(std::span(piece).first(**came));
    changed.notify();
  }
  return !ended;
}

Task<void> ControlConnection::State::read_on(std::shared_ptr<State> state) {
  while (!state->ended) {
    while (!state->ended && state->heard.size() > kMaxUnheardBytes) co_await state->taken.wait();
    if (!state->ended && !state->take() && !state->ended) co_await state->stream->wait_readable();
  }
}

Task<void> ControlConnection::State::write(std::shared_ptr<State> state, std::string text) {
  const auto written = co_await state->stream->write(std::as_bytes(std::span(text)));
  if (!written) co_return state->end(written.error());  // and write() fails
  state->writing = false;
  state->changed.notify();
}

ControlConnection::ControlConnection(boost::asio::io_context& io, std::shared_ptr<StreamIo> stream, Endpoint local,
                                     Endpoint peer)
    : state_(std::make_shared<State>(io, std::move(stream))),
      local_(local),
      peer_(peer),
      peer_key_(state_->stream->peer_key()),
      peer_name_(state_->stream->peer_name()) {
  boost::asio::co_spawn(io, State::read_on(state_), rethrow);
}

ControlConnection::~ControlConnection() { close(); }

Status ControlConnection::look() {
  while (!state_->ended && state_->heard.size() <= kMaxUnheardBytes && state_->take()) continue;
  if (state_->ended) return tl::unexpected(*state_->ended);
  return {};
}

Task<Result<std::string>> ControlConnection::read(std::chrono::milliseconds timeout, Moved moved) {
  const auto state = state_;
  const StallTimer stall(state->io, timeout, std::move(moved), [state] { state->changed.notify(); });
  while (state->heard.empty() && !state->ended && !stall.is_over()) co_await state->changed.wait();
  if (!state->heard.empty()) {
    state->taken.notify();
    co_return std::exchange(state->heard, {});
  }
  if (!state->ended) state->end({Errc::peer_lost, "hear " + state->stream->name(), "it says nothing"});
  co_return tl::unexpected(*state->ended);
}

Task<Status> ControlConnection::write(std::string text, std::chrono::milliseconds timeout) {
  const auto state = state_;
  if (state->ended) co_return tl::unexpected(*state->ended);
  state->writing = true;
  boost::asio::co_spawn(state->io, State::write(state, std::move(text)), rethrow);
  const StallTimer stall(state->io, timeout, {}, [state] { state->changed.notify(); });
  while (state->writing && !state->ended && !stall.is_over()) co_await state->changed.wait();
  if (state->writing && !state->ended)
    state->end({Errc::peer_lost, "speak to " + state->stream->name(), "it takes nothing"});
  if (state->ended && state->writing) co_return tl::unexpected(*state->ended);
  co_return Status{};
}

Task<void> ControlConnection::finish() {
  const auto state = state_;
  if (!state->ended) std::ignore = co_await state->stream->finish();  // whether it worked: the peer is going anyway
}

void ControlConnection::close() {
  state_->end({Errc::interrupted, "hear " + state_->stream->name(), "the connection was closed here"});
}

}  // namespace udtcat::gridftp
