// SPDX-License-Identifier: Apache-2.0
#include "ssh/greeting.hpp"

#include <gtest/gtest.h>

namespace udtcat::ssh {
namespace {

class Greetings : public testing::Test {
 protected:
  /// A reader's words for all of it, one byte at a time.
  void hear(std::string_view text) {
    for (const char each : text) {
      reader.push(std::string_view(&each, 1));
      if (!words) words = reader.next();
      noise += reader.take_noise();
    }
  }
  [[nodiscard]] const ConnectLine* connect() const { return words ? std::get_if<ConnectLine>(&*words) : nullptr; }

  Key key = Key::generate().value();
  GreetingReader reader;
  std::optional<GreetingReader::Line> words;
  std::string noise;
};

TEST_F(Greetings, SurviveTheirEncoding) {
  const auto seen = resolve({"192.0.2.7", 9012}, AddressFamily::any).value().front();
  hear(to_text({9012, key.duplicate(), {seen}}));
  ASSERT_TRUE(connect());
  EXPECT_EQ(connect()->port, 9012);
  EXPECT_EQ(connect()->key.reveal_text(), key.reveal_text());
  EXPECT_EQ(connect()->addresses, std::vector{seen});
  EXPECT_EQ(noise, "");
}

TEST_F(Greetings, MayNameSeveralAddresses) {
  hear("\nUDTCAT CONNECT 1 9012 " + key.reveal_text() + " 192.0.2.7,2001:db8::7\n");
  ASSERT_TRUE(connect());
  ASSERT_EQ(connect()->addresses.size(), 2U);
  EXPECT_EQ(connect()->addresses[1].to_string(), "[2001:db8::7]:9012");
}

TEST_F(Greetings, NeedNoAddress) {
  hear(to_text({9012, key.duplicate(), {}}));
  ASSERT_TRUE(connect());
  EXPECT_TRUE(connect()->addresses.empty());
}

TEST_F(Greetings, NameNoAddressOfALinkThatOnlyTheFarSideKnows) {
  for (const char* address : {"fe80::1%eth0", "fe80::1", "fe80::1%1"}) {
    words.reset();
    hear("\nUDTCAT CONNECT 1 9012 " + key.reveal_text() + " " + address + "\n");
    ASSERT_TRUE(connect()) << address;
    EXPECT_TRUE(connect()->addresses.empty()) << address;
  }
}

TEST_F(Greetings, TellOfTheLoginAndOfTheScript) {
  hear("UDTCAT LOGIN 1\n");
  EXPECT_TRUE(words && std::holds_alternative<LoginLine>(*words));
  words.reset();
  hear("\nUDTCAT SCRIPT 1\n");
  EXPECT_TRUE(words && std::holds_alternative<ScriptLine>(*words));
  words.reset();
  hear("UDTCAT LOGIN 2\n");
  EXPECT_FALSE(words);
}

TEST_F(Greetings, LeaveTheNoiseAroundThemToTheUser) {
  hear("Welcome!\n\nYou have mail.\nno newline" + to_text({1, key.duplicate(), {}}) + "rest");
  ASSERT_TRUE(connect());
  EXPECT_EQ(noise, "Welcome!\n\nYou have mail.\nno newline\n");
  EXPECT_EQ(reader.take_noise(true), "rest");
}

TEST_F(Greetings, MayComeThroughATerminal) {
  std::string text = to_text({1, key.duplicate(), {}});
  text.insert(text.size() - 1, "\r");
  hear(text);
  EXPECT_TRUE(connect());
}

TEST_F(Greetings, CanSayThatNoPortWasFree) {
  hear(to_text({0, key.duplicate(), {}}));
  ASSERT_TRUE(connect());
  EXPECT_EQ(connect()->port, 0);
}

TEST_F(Greetings, AreWholeLines) {
  const std::string line = to_text({9012, key.duplicate(), {}}).substr(1);
  const std::string body = line.substr(0, line.size() - 1);
  for (const std::string& other : std::vector<std::string>{
           "x" + line, body + " x\n", "echo " + line, body.substr(0, body.size() - 2) + "\n", "UDTCAT CONNECT\n",
           std::string("UDTCAT\n"), "UDTCAT CONNECT 1 -1 " + key.reveal_text() + " -\n",
           "UDTCAT CONNECT 1 65536 " + key.reveal_text() + " -\n",
           std::string("UDTCAT CONNECT 1 9000 udtcat1-short -\n")}) {
    GreetingReader each;
    each.push(other);
    EXPECT_FALSE(each.next()) << other;
    EXPECT_EQ(each.take_noise(true), other);
  }
}

TEST_F(Greetings, SayWhatIsMissingOrOther) {
  hear("\nUDTCAT MISSING Linux x86_64\n");
  ASSERT_TRUE(words);
  EXPECT_EQ(std::get<MissingLine>(*words).system, "Linux x86_64");
  GreetingReader unfit;
  unfit.push("UDTCAT UNFIT udtcat: no version GLIBC_2.38 found\n");
  EXPECT_EQ(std::get<UnusableLine>(unfit.next().value()).why, "udtcat: no version GLIBC_2.38 found");
  GreetingReader another;
  another.push("UDTCAT CONNECT 2 whatever it may say\n");
  EXPECT_EQ(std::get<OtherVersionLine>(another.next().value()).version, "2");
}

TEST_F(Greetings, SayHowMuchIsThereOfAProgramThatIsExpected) {
  reader.expect_program(4'100'000);
  hear("noise\n\nUDTCAT HAVE 1200000\n");
  ASSERT_TRUE(words);
  EXPECT_EQ(std::get<HaveLine>(*words).bytes, 1'200'000U);
  words.reset();
  hear("\nUDTCAT HAVE 4100000\n" + to_text({9012, key.duplicate(), {}}));
  EXPECT_EQ(std::get<HaveLine>(words.value()).bytes, 4'100'000U);
  words = reader.next();
  EXPECT_TRUE(connect());
  EXPECT_EQ(noise, "noise\n");
}

TEST_F(Greetings, IgnoreImpossibleProgress) {
  for (const std::string value :
       {"", " ", "1 2", " 1", "-1", "+1", "1.5", "0x1", "1k", "1001", "99999999999999999999999999", "1\t"}) {
    GreetingReader each;
    each.expect_program(1000);
    const std::string line = "UDTCAT HAVE " + value + '\n';
    each.push(line);
    EXPECT_FALSE(each.next()) << line;
    EXPECT_EQ(each.take_noise(true), line);
  }
  hear("UDTCAT HAVE 0\nUDTCAT HAVE 5\n");
  EXPECT_FALSE(words) << "none is expected";
  EXPECT_EQ(noise, "UDTCAT HAVE 0\nUDTCAT HAVE 5\n");
}

TEST_F(Greetings, HaveAnEndHoweverLongANoisyLineIs) {
  hear(std::string(100'000, 'x'));
  EXPECT_GE(noise.size(), 90'000U) << "passed on, not kept";
  hear(to_text({1, key.duplicate(), {}}));
  EXPECT_TRUE(connect());
}

TEST_F(Greetings, BelieveOnlyNumericAddresses) {
  hear("UDTCAT CONNECT 1 9000 " + key.reveal_text() + " localhost\n");
  ASSERT_TRUE(connect());
  EXPECT_TRUE(connect()->addresses.empty()) << "nobody makes us ask a resolver";
}

}  // namespace
}  // namespace udtcat::ssh
