// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/signed_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "lib/core/byte_packing.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"

namespace udtcat::meeting {

namespace {

constexpr std::string_view kOfferLabel = "udtcat meeting offer";                // spec: meet.md §3
constexpr std::string_view kAnswerLabel = "udtcat meeting answer";              // spec: meet.md §3
constexpr std::string_view kRegistrationLabel = "udtcat meeting registration";  // spec: meet.md §4
constexpr std::uint8_t kGetsNoUdp = 1;                                          // spec: meet.md §3

std::vector<std::byte> labelled(std::string_view label, std::span<const std::byte> first,
                                std::span<const std::byte> rest) {
  std::vector<std::byte> message;
  core::ByteWriter writer(message);
  writer.text(label);
  writer.number(std::uint8_t{0});
  writer.bytes(first);
  writer.bytes(rest);
  return message;
}

Result<std::vector<std::byte>> sign_body(std::string_view label, std::vector<std::byte> body, const KeyPair& signer,
                                         const PublicKey& recipient) {
  UDTCAT_TRY(const crypto::Signature signature, crypto::sign(signer, labelled(label, recipient.bytes(), body)));
  core::ByteWriter writer(body);
  writer.bytes(signer.public_key().bytes());
  writer.bytes(signature);
  UDTCAT_INVARIANT(body.size() <= kMaxSignedBytes, "the limits of its parts keep it");
  return body;
}

struct SignedBody {
  std::span<const std::byte> body;
  PublicKey signer;
};

tl::unexpected<Error> bad_signed_message(const char* why) {
  return fail(Errc::protocol_violated, "read a message of the other end", why);
}

Result<SignedBody> open_body(std::string_view label, std::span<const std::byte> bytes, const PublicKey& recipient) {
  constexpr std::size_t kTail = PublicKey::kBytes + crypto::kSignatureBytes;
  if (bytes.size() < kTail || bytes.size() > kMaxSignedBytes) return bad_signed_message("its length is wrong");
  const auto body = bytes.first(bytes.size() - kTail);
  const PublicKey signer(bytes.subspan(body.size()).first<PublicKey::kBytes>());
  if (!crypto::is_signed_by(signer, labelled(label, recipient.bytes(), body), bytes.last<crypto::kSignatureBytes>()))
    return fail(Errc::authentication_failed, "read a message of the other end", "its signature is wrong");
  return SignedBody{body, signer};
}

}  // namespace

Result<std::vector<std::byte>> sign(const Offer& offer, const KeyPair& signer, const PublicKey& recipient) {
  std::vector<std::byte> body;
  core::ByteWriter writer(body);
  writer.bytes(offer.id);
  writer.number(offer.gets_no_udp ? kGetsNoUdp : std::uint8_t{0});
  writer.sized_text<std::uint8_t>(offer.application);
  encode(writer, offer.candidates);
  return sign_body(kOfferLabel, std::move(body), signer, recipient);
}

Result<std::vector<std::byte>> sign(const Answer& answer, const KeyPair& signer, const PublicKey& recipient) {
  std::vector<std::byte> body;
  core::ByteWriter writer(body);
  writer.bytes(answer.id);
  writer.number(answer.gets_no_udp ? kGetsNoUdp : std::uint8_t{0});
  encode(writer, answer.candidates);
  return sign_body(kAnswerLabel, std::move(body), signer, recipient);
}

Result<SignedOffer> open_offer(std::span<const std::byte> bytes, const PublicKey& recipient) {
  UDTCAT_TRY(const SignedBody opened, open_body(kOfferLabel, bytes, recipient));
  core::ByteReader reader(opened.body);
  Offer offer;
  offer.id = reader.array<std::tuple_size_v<Offer::Id>>();
  offer.gets_no_udp = (reader.number<std::uint8_t>() & kGetsNoUdp) != 0;
  offer.application = reader.sized_text<std::uint8_t>();
  auto candidates = decode_candidates(reader);
  if (!candidates || !reader.is_whole()) return bad_signed_message("it is no offer");
  offer.candidates = std::move(*candidates);
  return SignedOffer{std::move(offer), opened.signer};
}

Result<SignedAnswer> open_answer(std::span<const std::byte> bytes, const PublicKey& recipient) {
  UDTCAT_TRY(const SignedBody opened, open_body(kAnswerLabel, bytes, recipient));
  core::ByteReader reader(opened.body);
  Answer answer;
  answer.id = reader.array<std::tuple_size_v<Offer::Id>>();
  answer.gets_no_udp = (reader.number<std::uint8_t>() & kGetsNoUdp) != 0;
  auto candidates = decode_candidates(reader);
  if (!candidates || !reader.is_whole()) return bad_signed_message("it is no answer");
  answer.candidates = std::move(*candidates);
  return SignedAnswer{std::move(answer), opened.signer};
}

Result<crypto::Signature> sign_registration(const KeyPair& signer, std::span<const std::byte> nonce) {
  return crypto::sign(signer, labelled(kRegistrationLabel, nonce, {}));
}

bool registration_is_signed(const PublicKey& name, std::span<const std::byte> nonce,
                            std::span<const std::byte, crypto::kSignatureBytes> signature) {
  return crypto::is_signed_by(name, labelled(kRegistrationLabel, nonce, {}), signature);
}

}  // namespace udtcat::meeting
