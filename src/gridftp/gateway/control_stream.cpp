// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/control_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/text.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kPieceBytes = 16'384;  // guess: a marker of many ranges

}  // namespace

ControlStream::ControlStream(boost::asio::io_context& io, std::unique_ptr<LocalStream> socket, LocalPeer local,
                             std::shared_ptr<ControlPorts> ports, ViolationHandler on_violation)
    : ForwardingStream(std::move(socket)),
      io_(io),
      ports_(std::move(ports)),
      on_violation_(std::move(on_violation)),
      relay_(local, *ports_),
      piece_(kPieceBytes) {}

std::error_code ControlStream::report(const Status& status) {
  if (status) return {};
  on_violation_(status.error());
  return status.error().code;
}

LocalStream::ReadResult ControlStream::read_some(std::span<std::byte> into) {
  while (given_bytes_ == out_.to_session.size()) {
    out_.to_session.clear();
    given_bytes_ = 0;
    const ReadResult read = inner().read_some(piece_);
    if (read.state != ReadState::data) return read;
    const auto error = report(relay_.from_local(core::as_text(std::span(piece_).first(read.bytes)), out_));
    if (error) return {.state = ReadState::failed, .error = error};
    write_on();  // the relay may have answered
  }
  const std::size_t bytes = std::min(into.size(), out_.to_session.size() - given_bytes_);
  std::memcpy(into.data(), out_.to_session.data() + given_bytes_, bytes);
  given_bytes_ += bytes;
  return {.state = ReadState::data, .bytes = bytes};
}

void ControlStream::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  writing_ = std::move(handler);
  writing_bytes_ = from.size();
  if (const auto error = report(relay_.from_session(core::as_text(from), out_))) return complete_calls(error);
  write_on();
  if (!writes_) complete_calls({});
}

void ControlStream::async_finish(FinishHandler handler) {
  finishing_ = std::move(handler);
  if (!writes_) complete_calls({});
}

void ControlStream::write_on() {
  if (writes_ || out_.to_local.empty()) return;
  being_written_ = std::exchange(out_.to_local, {});
  written_bytes_ = 0;
  writes_ = true;
  on_written({}, 0);
}

void ControlStream::on_written(std::error_code error, std::size_t bytes) {
  written_bytes_ += bytes;
  const auto rest = std::as_bytes(std::span(being_written_)).subspan(written_bytes_);
  if (!error && !rest.empty())
    return inner().async_write_some(
        rest, lifetime_.guard([this](std::error_code why, std::size_t more) { on_written(why, more); }));
  writes_ = false;
  if (!error) write_on();
  if (!writes_) complete_calls(error);
}

/// Calls the waiting handlers: all is written, or why not. Posted, as this may run inside the call that gave the
/// handler.
void ControlStream::complete_calls(std::error_code error) {
  if (writing_)
    boost::asio::post(io_, lifetime_.guard([handler = std::exchange(writing_, nullptr), error, bytes = writing_bytes_] {
      handler(error, error ? 0 : bytes);
    }));
  if (!finishing_) return;
  if (!error) return inner().async_finish(std::exchange(finishing_, nullptr));
  boost::asio::post(io_, lifetime_.guard([handler = std::exchange(finishing_, nullptr), error] { handler(error); }));
}

void ControlStream::abort() {
  lifetime_.end();
  inner().abort();
}

}  // namespace udtcat::gridftp
