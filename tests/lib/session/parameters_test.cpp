// SPDX-License-Identifier: Apache-2.0
#include "lib/session/parameters.hpp"

#include <gtest/gtest.h>

#include "lib/session/application.hpp"
#include "support/spec_example.hpp"

namespace udtcat::session {
namespace {

using test::Bytes;
using test::bytes_of;
using test::from_hex;
using test::to_hex;

Offer example_offer() {
  return {.protection = Protection::private_,
          .ciphers = {Cipher::aes_256_gcm, Cipher::chacha20_poly1305},
          .block_bytes = 262144,
          .lanes = 16,
          .sends = true,
          .receives = true,
          .initial_window_bytes = 4194304,
          .flows = 4,
          .application = "pipe",
          .name = "alpha",
          .peer = "beta"};
}

Acceptance example_acceptance() {
  const test::SpecExample example("handshake.md", "acceptance");
  return {.cipher = Cipher::aes_256_gcm,
          .block_bytes = 131072,
          .lanes = 8,
          .sends = false,
          .receives = true,
          .initial_window_bytes = 1048576,
          .flows = 2,
          .application = "pipe",
          .name = "beta",
          .session_id = test::array_of<kSessionIdBytes>(example.bytes("session"))};
}

// A message of these items, whatever they are.
Bytes message(int kind, const std::string& items_hex) {
  Bytes out = bytes_of("UDTC");
  const Bytes items = from_hex(items_hex);
  for (const auto byte : {1, kind, static_cast<int>(items.size() >> 8), static_cast<int>(items.size() & 0xff)})
    out.push_back(static_cast<std::byte>(byte));
  out.insert(out.end(), items.begin(), items.end());
  return out;
}

constexpr const char* kProtection = "0001 0001 03";
constexpr const char* kCiphers = "0002 0002 0103";
constexpr const char* kCipher = "0003 0001 01";
constexpr const char* kBlock = "0004 0004 00040000";
constexpr const char* kLanes = "0005 0002 0010";
constexpr const char* kDirections = "0006 0001 03";
constexpr const char* kWindow = "0007 0004 00400000";

Bytes offer_with(const std::string& protection, const std::string& ciphers, const std::string& block,
                 const std::string& lanes, const std::string& directions, const std::string& window) {
  return message(1, protection + ciphers + block + lanes + directions + window);
}

bool is_offer(const Bytes& bytes) {
  const auto offer = decode_offer(bytes);
  if (!offer) {
    EXPECT_EQ(offer.error().code, Errc::protocol_violated);
  }
  return offer.has_value();
}

TEST(Offer, HasTheBytesOfTheSpec) {
  const test::SpecExample example("handshake.md", "offer");
  EXPECT_EQ(to_hex(encode(example_offer())), to_hex(example.bytes("message")));
  EXPECT_EQ(decode_offer(example.bytes("message")), example_offer());
}

TEST(Acceptance, HasTheBytesOfTheSpec) {
  const test::SpecExample example("handshake.md", "acceptance");
  EXPECT_EQ(to_hex(encode(Answer(example_acceptance()))), to_hex(example.bytes("message")));
  EXPECT_EQ(decode_answer(example.bytes("message")), Answer(example_acceptance()));
}

TEST(Refusal, HasTheBytesOfTheSpec) {
  const test::SpecExample example("handshake.md", "refusal");
  const Answer refusal = Refusal{example.text("reason")};
  EXPECT_EQ(to_hex(encode(refusal)), to_hex(example.bytes("message")));
  EXPECT_EQ(decode_answer(example.bytes("message")), refusal);
}

TEST(Offer, SurvivesItsEncodingAtEveryLevel) {
  for (const auto protection : {Protection::clear, Protection::auth, Protection::safe, Protection::private_}) {
    Offer offer = example_offer();
    offer.protection = protection;
    if (protection < Protection::safe) offer.ciphers.clear();
    EXPECT_EQ(decode_offer(encode(offer)), offer);
  }
}

TEST(Offer, SaysItsApplicationAndNamesOnlyWhereThereAreSuch) {
  const std::string rest = std::string(kProtection) + kCiphers + kBlock + kLanes + kDirections + kWindow;
  const auto bare = decode_offer(message(1, rest));
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->application, "");
  EXPECT_EQ(bare->name + bare->peer, "");
  EXPECT_EQ(decode_offer(encode(*bare)), *bare);
  const auto full = decode_offer(message(1, rest + "000d 0001 09" + "000e 0002 2161" + "000f 0001 7e"));
  ASSERT_TRUE(full);
  EXPECT_EQ(full->application, application_of(9)) << "which a later version may know";
  EXPECT_EQ(full->name, "!a");
  EXPECT_EQ(full->peer, "~");
  for (const char* bad : {"000d 0000", "000d 0002 0001", "000e 0000", "000f 0000", "000e 0003 612062", "000f 0001 0a",
                          "000e 0001 00", "000f 0001 7f", "000e 0002 c3a4"})
    EXPECT_FALSE(is_offer(message(1, rest + bad))) << bad;
  const std::string longest = std::string(kMaxEndNameBytes, 'a');
  EXPECT_EQ(decode_offer(message(1, rest + "000e 0040" + to_hex(bytes_of(longest))))->name, longest);
  EXPECT_FALSE(is_offer(message(1, rest + "000e 0041" + to_hex(bytes_of(longest + 'a')))));
}

TEST(Acceptance, SaysItsApplicationAndName) {
  const std::string rest = std::string(kCipher) + kBlock + kLanes + kDirections + kWindow;
  EXPECT_EQ(std::get<Acceptance>(*decode_answer(message(2, rest))).application, "");
  const auto answer = decode_answer(message(2, rest + "000d 0001 03" + "000e 0001 62"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<Acceptance>(*answer).application, "rsh");
  EXPECT_EQ(std::get<Acceptance>(*answer).name, "b");
  EXPECT_FALSE(decode_answer(message(2, rest + "000d 0002 0003")));
  EXPECT_FALSE(decode_answer(message(2, rest + "000e 0001 20")));
}

TEST(ExporterContext, HasTheBytesOfTheSpec) {
  const test::SpecExample example("handshake.md", "exporter context");
  NegotiatedParameters agreed;
  agreed.application = application_of(std::to_integer<std::uint8_t>(example.bytes("purpose").front()));
  agreed.connector_name = example.text("connector");
  agreed.listener_name = example.text("listener");
  EXPECT_EQ(to_hex(exporter_context(agreed)), to_hex(example.bytes("context")));
}

TEST(Offer, RefusesMissingItems) {
  EXPECT_TRUE(is_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections, kWindow)));
  EXPECT_FALSE(is_offer(offer_with("", kCiphers, kBlock, kLanes, kDirections, kWindow)));
  EXPECT_FALSE(is_offer(offer_with(kProtection, "", kBlock, kLanes, kDirections, kWindow)));
  EXPECT_FALSE(is_offer(offer_with(kProtection, kCiphers, "", kLanes, kDirections, kWindow)));
  EXPECT_FALSE(is_offer(offer_with(kProtection, kCiphers, kBlock, "", kDirections, kWindow)));
  EXPECT_FALSE(is_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, "", kWindow)));
  EXPECT_FALSE(is_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections, "")));
}

