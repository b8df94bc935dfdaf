// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/frame.hpp"

#include <algorithm>

#include "lib/connection/report_frame.hpp"
#include "lib/core/byte_order.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"

namespace udtcat::connection {
namespace {

enum class FrameType : std::uint8_t {
  open = 0x01,
  data = 0x02,
  fin = 0x03,
  receipt = 0x04,
  credit = 0x05,
  reset = 0x06,
  early = 0x07,
  ping = 0x10,
  pong = 0x11,
  close = 0x12,
  report = 0x13,
};

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

void write_header(std::span<std::byte> out, FrameType type, StreamId stream, std::size_t length_bytes) {
  core::store_be<std::uint32_t>(out,
                                (static_cast<std::uint32_t>(type) << 24) | static_cast<std::uint32_t>(length_bytes));
  core::store_be<std::uint32_t>(out.subspan(4), stream);
}

/// Grows `out` by a frame and gives its body to fill.
std::span<std::byte> grow(std::vector<std::byte>& out, FrameType type, StreamId stream, std::size_t length_bytes) {
  const std::size_t start = out.size();
  out.resize(start + kFrameHeaderBytes + length_bytes);
  auto frame = std::span(out).subspan(start);
  write_header(frame, type, stream, length_bytes);
  return frame.subspan(kFrameHeaderBytes);
}

void append_number(std::vector<std::byte>& out, FrameType type, StreamId stream, std::uint64_t value) {
  core::store_be<std::uint64_t>(grow(out, type, stream, sizeof value), value);
}

std::span<const std::byte> cut_text(std::string_view text) {
  return std::as_bytes(std::span(text.substr(0, kMaxTextBytes)));
}

tl::unexpected<Error> malformed(const char* why) { return fail(Errc::protocol_violated, "read frame", why); }

using Body = decltype(Frame::body);

template <typename Number>
Result<Body> decode_number(std::span<const std::byte> body) {
  if (body.size() != sizeof(std::uint64_t)) return malformed("a number frame is not 8 bytes long");
  return Number{core::load_be<std::uint64_t>(body)};
}

std::string shown(std::span<const std::byte> text) { return core::printable(core::as_text(text), kMaxTextBytes); }

Result<Body> decode_reset(std::span<const std::byte> body) {
  if (body.size() < 5 || body.size() > 5 + kMaxTextBytes) return malformed("a reset has the wrong length");
  const auto cause = std::to_integer<std::uint8_t>(body[0]);
  if (cause < std::uint8_t(ResetCause::read_failed) || cause > std::uint8_t(ResetCause::interrupted))
    return malformed("a reset has an unknown cause");
  return Reset{static_cast<ResetCause>(cause), core::load_be<std::uint32_t>(body.subspan(1)), shown(body.subspan(5))};
}

Result<Body> decode_close(std::span<const std::byte> body) {
  if (body.empty() || body.size() > 1 + kMaxTextBytes) return malformed("a close has the wrong length");
  const auto reason = std::to_integer<std::uint8_t>(body[0]);
  if (reason > std::uint8_t(CloseReason::failed)) return malformed("a close has an unknown reason");
  return Close{static_cast<CloseReason>(reason), shown(body.subspan(1))};
}

Result<Body> decode_open(std::span<const std::byte> body) {
  const std::string_view service = core::as_text(body);
  if (!service.empty() && !is_service_name(service)) return malformed("an open names no service");
  return Open{std::string(service)};
}

Result<Body> decode_body(FrameType type, std::span<const std::byte> body) {
  switch (type) {
    case FrameType::open:
      return decode_open(body);
    case FrameType::data:
      if (body.empty()) return malformed("a data frame is empty");
      return Data{body};
    case FrameType::fin:
      return decode_number<Fin>(body);
    case FrameType::receipt:
      return decode_number<Receipt>(body);
    case FrameType::credit:
      return decode_number<CreditGrant>(body);
    case FrameType::reset:
      return decode_reset(body);
    case FrameType::early:
      if (body.size() <= sizeof(std::uint64_t)) return malformed("an early frame has no bytes");
      return Early{core::load_be<std::uint64_t>(body), body.subspan(sizeof(std::uint64_t))};
    case FrameType::ping:
      return decode_number<Ping>(body);
    case FrameType::pong:
      return decode_number<Pong>(body);
    case FrameType::close:
      return decode_close(body);
    case FrameType::report: {
      UDTCAT_TRY(const EndStats stats, decode_report(body));
      return Report{stats};
    }
  }
  return malformed("a frame has an unknown type");
}

bool speaks_of_session(FrameType type) {
  return type == FrameType::ping || type == FrameType::pong || type == FrameType::close || type == FrameType::report;
}

}  // namespace

void append_frame(std::vector<std::byte>& out, const Frame& frame) {
  const StreamId id = frame.stream;
  std::visit(
      Overloaded{
          [&](const Open& open) {
            const auto service = std::as_bytes(std::span(open.service));
            std::ranges::copy(service, grow(out, FrameType::open, id, service.size()).begin());
          },
          [&](const Data& data) {
            std::ranges::copy(data.bytes, grow(out, FrameType::data, id, data.bytes.size()).begin());
          },
          [&](const Fin& fin) { append_number(out, FrameType::fin, id, fin.total_bytes); },
          [&](const Receipt& receipt) { append_number(out, FrameType::receipt, id, receipt.total_bytes); },
          [&](const CreditGrant& grant) { append_number(out, FrameType::credit, id, grant.limit_bytes); },
          [&](const Early& early) {
            auto body = grow(out, FrameType::early, id, sizeof early.offset + early.bytes.size());
            core::store_be<std::uint64_t>(body, early.offset);
            std::ranges::copy(early.bytes, body.subspan(sizeof early.offset).begin());
          },
          [&](const Reset& reset) {
            const auto text = cut_text(reset.text);
            auto body = grow(out, FrameType::reset, id, 5 + text.size());
            body[0] = static_cast<std::byte>(reset.cause);
            core::store_be<std::uint32_t>(body.subspan(1), reset.errno_value);
            std::ranges::copy(text, body.subspan(5).begin());
          },
          [&](const Ping& ping) { append_number(out, FrameType::ping, id, ping.token); },
          [&](const Pong& pong) { append_number(out, FrameType::pong, id, pong.token); },
          [&](const Close& close) {
            const auto text = cut_text(close.text);
            auto body = grow(out, FrameType::close, id, 1 + text.size());
            body[0] = static_cast<std::byte>(close.reason);
            std::ranges::copy(text, body.subspan(1).begin());
          },
          [&](const Report& report) { encode_report(report.stats, grow(out, FrameType::report, id, kReportBytes)); },
      },
      frame.body);
}

bool is_open(std::span<const std::byte> frame) { return frame[0] == static_cast<std::byte>(FrameType::open); }

void write_data_header(std::span<std::byte, kFrameHeaderBytes> out, StreamId stream, std::size_t length_bytes) {
  write_header(out, FrameType::data, stream, length_bytes);
}

Result<std::optional<Frame>> FrameReader::next() {
  if (rest_.empty()) return std::nullopt;
  if (rest_.size() < kFrameHeaderBytes) return malformed("a frame header is cut short");
  const auto word = core::load_be<std::uint32_t>(rest_);
  const auto type = static_cast<FrameType>(word >> 24);
  const std::size_t length = word & 0x00ff'ffff;
  const auto stream = core::load_be<std::uint32_t>(rest_.subspan(4));
  if (length > rest_.size() - kFrameHeaderBytes) return malformed("a frame is longer than its block");
  if (speaks_of_session(type) != (stream == kSessionStream)) return malformed("a frame speaks of the wrong stream");
  UDTCAT_TRY(Body body, decode_body(type, rest_.subspan(kFrameHeaderBytes, length)));
  rest_ = rest_.subspan(kFrameHeaderBytes + length);
  return Frame{stream, std::move(body)};
}

}  // namespace udtcat::connection
