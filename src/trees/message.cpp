// SPDX-License-Identifier: Apache-2.0
#include "trees/message.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lib/core/byte_order.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "trees/disk/tree_hash.hpp"
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

const NumberedCause& numbered(Errc cause) {
  const auto* found = std::ranges::find(kCauses, cause, &NumberedCause::there);
  UDTCAT_INVARIANT(found != kCauses.end(), "an end gives one of the four causes");
  return *found;
}

// The bodies, in the order of the table.

void encode_body(const Hello& hello, core::ByteWriter& body) { encode_hello(hello, body); }
void encode_body(const Entry& entry, core::ByteWriter& body) { encode_entry(entry, body); }

void encode_body(const Data& data, core::ByteWriter& body) {
  body.expect(body_bytes_of(data));
  encode_data_head(data, body);
  for (const Extent& each : data.extents) {
    encode_extent_head(each, body);
    body.bytes(each.bytes);
  }
}

void encode_body(const FileDone& done, core::ByteWriter& body) {
  body.number(done.entry);
  body.bytes(done.digest);
  encode_fingerprint(done.fingerprint, body);
}

void encode_body(const Hashes& hashes, core::ByteWriter& body) {
  body.number(hashes.entry);
  body.number(static_cast<std::uint8_t>(hashes.last));
  body.number(hashes.zeros);
  for (const files::Digest& each : hashes.digests) body.bytes(each);
}

/// The fields that a short message has, in this order.
template <typename Short>
void encode_body(const Short& message, core::ByteWriter& body) {
  if constexpr (requires { message.cause; }) body.number(numbered(message.cause).number);
  if constexpr (requires { message.entry; }) body.number(message.entry);
  if constexpr (requires { message.entries; }) body.number(message.entries);
  if constexpr (requires { message.bytes; }) body.number(message.bytes);
  if constexpr (requires { message.count; }) {
    body.number(message.chunk);
    body.number(message.count);
  }
  if constexpr (requires { message.digest; })
    if (message.digest) body.bytes(*message.digest);
  if constexpr (requires { message.reason; })
    body.sized_text<std::uint16_t>(core::printable(message.reason, kMaxReasonBytes));
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

Result<Message> decode_file_done(core::ByteReader body) {
  UDTCAT_TRY(const EntryId entry, decode_id(body));
  FileDone done{.entry = entry, .digest = body.array<kDigestBytes>()};
  UDTCAT_TRY(done.fingerprint, decode_fingerprint(body));
  if (!body.is_whole()) return message_violation("WHOLE of another length");
  return done;
}

Result<std::string> decode_reason(core::ByteReader& body) {
  const std::string reason = body.sized_text<std::uint16_t>();
  if (reason.size() > kMaxReasonBytes) return message_violation(fmt::format("a reason of {} bytes", reason.size()));
  return core::printable(reason, kMaxReasonBytes);
}

Result<Errc> decode_cause(core::ByteReader& body) {
  const auto number = body.number<std::uint8_t>();
  const auto* cause = std::ranges::find(kCauses, number, &NumberedCause::number);
  if (cause == kCauses.end()) return message_violation(fmt::format("a failure of cause {}", number));
  return cause->there;
}

/// Reads the fields in the order in which encode_body() writes them.
template <typename Short>
Result<Message> decode_short(core::ByteReader body) {
  Short message{};
  if constexpr (requires { message.cause; }) {
    UDTCAT_TRY(message.cause, decode_cause(body));
  }
  if constexpr (requires { message.entry; }) {
    UDTCAT_TRY(message.entry, decode_id(body));
  }
  if constexpr (requires { message.entries; }) {
    UDTCAT_TRY(message.entries, decode_id(body));
  }
  if constexpr (requires { message.bytes; }) message.bytes = body.number<std::uint64_t>();
  if constexpr (requires { message.digest; })
    if (body.rest_bytes() > 0) message.digest = body.array<kDigestBytes>();
  if constexpr (requires { message.reason; }) {
    UDTCAT_TRY(message.reason, decode_reason(body));
  }
  if (!body.is_whole()) return message_violation("a message of another length");
  return message;
}

struct Decoder {
  MessageType type;
  Result<Message> (*decode)(core::ByteReader body);
};
// In the order of the variant.
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
     {MessageType::missed, decode_short<Missed>},
     {MessageType::up_to_date, decode_short<UpToDate>},
     {MessageType::want, decode_short<Want>},
     {MessageType::hashes, decode_hashes},
     {MessageType::refused, decode_short<Refused>},
     {MessageType::done, decode_short<Done>},
     {MessageType::not_stored, decode_short<NotStored>},
     {MessageType::failed, decode_short<Failed>}}};

Result<const Decoder*> decoder_of(std::uint8_t type) {
  const auto* const found = std::ranges::find(kDecoders, static_cast<MessageType>(type), &Decoder::type);
  if (found == kDecoders.end()) return message_violation(fmt::format("unknown type {:#04x}", type));
  return found;
}

}  // namespace

Error error_of(const Failed& failed) {
  return {numbered(failed.cause).here, "the other end", core::printable(failed.reason, kMaxReasonBytes)};
}

void encode(const Message& message, std::vector<std::byte>& to) {
  const std::size_t begin = to.size();
  to.resize(begin + kHeaderBytes);
  core::ByteWriter body(to);
  std::visit([&body](const auto& each) { encode_body(each, body); }, message);
  encode_header(kDecoders.at(message.index()).type, to.size() - begin - kHeaderBytes, std::span(to).subspan(begin));
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
