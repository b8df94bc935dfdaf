// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "lib/crypto/aead.hpp"
#include "lib/session/application.hpp"
#include "lib/session/parameters.hpp"

namespace udtcat::session {
namespace {

constexpr std::uint32_t kConnectorWindow = 1000;
constexpr std::uint32_t kListenerWindow = 2000;

struct Ends {
  SessionOptions connector;
  SessionOptions listener;

  Ends() { connector.application = listener.application = "pipe"; }

  [[nodiscard]] Offer offer() const { return make_offer(connector, kConnectorWindow); }
  [[nodiscard]] Answer answer() const { return decide(offer(), listener, kListenerWindow); }
  [[nodiscard]] Acceptance acceptance() const { return std::get<Acceptance>(answer()); }
  [[nodiscard]] std::string refusal() const {
    const Answer answered = answer();
    const auto* refused = std::get_if<Refusal>(&answered);
    return refused != nullptr ? refused->reason : "";
  }
};

constexpr std::array<Protection, 4> kProtections{Protection::clear, Protection::auth, Protection::safe,
                                                 Protection::private_};

std::string_view shown(Protection protection) { return to_string(protection); }
const std::string& shown(const std::string& application) { return application; }

/// Ends agree only where both have the same value of `setting`; a refusal says both.
template <typename Values, typename Setting>
void expect_agreement_of_equals_only(const Values& values, Setting setting) {
  for (const auto& wanted : values)
    for (const auto& ours : values) {
      Ends ends;
      ends.connector.*setting = wanted;
      ends.listener.*setting = ours;
      const std::string reason = ends.refusal();
      EXPECT_EQ(reason.empty(), wanted == ours);
      if (wanted == ours) continue;
      EXPECT_NE(reason.find(shown(wanted)), std::string::npos) << reason;
      EXPECT_NE(reason.find(shown(ours)), std::string::npos) << reason;
    }
}

/// Proves: threat-model.level-not-negotiated
TEST(Negotiation, NeverChangesTheProtection) {
  expect_agreement_of_equals_only(kProtections, &SessionOptions::protection);
}

/// Proves: handshake.meant-service-only
TEST(Negotiation, ServesNoOtherApplicationThanItsOwn) {
  expect_agreement_of_equals_only(std::array<std::string, 3>{"pipe", "forward", "a.stranger-s_own"},
                                  &SessionOptions::application);
}

TEST(Negotiation, TellsWhichCommandListensAndWhichOneDialsWhereTheProgramSaysSo) {
  Ends ends;
  ends.listener.application = "trees";
  EXPECT_EQ(ends.refusal(), "the listener is for trees; the connector is for pipe");
  ends.listener.commands_of = [](std::string_view application) {
    return application == "trees" ? ApplicationCommands{"wait", "call"} : ApplicationCommands{"stand", "go"};
  };
  EXPECT_EQ(ends.refusal(),
            "the listener is for trees, which is dialled by call; the connector is for pipe, which dials "
            "stand");
}

TEST(Negotiation, RefusesAnEndThatSaysNoApplicationOrAnUnknownOne) {
  Offer offer = Ends{}.offer();
  offer.application.clear();
  EXPECT_NE(std::get<Refusal>(decide(offer, Ends{}.listener, 1)).reason.find("older"), std::string::npos);
  offer.application = application_of(200);
  EXPECT_NE(std::get<Refusal>(decide(offer, Ends{}.listener, 1)).reason.find("later"), std::string::npos);
  for (const std::string& application : {std::string(), std::string("rsh"), application_of(200)}) {
    Acceptance acceptance = Ends{}.acceptance();
    acceptance.application = application;
    EXPECT_EQ(agree(Ends{}.offer(), Answer(acceptance)).error().code, Errc::parameters_refused);
  }
}

TEST(Negotiation, AcceptsMatchingNames) {
  const auto reason = [](const char* connector, const char* wanted, const char* listener, const char* expected) {
    Ends ends;
    ends.connector.own_name = connector;
    ends.connector.expected_peer = wanted;
    ends.listener.own_name = listener;
    ends.listener.expected_peer = expected;
    return ends.refusal();
  };
  EXPECT_EQ(reason("", "", "", ""), "");
  EXPECT_EQ(reason("a", "", "", ""), "");
  EXPECT_EQ(reason("", "", "b", ""), "");
  EXPECT_EQ(reason("a", "b", "b", "a"), "");
  EXPECT_EQ(reason("a", "", "b", "a"), "");
  EXPECT_EQ(reason("", "b", "b", ""), "");
  EXPECT_EQ(reason("a", "b", "c", ""), "the connector wants b, the listener is c");
  EXPECT_EQ(reason("a", "b", "", ""), "the connector wants b, the listener has no name (--as)");
  EXPECT_EQ(reason("a", "", "b", "c"), "the listener wants c, the connector is a");
  EXPECT_EQ(reason("", "", "b", "c"), "the listener wants c, the connector has no name (--as)");
  EXPECT_EQ(reason("a", "b", "a", "b"), "this end met itself: both are called a");
}

TEST(Negotiation, ChecksTheNameInTheAnswer) {
  Ends ends;
  ends.connector.own_name = "a";
  ends.connector.expected_peer = ends.listener.own_name = "b";
  const auto outcome = [&](const char* name) {
    Acceptance acceptance = ends.acceptance();
    acceptance.name = name;
    const auto agreed = agree(ends.offer(), Answer(acceptance));
    return agreed ? "" : agreed.error().message();
  };
  EXPECT_EQ(outcome("b"), "");
  EXPECT_EQ(outcome("c"), "agree with the listener: the connector wants b, the listener is c");
  EXPECT_EQ(outcome(""), "agree with the listener: the connector wants b, the listener has no name (--as)");
  ends.connector.expected_peer.clear();
  EXPECT_EQ(outcome("a"), "agree with the listener: this end met itself: both are called a");
}

TEST(Negotiation, TellsTheExporterWhatWasAgreedOn) {
  const auto context = [](const char* application, const char* connector, const char* listener) {
    Ends ends;
    ends.connector.application = ends.listener.application = application;
    ends.connector.own_name = connector;
    ends.listener.own_name = listener;
    const auto theirs = exporter_context(agree(ends.offer(), ends.acceptance()));
    EXPECT_EQ(exporter_context(*agree(ends.offer(), ends.answer())), theirs);
    return theirs;
  };
  const auto usual = context("pipe", "ab", "c");
  EXPECT_NE(usual, context("rsh", "ab", "c"));
  EXPECT_NE(context("mine", "ab", "c"), context("thine", "ab", "c")) << "names without a number";
  EXPECT_NE(usual, context("pipe", "a", "bc"));
  EXPECT_NE(usual, context("pipe", "c", "ab"));
  EXPECT_NE(usual, context("pipe", "ab", ""));
}

TEST(Negotiation, OffersThe256BitCiphersFastestFirst) {
  const std::vector<Cipher> ciphers = Ends{}.offer().ciphers;
  ASSERT_EQ(ciphers.size(), 2U);
  EXPECT_EQ(ciphers[0], crypto::fastest_256_bit_cipher());
  EXPECT_NE(ciphers[0], ciphers[1]);
  for (const Cipher cipher : ciphers) EXPECT_NE(cipher, Cipher::aes_128_gcm);
}

TEST(Negotiation, TakesAnExplicitCipherAtEitherEnd) {
  Ends ends;
  ends.connector.cipher = Cipher::aes_128_gcm;
  EXPECT_EQ(ends.offer().ciphers, std::vector<Cipher>{Cipher::aes_128_gcm});
  EXPECT_EQ(ends.acceptance().cipher, Cipher::aes_128_gcm);
  ends.listener.cipher = Cipher::aes_128_gcm;
  EXPECT_EQ(ends.acceptance().cipher, Cipher::aes_128_gcm);
  ends.listener.cipher = Cipher::chacha20_poly1305;
  EXPECT_NE(ends.refusal().find("chacha20-poly1305"), std::string::npos);
  ends.connector.cipher.reset();
  EXPECT_EQ(ends.acceptance().cipher, Cipher::chacha20_poly1305);
}

TEST(Negotiation, NeedsNoCipherBelowSafe) {
  for (const auto protection : {Protection::clear, Protection::auth}) {
    Ends ends;
    ends.connector.protection = ends.listener.protection = protection;
    ends.listener.cipher = Cipher::aes_128_gcm;
    EXPECT_TRUE(ends.offer().ciphers.empty());
    EXPECT_EQ(ends.refusal(), "");
  }
}

TEST(Negotiation, RefusesAnOfferOfUnknownCiphers) {
  Offer offer = Ends{}.offer();
  offer.ciphers.clear();
  EXPECT_TRUE(std::holds_alternative<Refusal>(decide(offer, Ends{}.listener, 1)));
}

TEST(Negotiation, TakesTheLesserLanesAndBlocks) {
  Ends ends;
  ends.connector.lanes = 4;
  ends.listener.lanes = 8;
  ends.connector.block_bytes = kMaxBlockBytes;
  ends.listener.block_bytes = kMinBlockBytes;
  EXPECT_EQ(ends.acceptance().lanes, 4U);
  EXPECT_EQ(ends.acceptance().block_bytes, kMinBlockBytes);
  std::swap(ends.connector, ends.listener);
  EXPECT_EQ(ends.acceptance().lanes, 4U);
  EXPECT_EQ(ends.acceptance().block_bytes, kMinBlockBytes);
}

TEST(Negotiation, TakesTheFlowsTheConnectorWantsWithinTheListenersLimit) {
  Ends ends;
  EXPECT_EQ(ends.acceptance().flows, 1U);
  ends.listener.flows = 8;
  EXPECT_EQ(ends.acceptance().flows, 1U);
  ends.connector.flows = 4;
  EXPECT_EQ(ends.acceptance().flows, 4U);
  ends.listener.flows = 3;
  EXPECT_EQ(ends.acceptance().flows, 3U);
  ends.listener.flows.reset();
  ends.connector.flows = 1000;
  EXPECT_EQ(ends.acceptance().flows, kMaxFlows);
}

TEST(Negotiation, RefusesMoreFlowsThanWereOffered) {
  Ends ends;
  ends.connector.flows = 4;
  Acceptance acceptance = ends.acceptance();
  acceptance.session_id[3] = std::byte{7};
  const auto agreed = agree(ends.offer(), Answer(acceptance));
  ASSERT_TRUE(agreed);
  EXPECT_EQ(agreed->flows, 4U);
  EXPECT_EQ(agreed->session_id, acceptance.session_id);
  acceptance.flows = 5;
  EXPECT_EQ(agree(ends.offer(), Answer(acceptance)).error().code, Errc::protocol_violated);
}

TEST(Negotiation, SendsNothingOutOfRange) {
  Ends ends;
  ends.connector.lanes = 0;
  ends.connector.block_bytes = 1;
  ends.listener.lanes = 1000;
  ends.listener.block_bytes = 1 * kGiB;
  EXPECT_TRUE(decode_offer(encode(ends.offer())));
  EXPECT_TRUE(decode_answer(encode(ends.answer())));
  std::swap(ends.connector, ends.listener);
  EXPECT_TRUE(decode_offer(encode(ends.offer())));
  EXPECT_TRUE(decode_answer(encode(ends.answer())));
}

TEST(Negotiation, RefusesEndsWithoutACommonDirection) {
  const auto reason = [](bool connector_sends, bool connector_receives, bool listener_sends, bool listener_receives) {
    Ends ends;
    ends.connector.sends = connector_sends;
    ends.connector.receives = connector_receives;
    ends.listener.sends = listener_sends;
    ends.listener.receives = listener_receives;
    return ends.refusal();
  };
  EXPECT_EQ(reason(true, false, false, true), "");
  EXPECT_EQ(reason(false, true, true, false), "");
  EXPECT_EQ(reason(true, true, true, false), "");
  EXPECT_EQ(reason(true, false, true, true), "");
  EXPECT_NE(reason(true, false, true, false).find("only send"), std::string::npos);
  EXPECT_NE(reason(false, true, false, true).find("only receive"), std::string::npos);
}

TEST(Negotiation, TellsEachEndTheByteOfTheOthersApplication) {
  Ends ends;
  ends.connector.application_data = 1;
  ends.listener.application_data = 255;
  EXPECT_EQ(agree(ends.offer(), ends.answer()).value().peer_application_data, 255);
  EXPECT_EQ(agree(ends.offer(), ends.acceptance()).peer_application_data, 1);
}

TEST(Negotiation, TellsEachEndHowManyStreamsTheOtherTakesAndTheListenerTheServices) {
  Ends ends;
  ends.connector.streams = 5;
  ends.connector.services = {"db"};
  ends.listener.streams = 3;
  const Offer offer = ends.offer();
  const Answer answer = ends.answer();
  EXPECT_EQ(agree(offer, answer).value().streams_to_peer, 3U);
  const NegotiatedParameters at_listener = agree(offer, std::get<Acceptance>(answer));
  EXPECT_EQ(at_listener.streams_to_peer, 5U);
  EXPECT_EQ(at_listener.peer_services, std::vector<std::string>{"db"});
}

TEST(Negotiation, LeavesBothEndsWithTheSame) {
  Ends ends;
  ends.listener.sends = false;
  const NegotiatedParameters connector = *agree(ends.offer(), ends.answer());
  const NegotiatedParameters listener = agree(ends.offer(), ends.acceptance());
  EXPECT_EQ(connector.protection, listener.protection);
  EXPECT_EQ(connector.cipher, listener.cipher);
  EXPECT_EQ(connector.block_bytes, listener.block_bytes);
  EXPECT_EQ(connector.lanes, listener.lanes);
  EXPECT_FALSE(connector.peer_sends);
  EXPECT_TRUE(connector.peer_receives && listener.peer_sends && listener.peer_receives);
  EXPECT_EQ(connector.window_to_peer_bytes, kListenerWindow);
  EXPECT_EQ(connector.window_from_peer_bytes, kConnectorWindow);
  EXPECT_EQ(listener.window_to_peer_bytes, kConnectorWindow);
  EXPECT_EQ(listener.window_from_peer_bytes, kListenerWindow);
}

TEST(Negotiation, TellsARefusalForNowFromOneForGood) {
  EXPECT_EQ(agree(Ends{}.offer(), Answer(Refusal{"no room", true})).error().code, Errc::out_of_resources);
  EXPECT_EQ(agree(Ends{}.offer(), Answer(Refusal{"no", false})).error().code, Errc::parameters_refused);
}

TEST(Negotiation, ReportsARefusalWithItsReason) {
  const auto agreed = agree(Ends{}.offer(), Answer(Refusal{"because"}));
  ASSERT_FALSE(agreed);
  EXPECT_EQ(agreed.error().code, Errc::parameters_refused);
  EXPECT_EQ(agreed.error().message(), "the listener refuses: because");
}

TEST(Negotiation, RefusesAnAnswerToAnotherOffer) {
  Ends ends;
  ends.connector.lanes = ends.listener.lanes = 4;
  const Acceptance right = ends.acceptance();
  const auto outcome = [&](auto change) {
    Acceptance wrong = right;
    change(wrong);
    const auto agreed = agree(ends.offer(), Answer(wrong));
    return agreed ? std::nullopt : std::optional(agreed.error().code);
  };
  EXPECT_EQ(outcome([](Acceptance&) {}), std::nullopt);
  EXPECT_EQ(outcome([](Acceptance& a) { a.cipher = Cipher::aes_128_gcm; }), Errc::protocol_violated);
  EXPECT_EQ(outcome([](Acceptance& a) { a.lanes = 5; }), Errc::protocol_violated);
  EXPECT_EQ(outcome([](Acceptance& a) { ++a.block_bytes; }), Errc::protocol_violated);
  EXPECT_EQ(outcome([](Acceptance& a) { a.sends = a.receives = false; }), Errc::protocol_violated);
}

}  // namespace
}  // namespace udtcat::session
