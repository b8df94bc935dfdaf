// SPDX-License-Identifier: Apache-2.0
#include "rsh/control_channel.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace udtcat::rsh {

void ControlChannel::attach(std::unique_ptr<Stream> stream) {
  stream_ = std::move(stream);
  read_more();
}

/// The connection's own end tells of a stream that breaks.
void ControlChannel::read_more() {
  stream_->async_read(piece_, lifetime_.guard([this](const Result<std::size_t>& bytes) {
    if (!bytes || *bytes == 0) return;
    reader_.push(std::span(piece_).first(*bytes));
    deliver();
  }));
}

void ControlChannel::deliver() {
  const auto message = reader_.next();
  if (!message) return on_violation_(message.error());
  if (!*message) return read_more();
  boost::asio::post(io_, lifetime_.guard([this] { deliver(); }));  // first: the handler may destroy this
  on_message_(**message);
}

void ControlChannel::send(const ssh::ControlMessage& message) {
  if (ended_) return;
  const auto bytes = ssh::encode(message);
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  write_more();
}

void ControlChannel::finish_sending() {
  ended_ = true;
  write_more();
}

void ControlChannel::write_more() {
  if (!leaving_.empty()) return;
  if (waiting_.empty()) {
    if (ended_ && !std::exchange(finished_, true)) stream_->async_finish([](const Status&) {});
    return;
  }
  leaving_ = std::exchange(waiting_, {});
  stream_->async_write(leaving_, lifetime_.guard([this](const Status& written) {
    leaving_.clear();
    if (written) write_more();
  }));
}

}  // namespace udtcat::rsh
