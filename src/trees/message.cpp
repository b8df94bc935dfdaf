// SPDX-License-Identifier: Apache-2.0
#include "trees/message.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include <fmt/format.h>

#include "lib/core/byte_order.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "trees/message_body.hpp"

namespace udtcat::trees {

namespace {

enum class MessageType : std::uint8_t {  // spec: docs/spec/trees.md §1
  hello = 0x01,
  entry = 0x10,
  data = 0x11,
  zeros = 0x12,
  copy_chunks = 0x13,
  file_done = 0x14,
  dropped = 0x15,
  end = 0x16,
  totals = 0x17,
  missed = 0x18,
  up_to_date = 0x20,
  want = 0x21,
  hashes = 0x22,
  refused = 0x23,
  done = 0x24,
  not_stored = 0x25,
  failed = 0x30,
};

constexpr std::uint64_t kMaxChunks = 1ULL << 43;  // spec: docs/spec/trees.md §1: of the largest file
constexpr std::size_t kDigestBytes = std::tuple_size_v<files::Digest>;
constexpr std::size_t kDataHeadBytes = 8 + 8 + kDigestBytes;  // spec: docs/spec/trees.md §1
constexpr std::size_t kExtentHeadBytes = 4 + 4;               // spec: docs/spec/trees.md §1

struct NumberedCause {
  std::uint8_t number;  // spec: docs/spec/stream.md §2
  Errc there;
  Errc here;
};
constexpr std::array<NumberedCause, 4> kCauses{{{1, Errc::local_read_failed, Errc::remote_read_failed},
                                                {2, Errc::local_write_failed, Errc::remote_write_failed},
                                                {4, Errc::stream_refused, Errc::stream_refused},
                                                {5, Errc::interrupted, Errc::peer_interrupted}}};

// The bodies, in the order of the table.

MessageType encode_body(const Hello& hello, core::ByteWriter& body) {
  encode_hello(hello, body);
  return MessageType::hello;
}
MessageType encode_body(const Entry& entry, core::ByteWriter& body) {
  encode_entry(entry, body);
  return MessageType::entry;
}

void encode_header(MessageType type, std::size_t body_bytes, std::span<std::byte> into) {
  UDTCAT_INVARIANT(body_bytes <= kMaxBodyBytes, "the caller keeps the limits");
  core::store_be(into, static_cast<std::uint32_t>(body_bytes));
  into.front() = static_cast<std::byte>(type);
}

std::size_t body_bytes_of(const Data& data) {
  std::size_t bytes = kDataHeadBytes;
  for (const Extent& each : data.extents) bytes += kExtentHeadBytes + each.bytes.size();
  return bytes;
}

void encode_data_head(const Data& data, core::ByteWriter& body) {
  body.number(data.entry);
  body.number(data.chunk);
  body.bytes(data.digest);
}

void encode_extent_head(const Extent& extent, core::ByteWriter& body) {
  body.number(extent.offset);
  body.number(static_cast<std::uint32_t>(extent.bytes.size()));
}

MessageType encode_body(const Data& data, core::ByteWriter& body) {
  body.expect(body_bytes_of(data));
  encode_data_head(data, body);
  for (const Extent& each : data.extents) {
    encode_extent_head(each, body);
    body.bytes(each.bytes);
  }
  return MessageType::data;
}

template <typename Run>
MessageType encode_run(MessageType type, const Run& run, core::ByteWriter& body) {
  body.number(run.entry);
  body.number(run.chunk);
  body.number(run.count);
  return type;
}
MessageType encode_body(const Zeros& run, core::ByteWriter& body) { return encode_run(MessageType::zeros, run, body); }
MessageType encode_body(const CopyChunks& run, core::ByteWriter& body) {
  return encode_run(MessageType::copy_chunks, run, body);
}

MessageType encode_body(const FileDone& done, core::ByteWriter& body) {
  body.number(done.entry);
  body.bytes(done.digest);
  encode_fingerprint(done.fingerprint, body);
  return MessageType::file_done;
}

MessageType encode_reason(MessageType type, EntryId entry, const std::string& reason, core::ByteWriter& body) {
  body.number(entry);
  body.sized_text<std::uint16_t>(core::printable(reason, kMaxReasonBytes));
  return type;
}
MessageType encode_body(const Dropped& dropped, core::ByteWriter& body) {
  return encode_reason(MessageType::dropped, dropped.entry, dropped.reason, body);
}
MessageType encode_body(const Refused& refused, core::ByteWriter& body) {
  return encode_reason(MessageType::refused, refused.entry, refused.reason, body);
}

MessageType encode_body(const End& end, core::ByteWriter& body) {
  body.number(end.entries);
  return MessageType::end;
}
MessageType encode_body(const Totals& totals, core::ByteWriter& body) {
  body.number(totals.entries);
  body.number(totals.bytes);
  return MessageType::totals;
}
MessageType encode_words(MessageType type, const std::string& reason, core::ByteWriter& body) {
  body.sized_text<std::uint16_t>(core::printable(reason, kMaxReasonBytes));
  return type;
}
MessageType encode_body(const Missed& missed, core::ByteWriter& body) {
  return encode_words(MessageType::missed, missed.reason, body);
}
MessageType encode_body(const NotStored& not_stored, core::ByteWriter& body) {
  return encode_words(MessageType::not_stored, not_stored.reason, body);
}
MessageType encode_body(const Done& done, core::ByteWriter& body) {
  body.number(done.entries);
  return MessageType::done;
}

MessageType encode_body(const UpToDate& done, core::ByteWriter& body) {
  body.number(done.entry);
  if (done.digest) body.bytes(*done.digest);
  return MessageType::up_to_date;
}
MessageType encode_body(const Want& want, core::ByteWriter& body) {
  body.number(want.entry);
  return MessageType::want;
}

MessageType encode_body(const Hashes& hashes, core::ByteWriter& body) {
  body.number(hashes.entry);
  body.number(static_cast<std::uint8_t>(hashes.last));
  body.number(hashes.zeros);
  for (const files::Digest& each : hashes.digests) body.bytes(each);
  return MessageType::hashes;
}

MessageType encode_body(const Failed& failed, core::ByteWriter& body) {
  const auto* cause = std::ranges::find(kCauses, failed.cause, &NumberedCause::there);
  UDTCAT_INVARIANT(cause != kCauses.end(), "an end gives one of the four causes");
  body.number(cause->number);
  body.sized_text<std::uint16_t>(core::printable(failed.reason, kMaxReasonBytes));
  return MessageType::failed;
}

/// The number of an entry, or of entries.
Result<std::uint64_t> decode_id(core::ByteReader& body) {
  const auto number = body.number<std::uint64_t>();
  if (number >= kEntryIds) return message_violation(fmt::format("entry {}", number));
  return number;
}

Result<Message> decode_data(core::ByteReader body) {
  UDTCAT_TRY(const EntryId entry, decode_id(body));
  Data data{.entry = entry, .chunk = body.number<std::uint64_t>(), .digest = {}, .extents = {}};
  data.digest = body.array<kDigestBytes>();
  if (data.chunk >= kMaxChunks) return message_violation("a chunk that no file has");
  std::uint64_t end = 0;
  while (body.rest_bytes() > 0) {
    Extent extent{.offset = body.number<std::uint32_t>(), .bytes = {}};
    const auto bytes = body.number<std::uint32_t>();
    if (bytes == 0 || extent.offset < end) return message_violation("an extent that is empty or behind another");
    end = std::uint64_t{extent.offset} + bytes;
    if (end > kChunkBytes) return message_violation("an extent that exceeds its chunk");
    extent.bytes = body.bytes(bytes);
    data.extents.push_back(extent);
  }
  if (!body.is_whole()) return message_violation("an extent that is cut");
  return data;
}

template <typename Run>
Result<Message> decode_run(core::ByteReader body) {
  UDTCAT_TRY(const EntryId entry, decode_id(body));
  const Run run{.entry = entry, .chunk = body.number<std::uint64_t>(), .count = body.number<std::uint64_t>()};
  if (!body.is_whole()) return message_violation("chunks of another length");
  const bool is_within = run.chunk < kMaxChunks && run.count <= kMaxChunks - run.chunk;
  if (run.count == 0 || !is_within) return message_violation("chunks that no file has");
  return run;
}

Result<Message> decode_hashes(core::ByteReader body) {
  UDTCAT_TRY(const EntryId entry, decode_id(body));
  Hashes hashes{.entry = entry, .last = false, .zeros = 0, .digests = {}};
  const auto last = body.number<std::uint8_t>();
  if (last > 1) return message_violation("a flag that is neither 0 nor 1");
  hashes.last = last == 1;
  hashes.zeros = body.number<std::uint64_t>();
  if (hashes.zeros > kMaxChunks) return message_violation("chunks that no file has");
  if (body.rest_bytes() % kDigestBytes != 0) return message_violation("a digest that is cut");
  hashes.digests.reserve(body.rest_bytes() / kDigestBytes);
  while (body.rest_bytes() > 0) hashes.digests.push_back(body.array<kDigestBytes>());
  if (!body.is_whole()) return message_violation("HASHES of another length");
  // An empty HASHES that is not the last makes no progress, and could repeat for ever.
  if (!hashes.last && hashes.zeros == 0 && hashes.digests.empty()) return message_violation("HASHES of no chunks");
  return hashes;
}

/// A message of words alone: MISSED, NOT_STORED.
template <typename Words>
Result<Message> decode_words(core::ByteReader body) {
  const std::string reason = body.sized_text<std::uint16_t>();
  if (!body.is_whole() || reason.size() > kMaxReasonBytes) return message_violation("a reason of another length");
  return Words{core::printable(reason, kMaxReasonBytes)};
}

Result<Message> decode_failed(core::ByteReader body) {
  const auto number = body.number<std::uint8_t>();
  std::string reason = body.sized_text<std::uint16_t>();
  if (!body.is_whole() || reason.size() > kMaxReasonBytes) return message_violation("FAILED of another length");
  const auto* cause = std::ranges::find(kCauses, number, &NumberedCause::number);
  if (cause == kCauses.end()) return message_violation(fmt::format("a failure of cause {}", number));
  return Failed{cause->there, core::printable(reason, kMaxReasonBytes)};
}

Result<Message> decode_file_done(core::ByteReader body) {
  UDTCAT_TRY(const EntryId entry, decode_id(body));
  FileDone done{.entry = entry, .digest = body.array<kDigestBytes>()};
  UDTCAT_TRY(done.fingerprint, decode_fingerprint(body));
  if (!body.is_whole()) return message_violation("WHOLE of another length");
  return done;
}

/// A message of one number, with a reason, a digest or a second number at most.
template <typename Short>
Result<Message> decode_short(core::ByteReader body) {
  UDTCAT_TRY(const std::uint64_t number, decode_id(body));
  Short message{};
  if constexpr (requires { message.entries; })
    message.entries = number;
  else
    message.entry = number;
  if constexpr (std::is_same_v<Short, Totals>) message.bytes = body.number<std::uint64_t>();
  if constexpr (std::is_same_v<Short, UpToDate>)
    if (body.rest_bytes() > 0) message.digest = body.array<kDigestBytes>();
  if constexpr (std::is_same_v<Short, Dropped> || std::is_same_v<Short, Refused>) {
    const std::string reason = body.sized_text<std::uint16_t>();
    if (reason.size() > kMaxReasonBytes) return message_violation(fmt::format("a reason of {} bytes", reason.size()));
    message.reason = core::printable(reason, kMaxReasonBytes);
  }
  if (!body.is_whole()) return message_violation("a message of another length");
  return message;
}

struct Decoder {
  MessageType type;
  Result<Message> (*decode)(core::ByteReader body);
};
constexpr std::array<Decoder, std::variant_size_v<Message>> kDecoders{
    {{MessageType::hello, [](core::ByteReader body) -> Result<Message> { return decode_hello(body); }},
     {MessageType::entry, [](core::ByteReader body) -> Result<Message> { return decode_entry(body); }},
     {MessageType::data, decode_data},
     {MessageType::zeros, decode_run<Zeros>},
     {MessageType::copy_chunks, decode_run<CopyChunks>},
     {MessageType::file_done, decode_file_done},
     {MessageType::dropped, decode_short<Dropped>},
     {MessageType::end, decode_short<End>},
     {MessageType::totals, decode_short<Totals>},
     {MessageType::missed, decode_words<Missed>},
     {MessageType::up_to_date, decode_short<UpToDate>},
     {MessageType::want, decode_short<Want>},
     {MessageType::hashes, decode_hashes},
     {MessageType::refused, decode_short<Refused>},
     {MessageType::done, decode_short<Done>},
     {MessageType::not_stored, decode_words<NotStored>},
     {MessageType::failed, decode_failed}}};

Result<const Decoder*> decoder_of(std::uint8_t type) {
  const auto* const found = std::ranges::find(kDecoders, static_cast<MessageType>(type), &Decoder::type);
  if (found == kDecoders.end()) return message_violation(fmt::format("unknown type {:#04x}", type));
  return found;
}

}  // namespace

Error error_of(const Failed& failed) {
  const auto* cause = std::ranges::find(kCauses, failed.cause, &NumberedCause::there);
  UDTCAT_INVARIANT(cause != kCauses.end(), "an end gives one of the four causes");
  return {cause->here, "the other end", core::printable(failed.reason, kMaxReasonBytes)};
}

void encode(const Message& message, std::vector<std::byte>& to) {
  const std::size_t begin = to.size();
  to.resize(begin + kHeaderBytes);
  core::ByteWriter body(to);
  const MessageType type = std::visit([&body](const auto& each) { return encode_body(each, body); }, message);
  encode_header(type, to.size() - begin - kHeaderBytes, std::span(to).subspan(begin));
}

void encode_head(const Data& data, std::vector<std::byte>& to) {
  const std::size_t begin = to.size();
  to.resize(begin + kHeaderBytes);
  encode_header(MessageType::data, body_bytes_of(data), std::span(to).subspan(begin));
  core::ByteWriter body(to);
  encode_data_head(data, body);
  encode_extent_head(data.extents.front(), body);
}

Result<std::size_t> body_bytes(std::span<const std::byte, kHeaderBytes> header) {
  // Bytes that are no message, such as a shell's greeting, are refused before anybody waits for the rest.
  UDTCAT_CHECK(decoder_of(std::to_integer<std::uint8_t>(header.front())));
  const std::size_t length = core::load_be<std::uint32_t>(header) & 0xff'ff'ffU;
  if (length > kMaxBodyBytes) return message_violation(fmt::format("{} bytes of one", length));
  return length;
}

Result<Message> decode(std::uint8_t type, std::span<const std::byte> body) {
  if (body.size() > kMaxBodyBytes) return message_violation(fmt::format("{} bytes of one", body.size()));
  UDTCAT_TRY(const Decoder* const decoder, decoder_of(type));
  return decoder->decode(core::ByteReader(body));
}

}  // namespace udtcat::trees
