#include "session/session.hpp"

#include "core/invariant.hpp"

namespace udtcat::session {

Result<std::unique_ptr<Session>> Session::create(Role role, Agreed agreed, std::optional<KeySchedule> keys,
                                                 std::unique_ptr<transport::Channel> channel) {
  std::unique_ptr<Session> session(new Session(role, agreed, std::move(keys), std::move(channel)));
  if (auto made = session->make_header_ciphers(); !made) return tl::unexpected(made.error());
  return session;
}

Session::Session(Role role, Agreed agreed, std::optional<KeySchedule> keys, std::unique_ptr<transport::Channel> channel)
    : role_(role), agreed_(agreed), keys_(std::move(keys)), channel_(std::move(channel)) {}

Status Session::make_header_ciphers() {
  if (!keys_) return {};
  const bool connector = role_ == Role::connector;
  for (const bool outgoing : {true, false}) {
    const auto direction = outgoing == connector ? Direction::from_connector : Direction::from_listener;
    auto key = keys_->header_key(direction);
    if (!key) return tl::unexpected(key.error());
    auto cipher = crypto::HeaderCipher::create(*key);
    if (!cipher) return tl::unexpected(cipher.error());
    (outgoing ? outgoing_headers_ : incoming_headers_) = std::move(*cipher);
  }
  return {};
}

Block Session::next_block(core::Buffer memory) { return Block{std::move(memory), next_out_++, 0}; }

void Session::finish_header(const Block& block) const {
  encode(RecordHeader{agreed_.protection, lane_of(block.number), static_cast<std::uint32_t>(block.payload_bytes),
                      block.number},
         block.header());
}

void Session::async_write(Block block, WriteHandler handler) {
  if (outgoing_headers_)
    if (auto enciphered = outgoing_headers_->encipher(block.header()); !enciphered) return channel_->close({});
  const auto record = block.record(agreed_.protection);
  if (record.size() < block.memory.bytes().size() / kSparseShare)
    return channel_->async_write(core::SharedBytes::adopt({record.begin(), record.end()}), std::move(handler));
  auto kept = std::make_shared<Block>(std::move(block));
  channel_->async_write({record, std::move(kept)}, std::move(handler));
}

void Session::async_read(core::Buffer memory, ReadHandler handler) {
  UDTCAT_INVARIANT(!read_handler_, "the multiplexer reads one record at a time");
  reading_ = Block{std::move(memory), next_in_, 0};
  read_handler_ = std::move(handler);
  channel_->async_read(reading_.header(), lifetime_.guard([this](Status status) {
    if (!status) return finish_read(std::move(status));
    on_header();
  }));
}

void Session::on_header() {
  if (auto checked = check_header(); !checked) return finish_read(std::move(checked));
  ++next_in_;
  auto body = reading_.record(agreed_.protection).subspan(kRecordHeaderBytes);
  channel_->async_read(body, lifetime_.guard([this](Status status) { finish_read(std::move(status)); }));
}

/// The header of the next record is known but for its length, so that anything else is not from our peer.
Status Session::check_header() {
  const Errc blame = incoming_headers_ ? Errc::tampered : Errc::protocol_violated;
  if (incoming_headers_)
    if (auto deciphered = incoming_headers_->decipher(reading_.header()); !deciphered) return deciphered;
  const auto header = decode_record_header(reading_.header());
  if (!header) return fail(blame, "read record " + std::to_string(next_in_), header.error().cause);
  if (header->protection != agreed_.protection || header->number != next_in_ || header->lane != lane_of(next_in_))
    return fail(blame, "read record " + std::to_string(next_in_), "its header is not the next one");
  if (header->payload_bytes == 0 || header->payload_bytes > agreed_.block_bytes)
    return fail(blame, "read record " + std::to_string(next_in_), "its length is not allowed");
  reading_.payload_bytes = header->payload_bytes;
  return {};
}

void Session::finish_read(Status outcome) {
  const ReadHandler handler = std::move(read_handler_);
  read_handler_ = nullptr;
  if (!outcome) return handler(tl::unexpected(outcome.error()));
  handler(std::move(reading_));
}

}  // namespace udtcat::session
