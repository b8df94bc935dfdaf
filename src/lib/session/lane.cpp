#include "lib/session/lane.hpp"

#include <array>

#include "lib/core/byte_order.hpp"
#include "lib/core/invariant.hpp"

namespace udtcat::session {

using session::Block;
using session::BlockNumber;
using session::LaneSecret;

Result<Lane> Lane::create(Protection protection, Cipher cipher, crypto::AeadDirection direction, LaneSecret secret) {
  auto keys = secret.keys();
  if (!keys) return tl::unexpected(keys.error());
  auto aead = crypto::Aead::create(cipher, direction, keys->key.bytes().first(crypto::Aead::key_bytes(cipher)));
  if (!aead) return tl::unexpected(aead.error());
  return Lane(protection, cipher, std::move(*aead), std::move(secret), std::move(*keys));
}

Lane::Lane(Protection protection, Cipher cipher, crypto::Aead aead, LaneSecret secret, LaneSecret::Keys keys)
    : protection_(protection),
      cipher_(cipher),
      aead_(std::move(aead)),
      secret_(std::move(secret)),
      iv_(std::move(keys.iv)) {}

Status Lane::seal(const Block& block) {
  if (auto entered = enter_epoch_of(block.number); !entered) return entered;
  const auto iv = nonce(block.number);
  if (protection_ == Protection::private_) return aead_.seal(iv, block.header(), block.payload(), block.tag());
  // safe: header and payload are one stretch of memory, all of it authenticated and none of it enciphered.
  return aead_.seal(iv, block.record(Protection::clear), {}, block.tag());
}

Status Lane::open(const Block& block) {
  if (auto entered = enter_epoch_of(block.number); !entered) return entered;
  const auto iv = nonce(block.number);
  if (protection_ == Protection::private_) return aead_.open(iv, block.header(), block.payload(), block.tag());
  return aead_.open(iv, block.record(Protection::clear), {}, block.tag());
}

Status Lane::enter_epoch_of(BlockNumber number) {
  UDTCAT_INVARIANT(!last_number_ || number > *last_number_, "the session counts blocks up and each is worked once");
  if (number >= session::kMaxBlockNumber)
    return fail(Errc::key_exhausted, "seal or open a block", "the last block number is reached");
  last_number_ = number;
  if (epoch_ == number / session::kBlocksPerEpoch) return {};
  for (; epoch_ < number / session::kBlocksPerEpoch; ++epoch_)
    if (auto moved = secret_.ratchet(); !moved) return moved;
  auto keys = secret_.keys();
  if (!keys) return tl::unexpected(keys.error());
  iv_ = std::move(keys->iv);
  return aead_.rekey(keys->key.bytes().first(crypto::Aead::key_bytes(cipher_)));
}

std::array<std::byte, crypto::kNonceBytes> Lane::nonce(BlockNumber number) const {
  std::array<std::byte, crypto::kNonceBytes> value{};
  core::store_be<std::uint64_t>(std::span(value).last<sizeof number>(), number);
  for (std::size_t i = 0; i < value.size(); ++i) value[i] ^= iv_.bytes()[i];
  return value;
}

}  // namespace udtcat::session
