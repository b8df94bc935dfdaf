// SPDX-License-Identifier: Apache-2.0
#include "ssh/control_message.hpp"

#include <csignal>
#include <tuple>

#include <gtest/gtest.h>

#include "support/spec_example.hpp"

namespace udtcat::ssh {
namespace {

const std::vector<ControlMessage> kEach = {
    RunCommand{"echo hi"}, RunSubsystem{"sftp"},   DeliverSignal{"INT"}, CarryDatagrams{}, Started{}, Exited{7},
    Killed{"TERM", true},  NotRun{"no such shell"}};

/// All messages in `bytes`; none after a violation.
std::optional<std::vector<ControlMessage>> read(std::span<const std::byte> bytes) {
  ControlReader reader;
  reader.push(bytes);
  std::vector<ControlMessage> messages;
  for (;;) {
    auto message = reader.next();
    if (!message) return std::nullopt;
    if (!*message) return messages;
    messages.push_back(std::move(**message));
  }
}

TEST(ControlMessages, SurviveTheirEncoding) {
  for (const ControlMessage& message : kEach) {
    const auto messages = read(encode(message));
    ASSERT_TRUE(messages && messages->size() == 1U) << message.index();
    EXPECT_EQ(encode(messages->front()), encode(message));
  }
}

TEST(ControlMessages, ComeInAnyPieces) {
  std::vector<std::byte> all;
  for (const ControlMessage& message : kEach) {
    const auto bytes = encode(message);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  ControlReader reader;
  std::size_t count = 0;
  for (const std::byte each : all) {
    reader.push(std::span(&each, 1));
    auto message = reader.next();
    ASSERT_TRUE(message);
    if (*message) {
      EXPECT_EQ((*message)->index(), kEach[count++].index());
    }
  }
  EXPECT_EQ(count, kEach.size());
}

TEST(ControlMessages, WaitForTheirRestAtEachTruncation) {
  for (const ControlMessage& message : kEach) {
    const auto bytes = encode(message);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      const auto messages = read(cut);
      ASSERT_TRUE(messages);
      EXPECT_TRUE(messages->empty());
    }
  }
}

TEST(ControlMessages, WithAnyByteChangedAreReadOrRefused) {
  for (const ControlMessage& message : kEach) {
    auto bytes = encode(message);
    for (std::byte& each : bytes)
      for (const unsigned flip : {0xffU, 0x80U, 0x01U}) {
        each ^= std::byte(flip);
        std::ignore = read(bytes);  // a sanitizer looks on
        each ^= std::byte(flip);
      }
  }
}

/// Proves: rsh.reason-length
TEST(ControlMessages, OfUnknownTypeOrSizeAreRefused) {
  const auto refused = [](std::initializer_list<unsigned> bytes) {
    std::vector<std::byte> raw;
    for (const unsigned each : bytes) raw.push_back(static_cast<std::byte>(each));
    return !read(raw).has_value();
  };
  EXPECT_TRUE(refused({0x00, 0, 0, 0}));
  EXPECT_TRUE(refused({0x85, 0, 0, 0}));
  EXPECT_TRUE(refused({0x01, 0, 0, 0})) << "no command";
  EXPECT_TRUE(refused({0x01, 2, 0, 0})) << "131072 bytes";
  EXPECT_TRUE(refused({0x03, 0, 0, 65})) << "a signal of such a name";
  EXPECT_TRUE(refused({0x82, 0, 0, 2, 0, 0})) << "a status of two bytes";
  EXPECT_TRUE(refused({0x83, 0, 0, 2, 2, 'A'})) << "a flag of 2";
  EXPECT_TRUE(refused({0x84, 0, 4, 1})) << "a reason of 1025 bytes";
  EXPECT_FALSE(refused({0x84, 0, 4, 0})) << "its bytes come yet";
  EXPECT_EQ(encode(NotRun{std::string(2000, 'x')}).size(), 4U + 1024);
}

TEST(ControlMessages, HoldNoNulThatWouldCutACommandShort) {
  EXPECT_FALSE(read(encode(RunCommand{std::string("echo\0 rm", 8)})));
}

TEST(ControlMessages, AreThoseOfTheSpecification) {
  const test::SpecExample example("rsh.md", "rsh");
  auto asked = encode(RunCommand{"exit 7"});
  EXPECT_EQ(asked, example.bytes("asked"));
  auto answered = encode(Started{});
  const auto exited = encode(Exited{7});
  answered.insert(answered.end(), exited.begin(), exited.end());
  EXPECT_EQ(answered, example.bytes("answered"));
}

TEST(SignalNames, AreThoseOfSsh) {
  EXPECT_EQ(signal_name(SIGINT), "INT");
  EXPECT_EQ(signal_number("TERM"), SIGTERM);
  EXPECT_EQ(signal_number("STOP"), std::nullopt) << "nobody could wake it again";
  EXPECT_EQ(signal_name(SIGCHLD), std::nullopt);
}

}  // namespace
}  // namespace udtcat::ssh
