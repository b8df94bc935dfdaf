#include "lib/session/session.hpp"

#include "lib/core/invariant.hpp"

namespace udtcat::session {

Result<std::unique_ptr<Session>> Session::create(boost::asio::io_context& io, Role role, const Agreed& agreed,
                                                 std::optional<KeySchedule> keys,
                                                 std::unique_ptr<transport::Channel> first) {
  std::unique_ptr<Session> session(new Session(role, agreed, std::move(keys)));
  const bool connector = role == Role::connector;
  auto outgoing = session->header_cipher(connector ? Direction::from_connector : Direction::from_listener);
  if (!outgoing) return tl::unexpected(outgoing.error());
  auto incoming = session->header_cipher(connector ? Direction::from_listener : Direction::from_connector);
  if (!incoming) return tl::unexpected(incoming.error());
  session->outgoing_headers_ = std::move(*outgoing);
  session->reader_.emplace(io, session->flows_, session->agreed_, std::move(*incoming));
  session->flows_.add(std::move(first));
  return session;
}

Session::Session(Role role, const Agreed& agreed, std::optional<KeySchedule> keys)
    : role_(role), agreed_(agreed), keys_(std::move(keys)) {}

Result<std::optional<crypto::HeaderCipher>> Session::header_cipher(Direction direction) const {
  if (!keys_) return std::nullopt;
  auto key = keys_->header_key(direction);
  if (!key) return tl::unexpected(key.error());
  auto cipher = crypto::HeaderCipher::create(*key);
  if (!cipher) return tl::unexpected(cipher.error());
  return std::optional(std::move(*cipher));
}

void Session::add_flow(std::unique_ptr<transport::Channel> channel) {
  UDTCAT_INVARIANT(flows_.size() < agreed_.flows, "each flow joins once");
  flows_.add(std::move(channel));
  if (flows_.size() == agreed_.flows) join_key_.reset();
}

void Session::close(std::chrono::milliseconds drain) {
  reader_->stop();
  flows_.close(drain);
}

Block Session::next_block(core::Buffer memory) { return Block{std::move(memory), next_out_++, 0}; }

void Session::finish_header(const Block& block) const {
  encode(RecordHeader{agreed_.protection, static_cast<std::uint16_t>(block.number % agreed_.lanes),
                      static_cast<std::uint32_t>(block.payload_bytes), block.number},
         block.header());
}

void Session::async_write(Block block, WriteHandler handler) {
  if (outgoing_headers_)
    if (auto enciphered = outgoing_headers_->encipher(block.header()); !enciphered) return flows_.close({});
  Flow& flow = flows_.choose(block.number);
  const auto record = block.record(agreed_.protection);
  const std::size_t count = record.size();
  const bool sparse = count < block.memory.bytes().size() / kSparseShare;
  auto bytes = sparse ? core::SharedBytes::adopt({record.begin(), record.end()})
                      : core::SharedBytes(record, std::make_shared<Block>(std::move(block)));
  if (flows_.size() == 1) return flow.channel->async_write(std::move(bytes), std::move(handler));
  flow.untaken_bytes += count;
  flow.channel->async_write(std::move(bytes), [&flow, count, handler = std::move(handler)](const Status& status) {
    if (status) flow.untaken_bytes -= count;  // else it has no room for more
    handler(status);
  });
}

}  // namespace udtcat::session
