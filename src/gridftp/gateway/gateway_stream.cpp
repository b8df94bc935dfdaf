// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/gateway_stream.hpp"

#include <algorithm>
#include <cstring>

#include <boost/asio/post.hpp>

#include "gridftp/dialogue/data_port.hpp"
#include "lib/core/printable.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::string_view kProtocol = "udtcat-gridftp ";
constexpr std::string_view kGreetingVersion = "1 ";  // spec: docs/spec/gridftp.md §6
constexpr std::string_view kControl = "control";
constexpr std::string_view kData = "data ";

tl::unexpected<Error> no_greeting(std::string_view line, std::string why) {
  return fail(Errc::stream_refused, "take \"" + core::printable(line, kMaxGreetingBytes) + "\" for a stream of GridFTP",
              std::move(why));
}

}  // namespace

std::string to_line(const GatewayGreeting& greeting) {
  std::string line{kProtocol};
  line += kGreetingVersion;
  line += greeting.data ? std::string(kData) + to_data_port(*greeting.data) : std::string(kControl);
  return line + '\n';
}

Result<GatewayGreeting> parse_gateway_greeting(std::string_view line) {
  std::string_view rest = line;
  if (!rest.starts_with(kProtocol)) return no_greeting(line, "the other end is no gridftp gateway");
  rest.remove_prefix(kProtocol.size());
  if (!rest.starts_with(kGreetingVersion)) return no_greeting(line, "this gateway speaks version 1");
  rest.remove_prefix(kGreetingVersion.size());
  if (rest == kControl) return GatewayGreeting{};
  if (!rest.starts_with(kData)) return no_greeting(line, "it is neither control nor data");
  const auto endpoint = parse_data_port(rest.substr(kData.size()));
  if (!endpoint) return no_greeting(line, "it names no address");
  return GatewayGreeting{*endpoint};
}

LocalStream::ReadResult PrefixedStream::read_some(std::span<std::byte> into) {
  const std::size_t bytes = std::min(greeting_.size() - given_bytes_, into.size());
  if (bytes == 0) return inner().read_some(into);
  std::memcpy(into.data(), greeting_.data() + given_bytes_, bytes);
  given_bytes_ += bytes;
  return {.state = ReadState::data, .bytes = bytes};
}

DeferredStream::DeferredStream(boost::asio::io_context& io, std::size_t most_line_bytes, LineHandler on_line)
    : io_(io), most_line_bytes_(most_line_bytes), on_line_(std::move(on_line)) {}

LocalStream::ReadResult DeferredStream::read_some(std::span<std::byte> into) {
  return local_ ? local_->read_some(into) : ReadResult{.state = ReadState::would_block};
}

void DeferredStream::async_wait_readable(WaitHandler handler) {
  if (local_) return local_->async_wait_readable(std::move(handler));
  waiting_ = std::move(handler);
}

void DeferredStream::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  if (local_) return local_->async_write_some(from, std::move(handler));
  if (on_line_) return take_line(from, std::move(handler));
  unwritten_ = from;
  writing_ = std::move(handler);
}

void DeferredStream::take_line(std::span<const std::byte> from, WriteHandler handler) {
  const auto room = from.first(std::min(from.size(), most_line_bytes_ - line_.size()));
  const auto end = std::ranges::find(room, std::byte{'\n'});
  const bool ended = end != room.end();
  const std::size_t bytes = static_cast<std::size_t>(end - room.begin()) + (ended ? 1 : 0);
  for (const std::byte each : room.first(bytes)) line_ += static_cast<char>(each);
  const auto done = [handler = std::move(handler), bytes] { handler({}, bytes); };
  boost::asio::post(io_, lifetime_.guard(done));
  if (ended) {
    line_.pop_back();
    tell(std::move(line_));
  } else if (line_.size() == most_line_bytes_) {
    tell(fail(Errc::stream_refused, "take a stream of GridFTP", "its first line is too long"));
  }
}

void DeferredStream::tell(Result<std::string> line) {
  boost::asio::post(io_, lifetime_.guard([this, on_line = std::exchange(on_line_, nullptr), line = std::move(line)] {
    on_line(line, [weak = std::weak_ptr(self_)](std::unique_ptr<LocalStream> local) {
      if (const auto stream = weak.lock()) return (*stream)->attach(std::move(local));
      local->abort();
    });
  }));
}

void DeferredStream::async_finish(FinishHandler handler) {
  if (local_) return local_->async_finish(std::move(handler));
  finishing_ = std::move(handler);
  if (on_line_) tell(fail(Errc::stream_refused, "take a stream of GridFTP", "it ended before it said what it is"));
}

void DeferredStream::attach(std::unique_ptr<LocalStream> local) {
  local_ = std::move(local);
  if (waiting_) local_->async_wait_readable(std::exchange(waiting_, nullptr));
  if (writing_) local_->async_write_some(unwritten_, std::exchange(writing_, nullptr));
  if (finishing_) local_->async_finish(std::exchange(finishing_, nullptr));
}

void DeferredStream::abort() {
  lifetime_.end();
  self_.reset();
  if (local_) local_->abort();
}

}  // namespace udtcat::gridftp
