// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_options.hpp"

#include <gmock/gmock.h>

#include "ssh/ssh_options.hpp"

namespace udtcat::trees {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tool::Words;

TreeOptions parsed(const Result<TreeOptions>& options) {
  EXPECT_TRUE(options) << (options ? "" : options.error().message());
  return options ? *options : TreeOptions{};
}
TreeOptions send(const Words& words) { return parsed(parse_send_options(words)); }
TreeOptions receive(const Words& words) { return parsed(parse_receive_options(words)); }

std::string complaint_of(const Result<TreeOptions>& options) {
  if (options) return "none";
  EXPECT_EQ(options.error().code, Errc::bad_argument);
  return options.error().message();
}
std::string send_complaint(const Words& words) { return complaint_of(parse_send_options(words)); }
std::string receive_complaint(const Words& words) { return complaint_of(parse_receive_options(words)); }

TEST(SendOptions, DialAListener) {
  const TreeOptions options = send({"a", "b", "host", "9000"});
  EXPECT_EQ(options.connect_mode, ConnectMode::dial);
  EXPECT_EQ(options.role, Role::sends);
  EXPECT_THAT(options.selection.paths, ElementsAre("a", "b"));
  EXPECT_EQ(options.peer.host, "host");
  EXPECT_EQ(options.peer.port, 9000);
  EXPECT_EQ(options.session.application, "trees");
  EXPECT_TRUE(options.session.one_stream);
  EXPECT_FALSE(options.transfer.keeps_owners);
}

const std::string kTicket = "example.org:7/udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p";

TEST(ReceiveOptions, TakeATicketAndADirectory) {
  const TreeOptions options = receive({kTicket, "in"});
  EXPECT_EQ(options.connect_mode, ConnectMode::dial);
  ASSERT_TRUE(options.ticket.key);
  EXPECT_EQ(to_string(*options.via), "example.org:7");
  EXPECT_EQ(options.directory, "in");
  EXPECT_THAT(options.selection.paths, IsEmpty());
  EXPECT_EQ(receive({kTicket, "--into", "in"}).directory, "in");
  EXPECT_EQ(receive({"--ticket", "f", "in"}).directory, "in");
  EXPECT_FALSE(receive({kTicket}).ticket.may_be_made);
  for (const Words& words : std::vector<Words>{{kTicket, "a", "b"},
                                               {kTicket, "a", "--into", "b"},
                                               {kTicket, "-k", "f"},
                                               {kTicket, "--via", "p"},
                                               {kTicket, "-l"},
                                               {kTicket, "--push"},
                                               {kTicket, "--once"},
                                               {"--ticket", "f", "a", "b"},
                                               {kTicket.substr(0, 20)},
                                               {kTicket.substr(0, 15)}})
    EXPECT_NE(receive_complaint(words), "none") << words.back();
  EXPECT_THAT(receive_complaint({kTicket + "x"}), HasSubstr("read a ticket: allowed: HOST:PORT/KEY"));
}

TEST(SendOptions, TakeATicketBehindTheirPaths) {
  const TreeOptions options = send({"a", "b", kTicket});
  EXPECT_THAT(options.selection.paths, ElementsAre("a", "b"));
  EXPECT_TRUE(options.ticket.key);
  EXPECT_TRUE(send({"--files-from", "-", kTicket}).ticket.key);
  EXPECT_THAT(send({"a", "--ticket", "f"}).selection.paths, ElementsAre("a"));
  EXPECT_THAT(send_complaint({kTicket}), HasSubstr("a PATH is missing, as in udtcat send PATH TICKET"));
  EXPECT_THAT(send_complaint({"--serve", "d", kTicket}), HasSubstr("a ticket and --serve"));
}

TEST(TreeOptions, MayMakeATicketByAMeetingPlace) {
  EXPECT_TRUE(send({"a", "--via", "p"}).ticket.may_be_made);
  EXPECT_TRUE(receive({"--via", "p", "--into", "d"}).ticket.may_be_made);
  EXPECT_FALSE(receive({"a", "--via", "p"}).ticket.may_be_made) << "the other end says what it sends";
  EXPECT_FALSE(receive({"-l", "--via", "p"}).ticket.may_be_made);
  EXPECT_FALSE(send({"a", "h", "1"}).ticket.may_be_made);
  EXPECT_THAT(receive_complaint({"a", "--via", "p", "--new-ticket"}), HasSubstr("without PATH"));
  EXPECT_THAT(send_complaint({"a", "h", "1", "--new-ticket"}), HasSubstr("needs --via"));
}

TEST(ReceiveOptions, ServeSeveralTransfersUnlessTheyEndWithTheFirst) {
  const auto limits_of = [](const Words& words) { return parse_receive_options(words).value().limits; };
  EXPECT_EQ(limits_of({"-l", "9000"}).peers, kMaxSessions);
  EXPECT_EQ(limits_of({"-l", "9000"}).sessions_per_peer, kMaxSessions);
  EXPECT_EQ(limits_of({"-l", "9000", "--once"}).sessions_per_peer, 1U);
}

TEST(SendOptions, NameADirectoryBySsh) {
  const TreeOptions options = send({"a", "user@host:some/place", "--push", "--port=9000-9010", "-v"});
  EXPECT_EQ(options.connect_mode, ConnectMode::ssh);
  EXPECT_EQ(options.ssh.destination, "user@host");
  EXPECT_EQ(options.host, "host");
  EXPECT_EQ(options.place, "some/place");
  EXPECT_THAT(options.selection.paths, ElementsAre("a"));
  EXPECT_TRUE(options.push);
  EXPECT_EQ(options.far_command, "trees-server");
  EXPECT_THAT(options.far_options, Contains("--port=9000-9010"));
  EXPECT_THAT(options.far_options, Contains("-v"));
  EXPECT_EQ(options.connect_timeout, ssh::kUdpTimeout);
  EXPECT_EQ(send({"a", "host:"}).place, "");
}

TEST(SendOptions, TellHostsWithColonsFromPaths) {
  EXPECT_EQ(send({"a", "user@[2001:db8::1]:d"}).ssh.destination, "user@2001:db8::1") << "as ssh takes it";
  EXPECT_EQ(send({"a", "[2001:db8::1]:d"}).place, "d");
  EXPECT_EQ(send({"a:b", "host", "9000"}).connect_mode, ConnectMode::dial) << "of the last argument";
  EXPECT_THAT(send_complaint({"a", "./b:c"}), HasSubstr("allowed: PATH"));
  EXPECT_THAT(send_complaint({"a", ":c"}), HasSubstr("allowed: PATH"));
}

TEST(SendOptions, RefuseAPortInPlaceOfAPath) {
  EXPECT_THAT(send_complaint({"a", "host"}), HasSubstr("as in host 9000, or by ssh a colon, as in host:;"));
  EXPECT_THAT(parse_send_options({"a", "host:9000"}).error().message(), HasSubstr("a port stands apart, host 9000"));
  EXPECT_THAT(parse_receive_options({"host:9000"}).error().message(), HasSubstr("is host:./9000"));
  EXPECT_EQ(parse_send_options({"a", "host:./9000"})->place, "./9000");
}

TEST(SendOptions, ServeADirectory) {
  const TreeOptions options = send({"--serve", "/srv", "-l", "9000", "--once"});
  EXPECT_EQ(options.connect_mode, ConnectMode::listen);
  EXPECT_EQ(options.directory, "/srv");
  EXPECT_EQ(options.local.port, 9000);
  EXPECT_TRUE(options.once);
  EXPECT_TRUE(options.shows_new_key);
  for (const Words& words : {Words{"-l", "9000"}, Words{"--serve", "d", "9000"}, Words{"a", "--serve", "d", "-l", "1"},
                             Words{"--serve", "d", "-l", "9000", "--files-from", "x"}})
    EXPECT_THAT(send_complaint(words), HasSubstr("needs --serve DIRECTORY")) << words.front();
}

TEST(SendOptions, TakePathsOrAList) {
  const TreeOptions options = send({"--files-from", "-", "host", "9000"});
  EXPECT_EQ(options.selection.list, "-");
  EXPECT_THAT(options.selection.paths, IsEmpty());
  EXPECT_THAT(send_complaint({"--files-from", "-", "a", "host", "9000"}), HasSubstr("allowed without PATH only"));
  EXPECT_THAT(send_complaint({"host", "9000"}), HasSubstr("a PATH is missing, as in udtcat send PATH host 9000"));
  EXPECT_THAT(send_complaint({}), HasSubstr("no arguments"));
}

TEST(SendOptions, AreRefusedWhereTheyWouldDoNothing) {
  for (const char* option :
       {"--push", "--port=9000", "--udp-host=h", "--ssh=ssh -v", "--remote-udtcat=x", "--require-udp"})
    EXPECT_THAT(send_complaint({"a", "host", "9000", option}), HasSubstr("where ssh starts the other end")) << option;
  EXPECT_THAT(send_complaint({"a", "host:d", "-k", "key"}), HasSubstr("allowed with a PORT only"));
  EXPECT_THAT(send_complaint({"a", "host:d", "--protect=clear"}), HasSubstr("always proves the key"));
  EXPECT_THAT(send_complaint({"a", "@host:d"}), HasSubstr("a user is missing"));
  EXPECT_THAT(send_complaint({"a", "host", "9000", "--once"}), HasSubstr("allowed with -l only"));
  EXPECT_THAT(send_complaint({"a", "host", "9000", "--accept-timeout=5s"}), HasSubstr("allowed with -l only"));
  EXPECT_THAT(send_complaint({"--serve", "d", "-l", "9000", "--connect-timeout=5s"}), HasSubstr("--accept-timeout"));
  for (const char* option : {"--owner", "--manifest=m"})
    EXPECT_THAT(send_complaint({"--serve", "d", "-l", "9000", option}), HasSubstr("this one only serves")) << option;
}

TEST(SendOptions, SetOwnersRereadingAndTheManifest) {
  const TreeOptions options = send({"a", "host", "9000", "--owner", "--manifest", "m"});
  EXPECT_TRUE(options.transfer.keeps_owners);
  EXPECT_EQ(options.transfer.manifest, "m");
}

TEST(SendOptions, GiveHelpWithoutArguments) {
  EXPECT_TRUE(send({"--help"}).help);
  EXPECT_THAT(send_help_text(), HasSubstr("udtcat send PATH..."));
}

TEST(ReceiveOptions, ListenForASender) {
  const TreeOptions options = receive({"-l", "127.0.0.1:9000", "in", "--limit", "2MB"});
  EXPECT_EQ(options.role, Role::receives);
  EXPECT_EQ(options.connect_mode, ConnectMode::listen);
  EXPECT_EQ(options.directory, "in");
  EXPECT_EQ(options.local.port, 9000);
  EXPECT_EQ(options.transfer.limit_bytes, 2'000'000U);
  EXPECT_EQ(receive({"-l", "9000"}).directory, ".");
  EXPECT_EQ(receive({"-l", "9000"}).transfer.limit_bytes, std::nullopt);
  EXPECT_THAT(receive_complaint({"-l", "9000", "a", "b"}), HasSubstr("needs [ADDR:]PORT"));
  EXPECT_EQ(receive({"-l", "9000", "--into", "d"}).directory, "d");
  EXPECT_THAT(receive_complaint({"-l", "9000", "a", "--into", "d"}), HasSubstr("needs [ADDR:]PORT"));
  EXPECT_THAT(receive_complaint({"-l"}), Not(HasSubstr("none")));
}

TEST(ReceiveOptions, AskAServerForPathsOrForAll) {
  EXPECT_THAT(receive({"a/b", "c", "host", "9000", "--into", "d"}).selection.paths, ElementsAre("a/b", "c"));
  EXPECT_EQ(receive({"a", "host", "9000", "--into", "d"}).directory, "d");
  EXPECT_THAT(receive({"host", "9000"}).selection.paths, IsEmpty());
  EXPECT_THAT(receive_complaint({"host"}), HasSubstr("allowed: -l"));
}

TEST(ReceiveOptions, AskOneHostBySsh) {
  const TreeOptions options = receive({"host:a", "host:b c"});
  EXPECT_EQ(options.connect_mode, ConnectMode::ssh);
  EXPECT_EQ(options.ssh.destination, "host");
  EXPECT_THAT(options.selection.paths, ElementsAre("a", "b c"));
  EXPECT_THAT(receive_complaint({"host:a", "other:b"}), HasSubstr("paths of one host"));
  EXPECT_THAT(receive_complaint({"host:a", "b"}), HasSubstr("paths of one host"));
}

TEST(ReceiveOptions, AskForNoMoreThanAMessageHolds) {
  Words words(65'536, "p");
  words.insert(words.end(), {"host", "9000"});
  EXPECT_EQ(receive(words).selection.paths.size(), 65'536U);
  words.insert(words.begin(), "p");
  EXPECT_THAT(receive_complaint(words), HasSubstr("at most 65536"));
  EXPECT_THAT(receive_complaint({std::string(4'097, 'p'), "host", "9000"}), HasSubstr("of 4096 bytes each"));
  Words long_ones(300, std::string(4'000, 'p'));
  long_ones.insert(long_ones.end(), {"host", "9000"});
  EXPECT_THAT(receive_complaint(long_ones), HasSubstr("1 MiB in all"));
}

TEST(ReceiveOptions, HaveNoRateWhichIsTheSenders) {
  EXPECT_THAT(receive_complaint({"host", "9000", "--rate", "1Gbit/s"}), HasSubstr("unknown to udtcat receive"));
}

TEST(VerifyOptions, HaveAManifestAndMayHaveADirectory) {
  const auto options = parse_verify_options({"m", "d"}).value();
  EXPECT_EQ(options.manifest, "m");
  EXPECT_EQ(options.directory, "d");
  EXPECT_EQ(parse_verify_options({"m"})->directory, ".");
  EXPECT_EQ(parse_verify_options({}).error().code, Errc::bad_argument);
  EXPECT_EQ(parse_verify_options({"m", "d", "e"}).error().code, Errc::bad_argument);
  EXPECT_TRUE(parse_verify_options({"--help"})->help);
}

TEST(TreeOptions, AreDeclaredForCompletion) {
  for (const auto& declared : {send_options_declared(), receive_options_declared(), verify_options_declared()})
    EXPECT_THAT(declared, Not(IsEmpty()));
}

}  // namespace
}  // namespace udtcat::trees
