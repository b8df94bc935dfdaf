// SPDX-License-Identifier: Apache-2.0
#include "trees/message_io.hpp"

#include <cstring>
#include <span>
#include <tuple>
#include <utility>

#include "lib/core/try.hpp"

namespace udtcat::trees {

namespace {

constexpr std::size_t kGatheredBytes = 65'536;                             // guess: a quarter of a block
constexpr std::size_t kArrivedBytes = 2 * (kHeaderBytes + kMaxBodyBytes);  // the longest message, and some of the next

}  // namespace

Status MessageWriter::put(const Message& message) {
  const core::MutexLock lock(mutex_);
  encode(message, gathered_);
  return gathered_.size() < kGatheredBytes ? Status() : write_out();
}

Result<std::size_t> MessageWriter::put_entry(const Entry& entry) {
  const core::MutexLock lock(mutex_);
  const std::size_t before = gathered_.size();
  encode(entry, gathered_);
  const std::size_t bytes = gathered_.size() - before - kHeaderBytes;
  if (gathered_.size() >= kGatheredBytes) UDTCAT_CHECK(write_out());
  return bytes;
}

Status MessageWriter::flush() {
  const core::MutexLock lock(mutex_);
  return gathered_.empty() ? Status() : write_out();
}

Status MessageWriter::write_out() {
  const Status written = wire_.write(gathered_);
  gathered_.clear();
  return written;
}

void tell_failure(const Error& error, MessageWriter& writer) {
  const bool is_ours = error.code == Errc::local_read_failed || error.code == Errc::local_write_failed ||
                       error.code == Errc::stream_refused || error.code == Errc::interrupted;
  // A peer that breaks the protocol is refused; one that is gone, or has failed itself, is told nothing.
  if (!is_ours && error.code != Errc::protocol_violated && error.code != Errc::out_of_resources) return;
  if (writer.put(Failed{is_ours ? error.code : Errc::stream_refused, error.message()})) std::ignore = writer.flush();
}

Result<std::optional<Message>> MessageReader::next() {
  if (arrived_.empty()) arrived_.resize(kArrivedBytes);
  UDTCAT_TRY(const bool has_header, await(kHeaderBytes));
  if (!has_header && next_ == filled_) return std::nullopt;
  if (!has_header) return fail(Errc::protocol_violated, "read a message", "the stream ends within one");
  const auto header = std::span(arrived_).subspan(next_).first<kHeaderBytes>();
  const auto type = std::to_integer<std::uint8_t>(header.front());
  UDTCAT_TRY(const std::size_t bytes, trees::body_bytes(header));
  UDTCAT_TRY(const bool is_whole, await(kHeaderBytes + bytes));
  if (!is_whole) return fail(Errc::protocol_violated, "read a message", "the stream ends within one");
  const auto body = std::span(std::as_const(arrived_)).subspan(next_ + kHeaderBytes, bytes);
  next_ += kHeaderBytes + bytes;
  body_bytes_ = bytes;
  UDTCAT_TRY(auto message, decode(type, body));
  return message;
}

Result<bool> MessageReader::await(std::size_t bytes) {
  if (next_ + bytes > arrived_.size()) {
    std::memmove(arrived_.data(), arrived_.data() + next_, filled_ - next_);
    filled_ -= std::exchange(next_, 0);
  }
  while (filled_ - next_ < bytes) {
    UDTCAT_TRY(const std::size_t got, wire_.read_some(std::span(arrived_).subspan(filled_)));
    if (got == 0) return false;
    filled_ += got;
  }
  return true;
}

}  // namespace udtcat::trees
