// SPDX-License-Identifier: Apache-2.0
#include "rsh/control_channel.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace udtcat::rsh {

/// Lives as long as the channel or its LocalSide, whichever is later.
struct ControlChannel::State {
  State(boost::asio::io_context& context, MessageHandler message, ViolationHandler violation)
      : io(context),
        on_message(std::move(message)),
        on_violation(std::move(violation)),
        readable(io),
        written(io),
        finished(io) {}

  void wake() {
    if (waiting) readable.complete();
    waiting = false;
  }

  void deliver() {
    while (const MessageHandler handler = on_message) {
      auto message = reader.next();
      if (!message) {
        on_message = nullptr;
        return std::exchange(on_violation, nullptr)(message.error());
      }
      if (!*message) return;
      handler(**message);
    }
  }

  boost::asio::io_context& io;
  MessageHandler on_message;  // empty after a violation, and once the channel is gone
  ViolationHandler on_violation;
  std::deque<std::byte> outgoing;
  bool ended = false;
  bool waiting = false;  // readable has a handler
  ssh::ControlReader reader;
  bridge::PendingCall<> readable;
  bridge::PendingCall<std::error_code, std::size_t> written;
  bridge::PendingCall<std::error_code> finished;
};

/// The end that the multiplexer reads and writes.
class ControlChannel::LocalSide final : public LocalStream {
 public:
  explicit LocalSide(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~LocalSide() override { LocalSide::abort(); }

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override {
    auto& outgoing = state_->outgoing;
    const std::size_t bytes = std::min(into.size(), outgoing.size());
    if (bytes == 0) return {.state = state_->ended ? ReadState::end : ReadState::would_block};
    const auto end = outgoing.begin() + static_cast<std::ptrdiff_t>(bytes);
    std::copy(outgoing.begin(), end, into.begin());
    outgoing.erase(outgoing.begin(), end);
    return {.state = ReadState::data, .bytes = bytes};
  }

  void async_wait_readable(WaitHandler handler) override {
    state_->readable.expect(std::move(handler));
    state_->waiting = true;
    if (!state_->outgoing.empty() || state_->ended) state_->wake();
  }

  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    state_->written.expect(std::move(handler));
    state_->reader.push(from);
    // Posted: the handler of a message may end the connection that is calling.
    boost::asio::post(state_->io, [state = state_, bytes = from.size()] {
      state->deliver();
      state->written.complete({}, bytes);
    });
  }

  void async_finish(FinishHandler handler) override {
    state_->finished.expect(std::move(handler));
    state_->finished.complete({});
  }

  void abort() override {
    state_->readable.drop();
    state_->waiting = false;
    state_->written.drop();
    state_->finished.drop();
  }

  [[nodiscard]] std::string source_name() const override { return "control messages"; }
  [[nodiscard]] std::string sink_name() const override { return "control messages"; }

 private:
  const std::shared_ptr<State> state_;
};

ControlChannel::ControlChannel(boost::asio::io_context& io, MessageHandler on_message, ViolationHandler on_violation)
    : state_(std::make_shared<State>(io, std::move(on_message), std::move(on_violation))) {}

ControlChannel::~ControlChannel() { state_->on_message = nullptr; }

void ControlChannel::send(const ssh::ControlMessage& message) {
  const auto bytes = ssh::encode(message);
  state_->outgoing.insert(state_->outgoing.end(), bytes.begin(), bytes.end());
  state_->wake();
}

void ControlChannel::finish_sending() {
  state_->ended = true;
  state_->wake();
}

std::unique_ptr<LocalStream> ControlChannel::stream() { return std::make_unique<LocalSide>(state_); }

}  // namespace udtcat::rsh
