#include "gridftp/server/transfer_markers.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

#include "gridftp/coroutine/task.hpp"

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

Reply range_marker(const ByteRanges& safe) {
  Reply reply;
  reply.code = 111;
  reply.lines.push_back("Range Marker " + safe.to_text());
  return reply;
}

struct TransferMarkers::State {
  State(boost::asio::io_context& io, Say how, std::function<std::uint64_t()> bytes, std::function<ByteRanges()> ranges)
      : say(std::move(how)), moved(std::move(bytes)), safe(std::move(ranges)), timer(io), silent(io) {}

  static Task<void> speak(std::shared_ptr<State> state);

  const Say say;
  const std::function<std::uint64_t()> moved;
  const std::function<ByteRanges()> safe;
  boost::asio::steady_timer timer;
  bool stopping = false;
  Promise<bool> silent;
};

Task<void> TransferMarkers::State::speak(std::shared_ptr<State> state) {
  std::uint64_t safe_bytes = 0;
  while (!state->stopping) {
    boost::system::error_code ignored;
    state->timer.expires_after(kMarkerInterval);
    co_await state->timer.async_wait(into(ignored));
    if (state->stopping) break;
    // A client that does not listen loses its transfer by its own silence, not by ours.
    std::ignore = co_await state->say(performance_marker(std::chrono::system_clock::now(), state->moved()));
    if (state->stopping || !state->safe) continue;
    const ByteRanges safe = state->safe();
    if (safe.bytes() == safe_bytes) continue;
    safe_bytes = safe.bytes();
    std::ignore = co_await state->say(range_marker(safe));
  }
  state->silent.set(true);
}

TransferMarkers::TransferMarkers(boost::asio::io_context& io, Say say, std::function<std::uint64_t()> moved,
                                 std::function<ByteRanges()> safe)
    : state_(std::make_shared<State>(io, std::move(say), std::move(moved), std::move(safe))) {
  boost::asio::co_spawn(io, State::speak(state_), boost::asio::detached);
}

TransferMarkers::~TransferMarkers() {
  state_->stopping = true;
  state_->timer.cancel();
}

Task<void> TransferMarkers::stop() {
  const auto state = state_;
  state->stopping = true;
  state->timer.cancel();
  std::ignore = co_await state->silent.get();
}

}  // namespace udtcat::gridftp
