// SPDX-License-Identifier: Apache-2.0
#include "trees/message_io.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "lib/core/try.hpp"

namespace udtcat::trees {

namespace {

constexpr std::size_t kGatheredBytes = 65'536;  // guess: a quarter of a block

tl::unexpected<Error> cut_short() {
  return fail(Errc::protocol_violated, "read a message", "the stream ends within one");
}

static_assert(kHeaderBytes + kMaxBodyBytes <= BlockingStream::kRingBytes, "a message is read where it lies");

}  // namespace

Status MessageWriter::put(const Message& message) {
  const core::MutexLock lock(mutex_);
  encode(message, gathered_);
  return write_if_much();
}

Status MessageWriter::put_data(const Data& data, std::vector<std::byte>& chunk) {
  const core::MutexLock lock(mutex_);
  const bool is_full = data.extents.size() == 1 && data.extents.front().bytes.size() == chunk.size();
  if (!is_full || chunk.size() < kGatheredBytes) {
    encode(data, gathered_);
    return write_if_much();
  }
  encode_head(data, gathered_);
  UDTCAT_CHECK(write_out());
  UDTCAT_CHECK(stream_.write(std::move(chunk)));
  chunk = stream_.spare();
  return {};
}

Result<std::size_t> MessageWriter::put_entry(const Entry& entry) {
  const core::MutexLock lock(mutex_);
  const std::size_t before = gathered_.size();
  encode(entry, gathered_);
  const std::size_t bytes = gathered_.size() - before - kHeaderBytes;
  UDTCAT_CHECK(write_if_much());
  return bytes;
}

Status MessageWriter::flush() {
  const core::MutexLock lock(mutex_);
  return write_out();
}

Status MessageWriter::write_if_much() { return gathered_.size() < kGatheredBytes ? Status() : write_out(); }

Status MessageWriter::write_out() { return stream_.write(std::exchange(gathered_, {})); }

void tell_failure(const Error& error, MessageWriter& writer) {
  const bool is_ours = error.code == Errc::local_read_failed || error.code == Errc::local_write_failed ||
                       error.code == Errc::stream_refused || error.code == Errc::interrupted;
  // A peer that breaks the protocol, or asks for what cannot be, is refused; one that is gone is told nothing.
  if (!is_ours && error.code != Errc::protocol_violated && error.code != Errc::out_of_resources &&
      error.code != Errc::bad_argument)
    return;
  if (writer.put(Failed{is_ours ? error.code : Errc::stream_refused, error.message()})) std::ignore = writer.flush();
}

Result<std::optional<Message>> MessageReader::next() {
  stream_.consume(std::exchange(message_bytes_, 0));
  UDTCAT_TRY(const std::size_t there, stream_.await(kHeaderBytes));
  if (there == 0) return std::nullopt;
  if (there < kHeaderBytes) return cut_short();
  std::array<std::byte, kHeaderBytes> header{};
  std::ranges::copy(stream_.peek(kHeaderBytes, scratch_), header.begin());
  UDTCAT_TRY(body_bytes_, trees::body_bytes(std::span(header)));
  UDTCAT_TRY(const std::size_t whole, stream_.await(kHeaderBytes + body_bytes_));
  if (whole < kHeaderBytes + body_bytes_) return cut_short();
  message_bytes_ = kHeaderBytes + body_bytes_;
  const auto body = stream_.peek(message_bytes_, scratch_).subspan(kHeaderBytes);
  UDTCAT_TRY(auto message, decode(std::to_integer<std::uint8_t>(header.front()), body));
  return message;
}

void MessageReader::drain() {
  for (auto rest = next(); rest && *rest; rest = next()) {
  }
}

}  // namespace udtcat::trees