/// Proves: handshake.ciphers-limit
TEST(Offer, RefusesValuesOutOfRange) {
  for (const char* protection : {"0001 0001 04", "0001 0000", "0001 0002 0003"})
    EXPECT_FALSE(is_offer(offer_with(protection, kCiphers, kBlock, kLanes, kDirections, kWindow))) << protection;
  for (const char* ciphers : {"0002 0002 0101", "0002 0011 0102030405060708090a0b0c0d0e0f1011"})
    EXPECT_FALSE(is_offer(offer_with(kProtection, ciphers, kBlock, kLanes, kDirections, kWindow))) << ciphers;
  for (const char* block : {"0004 0004 00000fff", "0004 0004 00100001", "0004 0004 00000000", "0004 0003 040000"})
    EXPECT_FALSE(is_offer(offer_with(kProtection, kCiphers, block, kLanes, kDirections, kWindow))) << block;
  for (const char* lanes : {"0005 0002 0000", "0005 0002 0041", "0005 0001 10"})
    EXPECT_FALSE(is_offer(offer_with(kProtection, kCiphers, kBlock, lanes, kDirections, kWindow))) << lanes;
  EXPECT_FALSE(is_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, "0006 0001 04", kWindow)));
  EXPECT_FALSE(is_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections, "0007 0003 400000")));
}

TEST(Offer, OfAnEndThatKnowsNoFlowsIsOfOne) {
  const auto offer = decode_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections, kWindow));
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->flows, 1);
  // And one flow is offered in the words that such an end knows.
  EXPECT_EQ(to_hex(encode(*offer)), to_hex(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections, kWindow)));
}

