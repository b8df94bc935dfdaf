/// One keyed EVP context: seals or opens the blocks of its turn.
#pragma once

#include <cstdint>
#include <optional>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/aead.hpp"
#include "lib/session/key_schedule.hpp"
#include "lib/session/record_format.hpp"

namespace udtcat::session {

/// Block n of a direction belongs to lane n mod lanes. Keys follow the epoch of the block's number without being told.
/// Threads: unsynchronised: a lane is worked by one thread at a time (LanePool).
class Lane {
 public:
  /// errors: Errc::cipher_failed
  [[nodiscard]] static Result<Lane> create(Protection protection, Cipher cipher, crypto::AeadDirection direction,
                                           session::LaneSecret secret);

  /// Makes the record: payload and tag in place, authenticated with the header that already stands before them.
  /// Block numbers strictly increase: a repeat would repeat a nonce (INVARIANT).
  /// errors: Errc::cipher_failed; Errc::key_exhausted at kMaxBlockNumber
  [[nodiscard]] Status seal(const session::Block& block);
  /// errors: Errc::tampered; Errc::cipher_failed; Errc::key_exhausted
  [[nodiscard]] Status open(const session::Block& block);

 private:
  Lane(Protection protection, Cipher cipher, crypto::Aead aead, session::LaneSecret secret,
       session::LaneSecret::Keys keys);
  [[nodiscard]] Status enter_epoch_of(session::BlockNumber number);
  [[nodiscard]] std::array<std::byte, crypto::kNonceBytes> nonce(session::BlockNumber number) const;

  Protection protection_;
  Cipher cipher_;
  crypto::Aead aead_;
  session::LaneSecret secret_;
  crypto::SecretBytes<crypto::kNonceBytes> iv_;
  std::uint64_t epoch_ = 0;
  std::optional<session::BlockNumber> last_number_;
};

}  // namespace udtcat::session
