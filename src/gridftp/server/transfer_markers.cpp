// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/transfer_markers.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

namespace udtcat::gridftp {

Reply performance_marker(std::chrono::system_clock::time_point now, std::uint64_t bytes) {
  const auto seconds = std::chrono::duration<double>(now.time_since_epoch()).count();
  Reply reply;
  reply.code = 112;
  reply.lines = {"Perf Marker",
                 fmt::format(" Timestamp:  {:.1f}", seconds),
                 " Stripe Index: 0",
                 fmt::format(" Stripe Bytes Transferred: {}", bytes),
                 " Total Stripe Count: 1",
                 "End."};
  return reply;
}

Reply range_marker(const files::ByteRanges& durable) {
  Reply reply;
  reply.code = 111;
  reply.lines.push_back("Range Marker " + durable.to_text());
  return reply;
}

struct TransferMarkers::State {
  State(boost::asio::io_context& io, SendReply how, std::function<std::uint64_t()> bytes,
        std::function<files::ByteRanges()> ranges)
      : send(std::move(how)), moved(std::move(bytes)), durable(std::move(ranges)), timer(io), ended(io) {}

  static Task<void> run(std::shared_ptr<State> state);

  const SendReply send;
  const std::function<std::uint64_t()> moved;
  const std::function<files::ByteRanges()> durable;
  boost::asio::steady_timer timer;
  bool stopping = false;
  Promise<bool> ended;
};

Task<void> TransferMarkers::State::run(std::shared_ptr<State> state) {
  std::uint64_t durable_bytes = 0;
  while (!state->stopping) {
    boost::system::error_code ignored;
    state->timer.expires_after(kMarkerInterval);
    co_await state->timer.async_wait(into(ignored));
    if (state->stopping) break;
    // A client that does not read its markers does not lose its transfer for that.
    std::ignore = co_await state->send(performance_marker(std::chrono::system_clock::now(), state->moved()));
    if (state->stopping || !state->durable) continue;
    const files::ByteRanges durable = state->durable();
    if (durable.bytes() == durable_bytes) continue;
    durable_bytes = durable.bytes();
    std::ignore = co_await state->send(range_marker(durable));
  }
  state->ended.set(true);
}

TransferMarkers::TransferMarkers(boost::asio::io_context& io, SendReply send, std::function<std::uint64_t()> moved,
                                 std::function<files::ByteRanges()> durable)
    : state_(std::make_shared<State>(io, std::move(send), std::move(moved), std::move(durable))) {
  boost::asio::co_spawn(io, State::run(state_), rethrow);
}

TransferMarkers::~TransferMarkers() {
  state_->stopping = true;
  state_->timer.cancel();
}

Task<void> TransferMarkers::stop() {
  const auto state = state_;
  state->stopping = true;
  state->timer.cancel();
  std::ignore = co_await state->ended.get();
}

}  // namespace udtcat::gridftp
