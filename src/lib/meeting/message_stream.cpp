// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/message_stream.hpp"

#include <span>
#include <utility>

#include <boost/asio/post.hpp>

namespace udtcat::meeting {

MessageStream::MessageStream(std::unique_ptr<Stream> stream, Handlers handlers)
    : stream_(std::move(stream)), handlers_(std::move(handlers)) {
  read();
}

void MessageStream::read() {
  stream_->async_read(piece_, lifetime_.guard([this](const Result<std::size_t>& bytes) {
    if (!bytes) return end(tl::unexpected(bytes.error()));
    if (*bytes == 0) return end({});
    reader_.append(std::span(piece_).first(*bytes));
    take_messages();
  }));
}

void MessageStream::take_messages() {
  const auto message = reader_.next();
  if (!message) {
    stream_->abort(message.error());
    return end(tl::unexpected(message.error()));
  }
  if (!*message) return read();
  boost::asio::post(stream_->get_executor(), lifetime_.guard([this] { take_messages(); }));
  const auto handler = handlers_.on_message;  // a copy: it may destroy this
  handler(**message);
}

void MessageStream::send(const Message& message) {
  if (over_ || finishes_) return;
  const auto bytes = encode(message);
  if (waiting_.size() + bytes.size() > kMaxWaitingBytes)
    return stream_->abort({Errc::peer_lost, "send to an end of a meeting place", "it does not read"});
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  write();
}

void MessageStream::finish() {
  finishes_ = true;
  write();
}

void MessageStream::write() {
  if (!writing_.empty() || over_) return;
  writing_ = std::exchange(waiting_, {});
  if (!writing_.empty()) {
    stream_->async_write(writing_, lifetime_.guard([this](const Status& written) {
      writing_.clear();
      if (written) write();  // a failure ends the read as well
    }));
    return;
  }
  if (!finishes_ || std::exchange(finished_, true)) return;
  stream_->async_finish([](const Status&) {});
}

void MessageStream::end(const Status& how) {
  if (std::exchange(over_, true)) return;
  const auto handler = handlers_.on_over;  // a copy, likewise
  handler(how);
}

}  // namespace udtcat::meeting