TEST(Offer, RefusesFlowsOutOfRange) {
  const auto with = [](const std::string& flows) {
    return is_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections, kWindow + flows));
  };
  EXPECT_TRUE(with("0016 0001 01"));
  EXPECT_TRUE(with("0016 0001 10"));
  for (const char* flows : {"0016 0001 00", "0016 0001 11", "0016 0002 0001", "0016 0000"})
    EXPECT_FALSE(with(flows)) << flows;
}

TEST(Offer, SaysTheNameOfAnApplicationThatHasNoNumber) {
  const auto with = [](const std::string& items) {
    return decode_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections, kWindow + items));
  };
  EXPECT_EQ(with("0015 0003 612d62").value().application, "a-b");
  EXPECT_EQ(with("0015 0003 612d62 000d 0001 01").value().application, "pipe") << "the number counts";
  for (const char* wrong : {"0015 0000", "0015 0001 20", "0015 0002 2331"}) EXPECT_FALSE(with(wrong)) << wrong;
  Offer offer = example_offer();
  offer.application = std::string(kMaxServiceNameBytes, 'x');
  EXPECT_EQ(decode_offer(encode(offer)), offer);
  EXPECT_FALSE(with("0015 0020 " + to_hex(bytes_of(std::string(kMaxServiceNameBytes + 1, 'x')))));
}

TEST(Offer, SaysTheByteOfItsApplication) {
  const auto with = [](const std::string& data) {
    return decode_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections, kWindow + data));
  };
  EXPECT_EQ(with("").value().application_data, 0) << "as of an end that knows of none";
  EXPECT_EQ(with("0010 0001 02").value().application_data, 2);
  for (const char* wrong : {"0010 0002 0001", "0010 0000"}) EXPECT_FALSE(with(wrong)) << wrong;
  Offer offer = example_offer();
  Acceptance acceptance = example_acceptance();
  offer.application_data = acceptance.application_data = 255;
  EXPECT_EQ(decode_offer(encode(offer)), offer);
  EXPECT_EQ(decode_answer(encode(Answer(acceptance))), Answer(acceptance));
}

TEST(Offer, SaysItsServicesAndTheStreamsThatItTakes) {
  Offer offer = example_offer();
  offer.services = {"", "db", "web-1"};
  offer.streams = 7;
  const auto decoded = decode_offer(encode(offer));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(*decoded, offer);
}

/// Proves: handshake.services-limit
TEST(Offer, RefusesServicesAndStreamsOutOfRange) {
  const std::string common = std::string(kProtection) + kCiphers + kBlock + kLanes + kDirections + kWindow;
  for (const char* bad : {"0011 0002 0164 64", "0011 0003 0264 20", "0011 0004 0164 0164", "0011 0001 01",
                          "0012 0002 0000", "0012 0002 0401", "0012 0001 01"})
    EXPECT_FALSE(decode_offer(message(1, common + bad))) << bad;
  std::string many = "0011 0022";
  for (int i = 0; i < 17; ++i) many += "01" + to_hex(bytes_of(std::string(1, static_cast<char>('a' + i))));
  EXPECT_FALSE(decode_offer(message(1, common + many))) << "17 of them";
  EXPECT_TRUE(decode_offer(message(1, common + "0011 0004 0164 0165" + "0012 0002 0400")));
}

TEST(Acceptance, OfSeveralFlowsNamesTheSession) {
  const std::string rest = std::string(kCipher) + kBlock + kLanes + kDirections + kWindow;
  const std::string id = "000a 0010 000102030405060708090a0b0c0d0e0f";
  EXPECT_TRUE(decode_answer(message(2, rest + "0016 0001 02" + id)));
  EXPECT_FALSE(decode_answer(message(2, rest + "0016 0001 02")));
  EXPECT_FALSE(decode_answer(message(2, rest + "0016 0001 02" + "000a 000f 000102030405060708090a0b0c0d0e")));
  EXPECT_FALSE(decode_answer(message(2, rest + "0016 0001 11" + id)));
  EXPECT_TRUE(decode_answer(message(2, rest + id))) << "a name that nobody needs is passed over";
}

TEST(Offer, RefusesDuplicatesAndTakesAnyOrder) {
  EXPECT_FALSE(
      is_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections, std::string(kWindow) + kWindow)));
  EXPECT_TRUE(is_offer(offer_with(kWindow, kDirections, kLanes, kBlock, kCiphers, kProtection)));
}

