// SPDX-License-Identifier: Apache-2.0
/// One stream between a meeting place and an end, as messages (docs/spec/meet.md §4).
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <udtcat/stream.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/meeting/message.hpp"

namespace udtcat::meeting {

/// Destroying it breaks the stream off, unless both ends have said all.
/// Threads: confined to the io_context thread. A handler is never called from inside a call, and may destroy this.
class MessageStream {
 public:
  struct Handlers {
    std::function<void(const Message&)> on_message;
    /// The other end has said all, or the stream has failed, and how; the last call.
    std::function<void(const Status& how)> on_over;
  };

  MessageStream(std::unique_ptr<Stream> stream, Handlers handlers);
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;
  ~MessageStream() = default;

  /// An end that does not read is not waited for: more than kMaxWaitingBytes end the stream.
  void send(const Message& message);
  /// Ends this direction behind what was sent. Nothing is sent after it.
  void finish();

 private:
  static constexpr std::size_t kMaxWaitingBytes = 4 * kMaxMessageBytes;  // guess: an end is sent one at a time

  void read();
  void take_messages();
  void write();
  void end(const Status& how);

  const std::unique_ptr<Stream> stream_;
  const Handlers handlers_;
  std::array<std::byte, 512> piece_{};  // guess: most messages are shorter
  MessageReader reader_;
  std::vector<std::byte> waiting_;
  std::vector<std::byte> writing_;  // empty: no write is under way
  bool finishes_ = false;           // once all is written
  bool finished_ = false;
  bool over_ = false;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meeting
