// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/signed_messages.hpp"

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::meeting {
namespace {

class SignedMessages : public testing::Test {
 protected:
  const KeyPair signer = *KeyPair::generate();
  const KeyPair recipient = *KeyPair::generate();
  const Candidate candidate{Candidate::Kind::host, resolve({"192.0.2.1", 9000}, AddressFamily::any)->front()};
  const Offer offer{.id = {std::byte{1}}, .gets_no_udp = true, .application = "rsh", .candidates = {candidate}};
  const Answer answer{.id = {std::byte{2}}, .gets_no_udp = false, .candidates = {candidate}};
};

TEST_F(SignedMessages, ComeBackAsTheyWere) {
  const auto opened_offer = open_offer(*sign(offer, signer, recipient.public_key()), recipient.public_key());
  ASSERT_TRUE(opened_offer);
  EXPECT_EQ(opened_offer->offer, offer);
  EXPECT_EQ(opened_offer->signer, signer.public_key());
  const auto opened_answer = open_answer(*sign(answer, signer, recipient.public_key()), recipient.public_key());
  ASSERT_TRUE(opened_answer);
  EXPECT_EQ(opened_answer->answer, answer);
  EXPECT_EQ(opened_answer->signer, signer.public_key());
}

TEST_F(SignedMessages, OfTheGreatestSizeAreWhole) {
  Offer large = offer;
  large.application = std::string(255, 'x');
  large.candidates.assign(8, {Candidate::Kind::host, resolve({"2001:db8::1", 1}, AddressFamily::any)->front()});
  EXPECT_EQ(open_offer(*sign(large, signer, recipient.public_key()), recipient.public_key())->offer, large);
}

TEST_F(SignedMessages, AreForTheirRecipientOnly) {
  const auto bytes = *sign(offer, signer, recipient.public_key());
  EXPECT_EQ(open_offer(bytes, signer.public_key()).error().code, Errc::authentication_failed);
}

TEST_F(SignedMessages, AreNotTakenForOneAnother) {
  EXPECT_FALSE(open_answer(*sign(offer, signer, recipient.public_key()), recipient.public_key()));
  EXPECT_FALSE(open_offer(*sign(answer, signer, recipient.public_key()), recipient.public_key()));
}

TEST_F(SignedMessages, AreRefusedCutOrWithAnyByteChanged) {
  const auto whole = *sign(offer, signer, recipient.public_key());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    EXPECT_FALSE(open_offer(std::span(whole).first(at), recipient.public_key())) << at;
    auto changed = whole;
    changed[at] ^= std::byte{1};
    EXPECT_FALSE(open_offer(changed, recipient.public_key())) << at;
  }
}

/// Proves: meet.candidate-count
TEST_F(SignedMessages, OfAWrongLengthViolateTheProtocol) {
  EXPECT_EQ(open_offer(test::Bytes(1025), recipient.public_key()).error().code, Errc::protocol_violated);
  EXPECT_EQ(open_offer(test::Bytes(95), recipient.public_key()).error().code, Errc::protocol_violated);
}

TEST_F(SignedMessages, ProveARegistration) {
  const auto nonce = test::bytes_of("a nonce");
  const auto proof = *sign_registration(signer, nonce);
  EXPECT_TRUE(registration_is_signed(signer.public_key(), nonce, proof));
  EXPECT_FALSE(registration_is_signed(signer.public_key(), test::bytes_of("another"), proof));
  EXPECT_FALSE(registration_is_signed(recipient.public_key(), nonce, proof));
}

}  // namespace
}  // namespace udtcat::meeting
