// SPDX-License-Identifier: Apache-2.0
/// Offers and answers, which each end signs for the other, so that nothing depends on the place: docs/spec/meet.md §3.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <udtcat/key_pair.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/signature.hpp"
#include "lib/meeting/candidates.hpp"

namespace udtcat::meeting {

inline constexpr std::size_t kMaxSignedBytes = 1024;  // spec: meet.md §3

/// A connector's. The id is random.
struct Offer {
  using Id = std::array<std::byte, 16>;

  Id id{};
  bool gets_no_udp = false;  ///< to and from the place
  std::string application;   ///< at most 255 bytes
  std::vector<Candidate> candidates;
  friend bool operator==(const Offer&, const Offer&) = default;
};

/// A listener's, with the id of the offer.
struct Answer {
  Offer::Id id{};
  bool gets_no_udp = false;
  std::vector<Candidate> candidates;
  friend bool operator==(const Answer&, const Answer&) = default;
};

/// The message and the name of its signer, which is to be compared with that of the end that is meant.
struct SignedOffer {
  Offer offer;
  PublicKey signer;
};
struct SignedAnswer {
  Answer answer;
  PublicKey signer;
};

/// errors: Errc::cipher_failed
[[nodiscard]] Result<std::vector<std::byte>> sign(const Offer& offer, const KeyPair& signer,
                                                  const PublicKey& recipient);
[[nodiscard]] Result<std::vector<std::byte>> sign(const Answer& answer, const KeyPair& signer,
                                                  const PublicKey& recipient);
/// Total.  errors: Errc::protocol_violated: malformed; Errc::authentication_failed: not signed by its signer for
/// `recipient`
[[nodiscard]] Result<SignedOffer> open_offer(std::span<const std::byte> bytes, const PublicKey& recipient);
[[nodiscard]] Result<SignedAnswer> open_answer(std::span<const std::byte> bytes, const PublicKey& recipient);

/// A listener's proof that its name is its own.
[[nodiscard]] Result<crypto::Signature> sign_registration(const KeyPair& signer, std::span<const std::byte> nonce);
[[nodiscard]] bool registration_is_signed(const PublicKey& name, std::span<const std::byte> nonce,
                                          std::span<const std::byte, crypto::kSignatureBytes> signature);

}  // namespace udtcat::meeting
