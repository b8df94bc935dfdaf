// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/preface.hpp"

#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/spec_example.hpp"

namespace udtcat::transport::tcp {
namespace {

using State = DecodedPreface::State;

constexpr std::size_t kHeadBytes = 12;  // spec: tcp.md §2

Preface preface_of(PrefaceType type, std::uint64_t seed) {
  Preface made{.type = type};
  const auto value = test::random_bytes(made.value.size(), seed);
  std::copy(value.begin(), value.end(), made.value.begin());
  return made;
}

PrefaceProof proof_of(std::uint64_t seed) { return PrefaceProof::derive(test::random_bytes(32, seed)).value(); }

constexpr std::array kTypes{PrefaceType::hello, PrefaceType::hello_key, PrefaceType::challenge, PrefaceType::proof,
                            PrefaceType::relay};

TEST(Prefaces, AreDecodedAsTheyWereEncoded) {
  for (const PrefaceType type : kTypes) {
    const Preface sent = preface_of(type, 1);
    const DecodedPreface got = decode_preface(encode(sent));
    ASSERT_EQ(got.state, State::complete);
    EXPECT_EQ(got.preface.type, type);
    EXPECT_EQ(got.preface.value, sent.value);
  }
}

TEST(Prefaces, AreWaitedForAtEachTruncation) {
  const auto bytes = encode(preface_of(PrefaceType::hello_key, 1));
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(decode_preface(std::span(bytes).first(length)).state, State::incomplete) << length;
}

TEST(Prefaces, AreRefusedAtTheFirstByteOfTheirHeadThatIsWrong) {
  const auto bytes = encode(preface_of(PrefaceType::proof, 1));
  for (std::size_t at = 0; at < kHeadBytes; ++at)
    for (int value = 0; value < 256; ++value) {
      auto changed = bytes;
      changed[at] = static_cast<std::byte>(value);
      const DecodedPreface got = decode_preface(std::span(changed).first(at + 1));
      const bool is_type = at == 9 && value >= 1 && value <= 5;
      EXPECT_EQ(got.state, changed[at] == bytes[at] || is_type ? State::incomplete : State::malformed) << at;
    }
}

TEST(Prefaces, AreFollowedByBytesThatAreNotLookedAt) {
  auto bytes = encode(preface_of(PrefaceType::hello, 1));
  std::vector<std::byte> more(bytes.begin(), bytes.end());
  more.resize(more.size() + 100, std::byte{0xff});
  EXPECT_EQ(decode_preface(more).state, State::complete);
}

TEST(PrefaceProofs, AreValidUnderTheirKeyForTheirOwnValuesAlone) {
  PrefaceProof proof = proof_of(1);
  const Preface hello = preface_of(PrefaceType::hello_key, 1);
  const Preface challenge = preface_of(PrefaceType::challenge, 2);
  const Preface made = proof.make(hello, challenge).value();
  EXPECT_EQ(made.type, PrefaceType::proof);
  EXPECT_TRUE(proof.is_in(made, hello, challenge));
  EXPECT_FALSE(proof.is_in(made, preface_of(PrefaceType::hello_key, 3), challenge));
  EXPECT_FALSE(proof.is_in(made, hello, preface_of(PrefaceType::challenge, 3))) << "a recording";
  EXPECT_FALSE(proof_of(2).is_in(made, hello, challenge));
  for (std::size_t i = 0; i < made.value.size(); ++i) {
    Preface changed = made;
    changed.value[i] ^= std::byte{1};
    EXPECT_FALSE(proof.is_in(changed, hello, challenge)) << i;
  }
}

TEST(PrefaceProofs, AreWhatTheSpecificationShows) {
  const test::SpecExample example("tcp.md", "preface");
  const auto hello = decode_preface(example.bytes("hello"));
  const auto challenge = decode_preface(example.bytes("challenge"));
  ASSERT_EQ(hello.state, State::complete);
  ASSERT_EQ(challenge.state, State::complete);
  EXPECT_EQ(hello.preface.type, PrefaceType::hello_key);
  auto proof = PrefaceProof::derive(example.bytes("admission key")).value();
  const auto made = encode(proof.make(hello.preface, challenge.preface).value());
  EXPECT_EQ(test::Bytes(made.begin(), made.end()), example.bytes("proof"));
}

}  // namespace
}  // namespace udtcat::transport::tcp
