// SPDX-License-Identifier: Apache-2.0
#include "lib/session/tls_certificate.hpp"

#include <gtest/gtest.h>

#include "support/spec_example.hpp"

namespace udtcat::session {
namespace {

using udtcat::test::Bytes;

KeyPair example_pair() {
  return KeyPair::parse(udtcat::test::SpecExample("handshake.md", "key pair").text("private")).value();
}

Bytes bytes_of(const X509& certificate) {
  Bytes bytes(static_cast<std::size_t>(i2d_X509(&certificate, nullptr)));
  auto* out = crypto::uchars(bytes.data());
  i2d_X509(&certificate, &out);
  return bytes;
}

TEST(Certificate, IsTheOneOfTheSpecEachTime) {
  const udtcat::test::SpecExample example("handshake.md", "certificate");
  for (int times = 0; times < 2; ++times) {
    const auto own = make_certificate(example_pair());
    ASSERT_TRUE(own);
    EXPECT_EQ(udtcat::test::to_hex(bytes_of(*own->certificate)), udtcat::test::to_hex(example.bytes("certificate")));
  }
}

TEST(Certificate, CarriesThePublicKey) {
  const KeyPair pair = KeyPair::generate().value();
  EXPECT_EQ(key_of(*make_certificate(pair)->certificate), pair.public_key());
}

TEST(Certificate, OfAnotherKindOfKeyCarriesNone) {
  const crypto::EvpKey key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  EXPECT_EQ(key_of(*certificate), std::nullopt);
  ASSERT_EQ(X509_set_pubkey(certificate.get(), key.get()), 1);
  EXPECT_EQ(key_of(*certificate), std::nullopt);
}

}  // namespace
}  // namespace udtcat::session
