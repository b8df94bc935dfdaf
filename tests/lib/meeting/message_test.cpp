// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/message.hpp"

#include <gtest/gtest.h>

#include "lib/meeting/signed_messages.hpp"
#include "support/bytes.hpp"

namespace udtcat::meeting {
namespace {

using test::Bytes;

std::vector<Message> one_of_each() {
  const PublicKey name(std::array<std::byte, 32>{std::byte{9}});
  const Relay relay{.by_tcp = true, .udp_port = 40000, .token = {std::byte{3}}};
  return {Register{name},
          Challenge{{std::byte{1}}},
          Proof{{std::byte{2}}},
          Registered{},
          Ask{name, test::bytes_of("offer")},
          Offered{relay, test::bytes_of("offer")},
          AnswerToPlace{test::bytes_of("answer")},
          Answered{relay, test::bytes_of("answer")},
          Again{},
          Connect{},
          Refused{Refused::Why::no_room, "full"}};
}

TEST(MeetingMessage, ComesBackAsItWasByteByByteOrAllAtOnce) {
  Bytes all;
  MessageReader by_bytes;
  for (const Message& each : one_of_each()) {
    const auto bytes = encode(each);
    all.insert(all.end(), bytes.begin(), bytes.end());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      EXPECT_EQ(by_bytes.next(), std::nullopt);
      by_bytes.append(std::span(bytes).subspan(at, 1));
    }
    EXPECT_EQ(by_bytes.next(), each);
    EXPECT_TRUE(by_bytes.is_empty());
  }
  MessageReader at_once;
  at_once.append(all);
  for (const Message& each : one_of_each()) EXPECT_EQ(at_once.next(), each);
  EXPECT_EQ(at_once.next(), std::nullopt);
}

TEST(MeetingMessage, HasTheNumbersOfTheSpec) {
  EXPECT_EQ(test::to_hex(encode(Again{})), "09000000");
  EXPECT_EQ(test::to_hex(encode(Connect{})), "0a000000");
  EXPECT_EQ(test::to_hex(encode(Refused{Refused::Why::by_listener, "no"})), "0f000003026e6f");
  EXPECT_EQ(test::to_hex(encode(AnswerToPlace{test::from_hex("0102")})), "070000020102");
}

TEST(MeetingMessage, IsRefusedAtEachOtherLengthWhereItHasOne) {
  for (const Message& each : one_of_each()) {
    if (std::holds_alternative<Ask>(each) || std::holds_alternative<AnswerToPlace>(each) ||
        std::holds_alternative<Refused>(each))
      continue;  // any rest will do
    const auto whole = encode(each);
    for (std::size_t bytes = 4; bytes < whole.size(); ++bytes) {
      Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
      cut[3] = static_cast<std::byte>(bytes - 4);
      MessageReader reader;
      reader.append(cut);
      const bool rest_is_signed =
          (std::holds_alternative<Offered>(each) || std::holds_alternative<Answered>(each)) && bytes >= 4 + 19;
      EXPECT_EQ(reader.next().has_value(), rest_is_signed) << each.index() << ' ' << bytes;
    }
  }
}

/// Proves: meet.message-length, meet.refusal-length
TEST(MeetingMessage, OfAnUnknownTypeOrTooLongIsRefused) {
  for (const char* bytes : {"00000000", "0a000000", "ff000000", "09000001ff", "07001000", "07ffffff", "0f000000",
                            "0f00000100", "0f00000105"}) {
    MessageReader reader;
    reader.append(test::from_hex(bytes));
    EXPECT_EQ(reader.next().error().code, Errc::protocol_violated) << bytes;
  }
  MessageReader reader;
  reader.append(encode(AnswerToPlace{Bytes(kMaxSignedBytes + 1)}));
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(encode(Refused{Refused::Why::no_room, std::string(1000, 'x')}).size(), 4U + 1 + 256);
  for (const std::size_t text_bytes : {256U, 257U}) {
    Bytes refusal = test::from_hex(text_bytes == 256 ? "0f00010103" : "0f00010203");
    refusal.resize(refusal.size() + text_bytes, std::byte{'x'});
    MessageReader reads;
    reads.append(refusal);
    EXPECT_EQ(reads.next().has_value(), text_bytes == 256);
  }
}

}  // namespace
}  // namespace udtcat::meeting