TEST(Offer, PassesOverWhatALaterVersionAdds) {
  EXPECT_TRUE(is_offer(offer_with(kProtection, kCiphers, kBlock, kLanes, kDirections,
                                  std::string(kWindow) + "ffff 0003 aabbcc 7fff 0000")));
  const auto offer = decode_offer(offer_with(kProtection, "0002 0003 7f03ff", kBlock, kLanes, kDirections, kWindow));
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->ciphers, std::vector<Cipher>{Cipher::chacha20_poly1305});
}

TEST(Answer, RefusesUnknownCiphersAndOffers) {
  const std::string rest = std::string(kBlock) + kLanes + kDirections + kWindow;
  EXPECT_TRUE(decode_answer(message(2, kCipher + rest)));
  EXPECT_FALSE(decode_answer(message(2, "0003 0001 04" + rest)));
  EXPECT_FALSE(decode_answer(message(2, rest)));
  EXPECT_FALSE(decode_answer(encode(example_offer())));
  EXPECT_FALSE(decode_offer(encode(Answer(example_acceptance()))));
}

TEST(Refusal, MayBeForNowOnly) {
  for (const bool later : {false, true}) {
    const Answer refusal = Refusal{"no room", later};
    EXPECT_EQ(decode_answer(encode(refusal)).value(), refusal);
  }
  EXPECT_FALSE(decode_answer(message(3,
                                     "0008 0001 78"
                                     "0013 0001 02")));
}

/// Proves: handshake.reason-limit, threat-model.peer-texts
TEST(Refusal, IsMadeFitForATerminal) {
  const auto answer = decode_answer(message(3, "0008 0004 1b5b41ff"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<Refusal>(*answer).reason, "?[A?");
  const auto cut = decode_answer(encode(Answer(Refusal{std::string(1000, 'x')})));
  ASSERT_TRUE(cut);
  EXPECT_EQ(std::get<Refusal>(*cut).reason, std::string(256, 'x'));
  EXPECT_FALSE(decode_answer(message(3, "0008 0101" + to_hex(Bytes(257, std::byte{'x'})))));
}

/// Proves: handshake.clear-offer-limit, handshake.nothing-parsed-before, threat-model.stranger-parsed
TEST(ParameterMessage, SaysItsLengthFromThePrefix) {
  const Bytes offer = encode(example_offer());
  EXPECT_EQ(parameter_message_bytes(std::span(offer).first<kParameterPrefixBytes>()), offer.size());
  EXPECT_EQ(parameter_message_bytes(from_hex("55445443 01 03 03f8")), 1024U);
  for (const char* bad : {"", "55445443 01 03 00", "55445443 01 03 03f9", "55445443 02 01 0000", "55445443 01 00 0000",
                          "55445443 01 06 0000", "16030100 01000000"}) {
    const auto bytes = parameter_message_bytes(from_hex(bad));
    ASSERT_FALSE(bytes) << bad;
    EXPECT_EQ(bytes.error().code, Errc::protocol_violated);
  }
}

class EveryMessage : public testing::Test {
 protected:
  // Both decoders take any input; what they take, they give back as it was meant.
  static void expect_total(const Bytes& in) {
    if (const auto offer = decode_offer(in)) {
      EXPECT_EQ(decode_offer(encode(*offer)), *offer);
    }
    if (const auto answer = decode_answer(in)) {
      EXPECT_EQ(decode_answer(encode(*answer)), *answer);
    }
  }
  const std::vector<Bytes> messages_{encode(example_offer()), encode(Answer(example_acceptance())),
                                     encode(Answer(Refusal{"no, thank you"}))};
};

TEST_F(EveryMessage, IsRefusedAtEveryTruncationAndWithMore) {
  for (const Bytes& whole : messages_) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_FALSE(decode_offer(cut));
      EXPECT_FALSE(decode_answer(cut));
    }
    Bytes longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(decode_offer(longer));
    EXPECT_FALSE(decode_answer(longer));
  }
}

TEST_F(EveryMessage, IsAValueOrAnErrorWithAnyByteChanged) {
  for (const Bytes& whole : messages_)
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (int value = 0; value < 256; ++value) {
        Bytes changed = whole;
        changed[at] = static_cast<std::byte>(value);
        expect_total(changed);
      }
}

}  // namespace
}  // namespace udtcat::session
