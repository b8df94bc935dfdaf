// SPDX-License-Identifier: Apache-2.0
#include <udtcat/ticket.hpp>

#include <array>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/spec_example.hpp"
#include "support/temp_dir.hpp"

namespace udtcat {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string good_ticket() { return test::SpecExample("meet.md", "ticket").text("ticket"); }

TEST(Ticket, IsAPlaceAndAKey) {
  const auto ticket = Ticket::parse(" " + good_ticket() + "\n");
  ASSERT_TRUE(ticket) << ticket.error().message();
  EXPECT_EQ(ticket->place.host, "meet.example.org");
  EXPECT_EQ(ticket->place.port, 9000);
  EXPECT_EQ(test::to_hex(ticket->key.bytes()), test::to_hex(test::SpecExample("meet.md", "ticket").bytes("key")));
  EXPECT_EQ(ticket->reveal_text(), good_ticket());
}

TEST(Ticket, MayNameItsPlaceByAnAddress) {
  for (const char* host : {"192.0.2.1", "2001:db8::1", "fe80::1%eth0"}) {
    const Ticket ticket{HostPort{host, 7}, Key::generate().value()};
    const auto again = Ticket::parse(ticket.reveal_text());
    ASSERT_TRUE(again) << host;
    EXPECT_EQ(again->place.host, host);
    EXPECT_EQ(again->place.port, 7);
    EXPECT_TRUE(again->key == ticket.key);
  }
}

TEST(Ticket, CutAnywhereIsNone) {
  const std::string whole = good_ticket();
  const auto slash = whole.find('/');
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    const auto ticket = Ticket::parse(cut);
    ASSERT_FALSE(ticket) << cut;
    EXPECT_EQ(ticket.error().code, Errc::bad_argument);
    EXPECT_THAT(ticket.error().message(), Not(HasSubstr(whole.substr(slash + 9)))) << "it quotes the key";
    EXPECT_EQ(Ticket::is_meant(cut), size > slash + 1) << cut;
  }
  for (std::size_t begin = 1; begin <= whole.size(); ++begin) {
    const auto ticket = Ticket::parse(whole.substr(begin));
    EXPECT_TRUE(!ticket || ticket->place.host != "meet.example.org") << begin;
    EXPECT_EQ(ticket.has_value(), begin < std::string("meet.example.org").size()) << "a shorter host is one, too";
  }
}

TEST(Ticket, WithAnyCharacterOfItsKeyChangedIsNone) {
  const std::string whole = good_ticket();
  for (std::size_t i = whole.find('/'); i < whole.size(); ++i) {
    for (const char other : {'A', 'z', '/', ' ', '\0', '\xff'}) {
      std::string changed = whole;
      if (changed[i] == other) continue;
      changed[i] = other;
      EXPECT_FALSE(Ticket::parse(changed)) << i;
    }
  }
}

TEST(Ticket, NeedsAHostAndAPort) {
  const std::string key = "/" + Key::generate().value().reveal_text();
  for (const char* place : {"", "h", "h:", ":1", "h:0", "h:65536", "*:1", "::1:9", "h o:1", "h\n:1", "9000"})
    EXPECT_FALSE(Ticket::parse(place + key)) << place;
  EXPECT_TRUE(Ticket::parse("h:1" + key));
  EXPECT_FALSE(Ticket::parse("h:1/" + key));
  EXPECT_FALSE(Ticket::parse("h:1" + key + key));
}

TEST(Ticket, IsMeantByNoPathAndNoHost) {
  for (const char* word : {"host", "host:", "host:dir", "host:9000", "host:./9000/", "host:dir/udt", "9000", "a/b", "/",
                           "user@host:photos/", "host:2024/", "user@host:2024/u", "~/x", "[::1]:9000", "x/udtcat",
                           "host:9000/x", "host:9000/udtcat2-"})
    EXPECT_FALSE(Ticket::is_meant(word)) << word;
  for (const char* word : {"udtcat1-", "h:1/udtc", "h:1/udtcat1-x", "h/udtcat1-", "[::1]:9000/u"})
    EXPECT_TRUE(Ticket::is_meant(word)) << word;
}

TEST(Ticket, IsReadFromAFileThatOnlyItsUserCanRead) {
  const test::TempDir directory;
  const auto file = directory.write("ticket", good_ticket() + "\n");
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  EXPECT_TRUE(Ticket::from_file(file.string()));
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  EXPECT_FALSE(Ticket::from_file(file.string()));
}

}  // namespace
}  // namespace udtcat
