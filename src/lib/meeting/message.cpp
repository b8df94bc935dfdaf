// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/message.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/byte_packing.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/text.hpp"
#include "lib/meeting/signed_messages.hpp"

namespace udtcat::meeting {

namespace {

enum class MessageType : std::uint8_t {
  register_ = 0x01,   // spec: meet.md §4, as the others
  challenge = 0x02,   // spec: likewise
  proof = 0x03,       // spec: likewise
  registered = 0x04,  // spec: likewise
  ask = 0x05,         // spec: likewise
  offer = 0x06,       // spec: likewise
  answer = 0x07,      // spec: likewise
  answered = 0x08,    // spec: likewise
  again = 0x09,       // spec: likewise
  connect = 0x0a,     // spec: likewise
  refused = 0x0f,     // spec: likewise
};

constexpr std::size_t kHeaderBytes = 4;  // spec: meet.md §4
constexpr std::uint8_t kByTcp = 1;       // spec: meet.md §4

void write_relay(core::ByteWriter& writer, const Relay& relay) {
  writer.number(relay.by_tcp ? kByTcp : std::uint8_t{0});
  writer.number(relay.udp_port);
  writer.bytes(relay.token);
}

/// Its type is written, and its body, by the overload of each kind.
struct BodyWriter {
  core::ByteWriter& body;

  MessageType operator()(const Register& message) const {
    body.bytes(message.name.bytes());
    return MessageType::register_;
  }
  MessageType operator()(const Challenge& message) const {
    body.bytes(message.nonce);
    return MessageType::challenge;
  }
  MessageType operator()(const Proof& message) const {
    body.bytes(message.signature);
    return MessageType::proof;
  }
  MessageType operator()(const Registered&) const { return MessageType::registered; }
  MessageType operator()(const Ask& message) const {
    body.bytes(message.name.bytes());
    body.bytes(message.offer);
    return MessageType::ask;
  }
  MessageType operator()(const Offered& message) const {
    write_relay(body, message.relay);
    body.bytes(message.offer);
    return MessageType::offer;
  }
  MessageType operator()(const AnswerToPlace& message) const {
    body.bytes(message.answer);
    return MessageType::answer;
  }
  MessageType operator()(const Answered& message) const {
    write_relay(body, message.relay);
    body.bytes(message.answer);
    return MessageType::answered;
  }
  MessageType operator()(const Again&) const { return MessageType::again; }
  MessageType operator()(const Connect&) const { return MessageType::connect; }
  MessageType operator()(const Refused& message) const {
    body.number(static_cast<std::uint8_t>(message.why));
    body.text(std::string_view(message.text).substr(0, kMaxReasonBytes));
    return MessageType::refused;
  }
};

PublicKey read_name(core::ByteReader& body) { return PublicKey(body.array<PublicKey::kBytes>()); }

Relay read_relay(core::ByteReader& body) {
  Relay relay;
  relay.by_tcp = (body.number<std::uint8_t>() & kByTcp) != 0;
  relay.udp_port = body.number<std::uint16_t>();
  relay.token = body.array<std::tuple_size_v<Relay::Token>>();
  return relay;
}

/// The rest: a signed message. Empty where it is too long.
std::vector<std::byte> read_signed(core::ByteReader& body) {
  const std::size_t bytes = body.rest_bytes();
  if (bytes > kMaxSignedBytes) return {};
  const auto rest = body.bytes(bytes);
  return {rest.begin(), rest.end()};
}

std::optional<Message> read_refused(core::ByteReader& body) {
  const auto why = body.number<std::uint8_t>();
  if (why < static_cast<std::uint8_t>(Refused::Why::not_registered) ||
      why > static_cast<std::uint8_t>(Refused::Why::not_allowed) || body.rest_bytes() > kMaxReasonBytes)
    return std::nullopt;
  return Refused{static_cast<Refused::Why>(why), std::string(core::as_text(body.bytes(body.rest_bytes())))};
}

std::optional<Message> read_body(MessageType type, core::ByteReader& body) {
  switch (type) {
    case MessageType::register_:
      return Register{read_name(body)};
    case MessageType::challenge:
      return Challenge{body.array<sizeof(Challenge::nonce)>()};
    case MessageType::proof:
      return Proof{body.array<crypto::kSignatureBytes>()};
    case MessageType::registered:
      return Registered{};
    case MessageType::ask: {
      PublicKey name = read_name(body);
      return Ask{name, read_signed(body)};
    }
    case MessageType::offer: {
      const Relay relay = read_relay(body);
      return Offered{relay, read_signed(body)};
    }
    case MessageType::answer:
      return AnswerToPlace{read_signed(body)};
    case MessageType::answered: {
      const Relay relay = read_relay(body);
      return Answered{relay, read_signed(body)};
    }
    case MessageType::again:
      return Again{};
    case MessageType::connect:
      return Connect{};
    case MessageType::refused:
      return read_refused(body);
  }
  return std::nullopt;
}

tl::unexpected<Error> bad_meeting_message(const char* why) {
  return fail(Errc::protocol_violated, "read a message of a meeting place", why);
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  std::vector<std::byte> bytes(kHeaderBytes);
  core::ByteWriter body(bytes);
  const MessageType type = std::visit(BodyWriter{body}, message);
  UDTCAT_INVARIANT(bytes.size() <= kMaxMessageBytes, "signed messages are shorter");
  core::store_be(std::span(bytes), static_cast<std::uint32_t>(bytes.size() - kHeaderBytes));
  bytes.front() = static_cast<std::byte>(type);
  return bytes;
}

Result<std::optional<Message>> MessageReader::next() {
  if (waiting_.size() < kHeaderBytes) return std::nullopt;
  constexpr std::uint32_t kLengthMask = 0xffffff;  // spec: meet.md §4
  const auto type = static_cast<MessageType>(waiting_.front());
  const std::size_t length = core::load_be<std::uint32_t>(waiting_) & kLengthMask;
  if (length > kMaxMessageBytes - kHeaderBytes) return bad_meeting_message("it is too long");
  if (waiting_.size() < kHeaderBytes + length) return std::nullopt;
  core::ByteReader body(std::span<const std::byte>(waiting_).subspan(kHeaderBytes, length));
  auto message = read_body(type, body);
  if (!message || !body.is_whole()) return bad_meeting_message("it is malformed, or of an unknown type");
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + length));
  return message;
}

}  // namespace udtcat::meeting
