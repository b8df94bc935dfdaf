// SPDX-License-Identifier: Apache-2.0
#include "pipe/pipe_options.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace udtcat::pipe {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

Result<PipeOptions> parse(const tool::Words& words) { return parse_pipe_options(words); }

tool::Words words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

PipeOptions good(const std::string& line) {
  const auto options = parse(words_of(line));
  EXPECT_TRUE(options) << line << ": " << (options ? "" : options.error().message());
  return options.value_or(PipeOptions{});
}

TEST(Options, TellTheFormsOfTheCommandApart) {
  EXPECT_EQ(good("-l 9000").mode, Mode::listen);
  EXPECT_EQ(good("example.org 9000").mode, Mode::connect);
  EXPECT_EQ(good("-l 9000 --to localhost:80").mode, Mode::forward);
  EXPECT_EQ(good("example.org 9000 --from 8080").mode, Mode::forward);
  EXPECT_EQ(good("keygen").mode, Mode::keygen);
  EXPECT_EQ(good("keygen 9000").mode, Mode::connect) << "a host may be called so";
  EXPECT_TRUE(good("--help").help);
  EXPECT_EQ(good("--version").mode, Mode::version);
  EXPECT_EQ(good("-V").mode, Mode::version);
  EXPECT_FALSE(good("--version --plain").plain) << "it would be dialled";
}

TEST(Options, TakeHostAndPortInOneWordToo) {
  EXPECT_EQ(to_string(good("example.org:9000").peer), "example.org:9000");
  EXPECT_EQ(to_string(good("[2001:db8::1]:9000 --from 80").peer), "[2001:db8::1]:9000");
  for (const char* line : {"h:", "h:0", "h:65536", ":1", "::1:9000", "2001:db8::1", "h:1 2", "h:1x"})
    EXPECT_FALSE(parse(words_of(line))) << line;
}

TEST(Options, NeedNeitherHostNorPortWithAMeetingPlace) {
  const PipeOptions connector = good("--via example.org --stun stun.example.net --stun 192.0.2.1:1");
  EXPECT_EQ(connector.mode, Mode::connect);
  EXPECT_EQ(to_string(*connector.via), "example.org:9000");
  ASSERT_EQ(connector.stun.size(), 2U);
  EXPECT_EQ(to_string(connector.stun[0]), "stun.example.net:3478");
  EXPECT_EQ(to_string(connector.stun[1]), "192.0.2.1:1");
  const PipeOptions listener = good("-l --via [2001:db8::1]:7 --via-key f");
  EXPECT_EQ(listener.mode, Mode::listen);
  EXPECT_EQ(to_string(*listener.via), "[2001:db8::1]:7");
  EXPECT_EQ(listener.via_key_file, "f");
  EXPECT_EQ(listener.local.port, 0);
  EXPECT_EQ(listener.counterpart, "udtcat --via [2001:db8::1]:7 -k /dev/tty{options}");
  EXPECT_EQ(to_string(*good("-l 9000 --via 2001:db8::1").via), "[2001:db8::1]:9000");
  EXPECT_EQ(good("-l --via h --to localhost:80").mode, Mode::forward);
  for (const char* line : {"h 1 --via p", "--via p --protect clear", "--via p --transport libudt", "-l 1 --stun s",
                           "-l 1 --via-key f", "--plain --via p", "--via p:0"})
    EXPECT_FALSE(parse(words_of(line))) << line;
}

const std::string kTicket = "example.org:7/udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p";

TEST(Options, TakeATicketInThePlaceOfHostPortAndKey) {
  const PipeOptions options = good(kTicket + " --via-key f --stun s --recv-only");
  EXPECT_EQ(options.mode, Mode::connect);
  ASSERT_TRUE(options.ticket.key);
  EXPECT_EQ(to_string(*options.via), "example.org:7");
  EXPECT_FALSE(options.ticket.may_be_made);
  EXPECT_EQ(options.command_line.find("AAECAw"), std::string::npos) << options.command_line;
  const PipeOptions in_a_file = good("--ticket f");
  EXPECT_EQ(in_a_file.mode, Mode::connect);
  EXPECT_EQ(in_a_file.ticket.file, "f");
  for (const char* more :
       {"-k f", "--peers f", "--trust-first", "--via p", "-l", "9000", "--to h:1", "--from 1", "--plain", "--ticket f",
        "--new-ticket", "--protect clear", "--transport libudt", "--accept-timeout 1s"})
    EXPECT_FALSE(parse(words_of(kTicket + " " + more))) << more;
  for (const char* line :
       {"--ticket f h 1", "--ticket f --via p", "--ticket f -k f", "--ticket f -l", "--ticket f --to h:1"})
    EXPECT_FALSE(parse(words_of(line))) << line;
}

TEST(Options, MayMakeATicketForAPipeByAMeetingPlace) {
  EXPECT_TRUE(good("--via p").ticket.may_be_made);
  EXPECT_TRUE(good("--via p --new-ticket").ticket.wanted);
  EXPECT_TRUE(good("--via p --accept-timeout 1s").ticket.may_be_made);
  for (const char* line : {"-l --via p", "--via p --from 80", "h 1"})
    EXPECT_FALSE(good(line).ticket.may_be_made) << line;
  for (const char* line :
       {"--new-ticket", "--new-ticket h 1", "-l --via p --new-ticket", "--via p --from 80 --new-ticket",
        "--via p -k f --new-ticket", "--via p --new-ticket --trust-first"})
    EXPECT_FALSE(parse(words_of(line))) << line;
}

TEST(Options, OfAnEndThatMakesATicketAreAListenersOfOnePeer) {
  PipeOptions options = good("--via p");
  ASSERT_TRUE(tool::become_ticket_listener("udtcat {ticket}", options));
  EXPECT_TRUE(options.listens && options.ticket.made);
  EXPECT_EQ(options.counterpart, "udtcat {ticket}");
  EXPECT_EQ(options.limits.peers, 1U);
  PipeOptions in_a_hurry = good("--via p --connect-timeout 1s");
  EXPECT_FALSE(tool::become_ticket_listener("udtcat {ticket}", in_a_hurry)) << "it waits";
}

TEST(Options, NameTheNearestWhereOneIsUnknown) {
  const auto complaint = [](const char* line) { return parse(words_of(line)).error().message(); };
  EXPECT_THAT(complaint("h 1 --recvonly"), HasSubstr("did you mean --recv-only?"));
  EXPECT_THAT(complaint("h 1 --raet=1M"), HasSubstr("did you mean --rate?"));
  EXPECT_THAT(complaint("h 1 --protect privat"), HasSubstr("did you mean private?"));
  EXPECT_THAT(complaint("h 1 --frobnicate"), testing::Not(HasSubstr("did you mean")));
  EXPECT_THAT(complaint("far"), HasSubstr("a port is missing, as in udtcat far 9000"));
  EXPECT_THAT(complaint("-lp 9000"), HasSubstr("the port follows -l itself, as in udtcat -l 9000"));
  EXPECT_THAT(complaint("-lnvp 9000"), HasSubstr("the port follows -l itself, as in udtcat -l 9000"));
  EXPECT_THAT(complaint("9000"), HasSubstr("a host is missing, as in udtcat HOST 9000; udtcat -l 9000 waits"));
  EXPECT_THAT(complaint("keygen /tmp/x"),
              HasSubstr("udtcat keygen > /tmp/x); a key pair is made by udtcat keygen --pair /tmp/x"));
  EXPECT_THAT(complaint("recieve -l 9000"), HasSubstr("-l \"recieve 9000\": takes one [ADDR:]PORT"));
  EXPECT_THAT(complaint("send file"), HasSubstr("arguments \"send file\": allowed: HOST PORT"));
}

TEST(Options, SayWhichPartOfAPlaceIsWrong) {
  const auto complaint = [](const char* line) { return parse(words_of(line)).error().message(); };
  EXPECT_THAT(complaint("h:"),
              HasSubstr("\"h:\": allowed: HOST:PORT, as in localhost:80 or [::1]:80; a port is missing"));
  EXPECT_THAT(complaint(":1"), HasSubstr("a host is missing"));
  EXPECT_THAT(complaint("h:port:extra"), HasSubstr("an IPv6 address goes in brackets"));
  EXPECT_THAT(complaint("h:ninety"), HasSubstr("a port is a number, 1 to 65535"));
  EXPECT_THAT(complaint("alice@ 1"), HasSubstr("a host is missing behind the @"));
  for (const char* line : {"alice@h 1", "alice@h:1"})
    EXPECT_THAT(complaint(line), HasSubstr("as in h 1; USER@ is for ssh only")) << line;
}

TEST(Options, OfAPipeAreForPeopleWhoTypeUnlessACommandIsThere) {
  EXPECT_TRUE(good("h 1").is_chat);
  EXPECT_FALSE(good("h 1 --exec cat").is_chat);
}

TEST(Options, OfKeygenAreNone) {
  for (const char* line : {"keygen -v", "--lanes 3 keygen", "keygen --stats json"}) {
    const auto options = parse(words_of(line));
    ASSERT_FALSE(options) << line;
    EXPECT_THAT(options.error().message(), HasSubstr("udtcat keygen has no options"));
  }
}

TEST(Options, TakeAPeerByItsKeyOrByItsName) {
  const std::string key = "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";  // docs/spec/handshake.md §1
  for (const std::string& text : {key, "udtcat-ed25519 " + key, "udtcat-ed25519 " + key + " me@here"}) {
    const auto options = parse({"h", "1", "--peer", text}).value();
    EXPECT_EQ(options.peer_key, PublicKey::parse(key).value()) << text;
    EXPECT_EQ(options.session.expected_peer, "");
  }
  EXPECT_EQ(good("h 1 --peer beta").session.expected_peer, "beta");
  EXPECT_EQ(good("h 1 --peer beta").peer_key, std::nullopt);
  const auto broken = parse({"h", "1", "--peer", "udtcat-ed25519 " + key.substr(1)});
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message(), HasSubstr("43 characters"));
}

TEST(GatewayOptions, RefuseThoseOfAPipe) {
  for (const char* option : {"--plain", "--send-only", "--recv-only", "--exec=x", "--accept-timeout=3"}) {
    const auto options = parse_forward_options("udtcat gridftp gateway", {"h", "1", "--from", "2", option});
    ASSERT_FALSE(options) << option;
    EXPECT_THAT(options.error().message(), HasSubstr("unknown to udtcat gridftp gateway"));
  }
  EXPECT_FALSE(parse_forward_options("udtcat gridftp gateway", {"h", "1"}));
  EXPECT_EQ(parse_forward_options("udtcat gridftp gateway", {"h", "1", "--from", "2"}).value().mode, Mode::forward);
}

TEST(Options, LetAListenersPeersMeasureWhereTheyProveAKey) {
  EXPECT_EQ(good("-l 9000").further.size(), 1U);
  EXPECT_EQ(good("-l 9000 --recv-only --protect auth").further.size(), 1U);
  EXPECT_TRUE(good("-l 9000 --protect clear").further.empty()) << "strangers could have us send";
  EXPECT_TRUE(good("-l 9000 --to localhost:80").further.empty());
  EXPECT_TRUE(good("h 9000").further.empty());
}

TEST(Options, SayWhatTheSessionIsForAndBetweenWhom) {
  EXPECT_EQ(good("-l 9000").session.application, "pipe");
  EXPECT_EQ(good("h 9000").session.application, "pipe");
  EXPECT_EQ(good("-l 9000 --to localhost:80").session.application, "forward");
  EXPECT_EQ(good("h 9000 --from 8080").session.application, "forward");
  EXPECT_EQ(good("h 9000").session.own_name + good("h 9000").session.expected_peer, "");
  const auto named = good("h 9000 --as here --peer there.example.org").session;
  EXPECT_EQ(named.own_name, "here");
  EXPECT_EQ(named.expected_peer, "there.example.org");
}

TEST(Options, HaveTheDocumentedDefaults) {
  const PipeOptions options = good("example.org 9000");
  EXPECT_EQ(options.session.protection, Protection::private_);
  EXPECT_FALSE(options.session.cipher);
  EXPECT_TRUE(options.session.sends && options.session.receives);
  EXPECT_EQ(options.session.idle_timeout, 40s);
  EXPECT_EQ(options.connect_timeout, 10s);
  EXPECT_EQ(options.closed_port_patience, 2s);
  EXPECT_FALSE(options.accept_timeout);
  EXPECT_TRUE(options.transport.rate.unlimited());
  EXPECT_EQ(options.transport.congestion, CongestionKind::bbr);
  EXPECT_EQ(options.transport.memory_bytes, kDefaultMemoryBytes);
  EXPECT_EQ(options.family, AddressFamily::any);
  EXPECT_FALSE(options.plain);
  EXPECT_FALSE(options.progress);
  EXPECT_FALSE(options.stats_json);
}

TEST(Options, TakeEachValue) {
  const PipeOptions options = good(
      "h 1 -k file --protect safe --cipher chacha20-poly1305 --block 64KiB --lanes 3 --threads 2 --flows 4 --transport "
      "native "
      "--congestion udt --rate 400M --memory 2GiB "
      "--connect-timeout 2m --idle-timeout 5 -6 -vv --no-progress --stats json --send-only");
  EXPECT_EQ(options.key_file, "file");
  EXPECT_EQ(options.peers_file, std::nullopt);
  EXPECT_EQ(options.session.protection, Protection::safe);
  EXPECT_EQ(options.session.cipher, Cipher::chacha20_poly1305);
  EXPECT_EQ(options.session.block_bytes, 65536U);
  EXPECT_EQ(options.session.lanes, 3U);
  EXPECT_EQ(options.session.flows, 4U);
  EXPECT_EQ(options.session.threads, 2U);
  EXPECT_EQ(options.transport.kind, TransportKind::native);
  EXPECT_EQ(options.transport.congestion, CongestionKind::udt);
  EXPECT_EQ(options.transport.rate.bits_per_second(), 400'000'000U);
  EXPECT_EQ(options.transport.memory_bytes, 2 * kGiB);
  EXPECT_EQ(options.connect_timeout, 120s);
  EXPECT_EQ(options.closed_port_patience, 120s);
  EXPECT_EQ(options.session.idle_timeout, 5s);
  EXPECT_EQ(options.family, AddressFamily::ipv6);
  EXPECT_EQ(options.verbosity, 2);
  EXPECT_EQ(options.progress, false);
  EXPECT_TRUE(options.stats_json);
  EXPECT_FALSE(options.session.receives);
}

TEST(Options, TakeAValueBehindAnEqualsSign) { EXPECT_EQ(good("h 1 --lanes=7").session.lanes, 7U); }
TEST(Options, TakeTheLastOfTwoValues) { EXPECT_EQ(good("h 1 --lanes 7 --lanes 8").session.lanes, 8U); }
TEST(Options, PutACommandInPlaceOfStdinAndStdout) {
  EXPECT_EQ(good("-l 9000 --exec cat").exec, "cat");
  EXPECT_EQ(good("h 9000 --exec=cat").mode, Mode::connect);
  EXPECT_FALSE(good("h 9000").exec);
}
TEST(Options, TakeFlagsInOneWord) { EXPECT_EQ(good("-lvv 9000").verbosity, 2); }
TEST(Options, MayStandAnywhere) { EXPECT_EQ(good("-l -v --lanes 7 9000").local.port, 9000); }

TEST(Options, ReadAddresses) {
  EXPECT_EQ(good("-l 192.0.2.1:9000").local.host, "192.0.2.1");
  EXPECT_EQ(good("-l [::1]:9000").local.host, "::1");
  EXPECT_EQ(good("-l 0").local.port, 0);
  EXPECT_EQ(good("2001:db8::1 9000").peer.host, "2001:db8::1");
  EXPECT_EQ(good("[2001:db8::1] 9000").peer.host, "2001:db8::1");
  EXPECT_EQ(good("-l 9000 --to db:5432").services.at(0).address.tcp.port, 5432);
}

TEST(Options, ChooseTheAddressesToLeaveFrom) {
  EXPECT_TRUE(good("h 1").transport.local_addresses.empty());
  const auto locals = good("h 1 --bind 192.0.2.1,2001:db8::1").transport.local_addresses;
  ASSERT_EQ(locals.size(), 2U);
  EXPECT_EQ(locals[0].to_string(), "192.0.2.1:0");
  EXPECT_EQ(locals[1].to_string(), "[2001:db8::1]:0");
  std::string many = "192.0.2.1";
  for (int i = 2; i <= 16; ++i) many += ",192.0.2." + std::to_string(i);
  EXPECT_EQ(good("h 1 --bind " + many).transport.local_addresses.size(), 16U);
  EXPECT_FALSE(parse({"h", "1", "--bind", many + ",192.0.2.17"}));
}

TEST(Options, ChooseATransport) {
  EXPECT_EQ(good("h 1 --transport libudt").transport.kind, TransportKind::libudt);
  EXPECT_EQ(good("h 1 --transport tcp").transport.kind, TransportKind::tcp);
  EXPECT_EQ(good("h 1 --no-tcp").transport.kind, TransportKind::native) << "auto without TCP";
  EXPECT_EQ(good("h 1 --transport auto --memory 1MiB").transport.kind, TransportKind::automatic);
  EXPECT_EQ(good("h 1 --transport native --congestion fixed --rate 1G").transport.congestion, CongestionKind::fixed);
  EXPECT_EQ(good("h 1 --transport native --memory 1MiB").transport.memory_bytes, kMinMemoryBytes);
}

TEST(Options, LetTheSessionNoticeALostPeerBeforeTheTransport) {
  EXPECT_GT(good("h 1").transport.idle_timeout, 40s);
  EXPECT_GT(good("h 1 --idle-timeout 2m").transport.idle_timeout, 120s);
  EXPECT_EQ(good("h 1 --plain --idle-timeout 2m").transport.idle_timeout, 120s) << "no session is there to notice";
}

TEST(Options, RefuseThoseOfASessionWhenPlain) {
  const PipeOptions connector = good("h 1 --plain --rate 1G --connect-timeout 1m --send-only");
  EXPECT_EQ(connector.mode, Mode::connect);
  EXPECT_TRUE(connector.plain);
  EXPECT_EQ(connector.session.protection, Protection::clear);
  EXPECT_FALSE(connector.session.receives);
  EXPECT_EQ(good("--plain -l 9000 --accept-timeout 1m").mode, Mode::listen);
}

TEST(Options, NameTheService) {
  EXPECT_EQ(good("h 1").name, "");
  EXPECT_EQ(good("h 1 --name db@a.example:5432_x-1").name, "db@a.example:5432_x-1");
}

TEST(Options, TakeAnIntervalForFigures) {
  EXPECT_EQ(good("h 1 --stats json:10s").stats_interval, 10s);
  EXPECT_TRUE(good("h 1 --stats json:100ms").stats_json);
  EXPECT_EQ(good("h 1 --stats json:1s --stats json").stats_interval, std::nullopt);
}

TEST(Options, KeepTheCommandLineForStatus) {
  EXPECT_EQ(parse({"h", "1", "--exec", "zfs recv"}).value().command_line, "udtcat h 1 --exec 'zfs recv'");
}

TEST(Options, LetOnlyLocalClientsInUnlessToldOtherwise) {
  EXPECT_EQ(good("h 1 --from 8080").listeners.at(0).address.tcp.host, "localhost");
  EXPECT_EQ(good("h 1 --from 8080 -6").listeners.at(0).address.tcp.host, "localhost");
  EXPECT_EQ(good("h 1 --from *:8080").listeners.at(0).address.tcp.host, "");
  EXPECT_EQ(good("h 1 --from 192.0.2.1:8080").listeners.at(0).address.tcp.host, "192.0.2.1");
}

struct Refusal {
  std::string line;
  std::string what;     // names the option and the value
  std::string allowed;  // says what would do
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.line; }

class OptionsRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(OptionsRefusal, NamesOptionValueAndWhatIsAllowed) {
  const auto options = parse(words_of(GetParam().line));
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().code, Errc::bad_argument);
  EXPECT_EQ(options.error().what, GetParam().what);
  EXPECT_THAT(options.error().cause, HasSubstr(GetParam().allowed));
  EXPECT_THAT(options.error().message(), testing::Not(HasSubstr("\n")));
}

const std::vector<Refusal> kRefusals{
    // Values.
    {"h 1 --protect secret", "--protect \"secret\"", "allowed: private, safe, auth, clear"},
    {"h 1 --cipher aes", "--cipher \"aes\"", "allowed: aes-256-gcm, aes-128-gcm, chacha20-poly1305"},
    {"h 1 --cipher aes-256-gcm --protect auth", "--cipher \"aes-256-gcm\"", "nothing is enciphered at --protect auth"},
    {"h 1 --block 1", "--block \"1\"", "allowed: 4KiB to 1MiB"},
    {"h 1 --block 2MiB", "--block \"2MiB\"", "allowed: 4KiB to 1MiB"},
    {"h 1 --block 1M", "--block \"1M\"", "KiB"},
    {"h 1 --flows 0", "--flows \"0\"", "allowed: 1 to 16"},
    {"h 1 --flows 17", "--flows \"17\"", "allowed: 1 to 16"},
    {"h 1 --lanes 0", "--lanes \"0\"", "allowed: 1 to 64"},
    {"h 1 --lanes 65", "--lanes \"65\"", "allowed: 1 to 64"},
    {"h 1 --lanes -1", "--lanes \"-1\"", "allowed: 1 to 64"},
    {"h 1 --lanes 2x", "--lanes \"2x\"", "allowed: 1 to 64"},
    {"h 1 --lanes 18446744073709551617", "--lanes \"18446744073709551617\"", "allowed: 1 to 64"},
    {"h 1 --threads 0", "--threads \"0\"", "allowed: 1 to 256"},
    {"h 1 --threads 257", "--threads \"257\"", "allowed: 1 to 256"},
    {"h 1 --transport sctp", "--transport \"sctp\"", "allowed: auto, native, libudt, tcp"},
    {"h 1 --transport tcp --no-tcp", "--no-tcp and --transport tcp", "one of them"},
    {"h 1 --transport tcp --congestion udt", "--congestion", "tcp has its own way"},
    {"--plain h 1 --transport tcp", "--plain and --transport \"tcp\"", "UDT4"},
    {"h 1 --rate 10MB", "--rate \"10MB\"", "bits per second"},
    {"h 1 --rate 0", "--rate \"0\"", "above 0"},
    {"h 1 --recv-only --rate 1M", "--rate and --recv-only", "the end that sends"},
    {"--plain h 1 --exec x", "--plain and --exec", "stdin and stdout"},
    {"-l 1 --to h:1 --exec x", "--exec with --to or --from", "one of them"},
    {"h 1 --exec=", "option --exec", "needs a value"},
    {"h 1 --congestion reno", "--congestion \"reno\"", "allowed: bbr, udt, fixed"},
    {"h 1 --offload maybe", "--offload \"maybe\"", "allowed: on, off"},
    {"h 1 --transport libudt --offload off", "--offload", "--transport native only"},
    {"h 1 --memory 1023KiB", "--memory \"1023KiB\"", "allowed: 1MiB to 64GiB"},
    {"h 1 --memory 65GiB", "--memory \"65GiB\"", "allowed: 1MiB to 64GiB"},
    {"h 1 --connect-timeout 0", "--connect-timeout \"0\"", "allowed: 1ms or more"},
    {"h 1 --connect-timeout soon", "--connect-timeout \"soon\"", "ms, s or m"},
    {"h 1 --idle-timeout 2s", "--idle-timeout \"2s\"", "allowed: 3s or more"},
    {"-l 9000 --accept-timeout -1", "--accept-timeout \"-1\"", "allowed: 1ms or more"},
    {"h 1 --name a/b", "--name \"a/b\"", "allowed: 1 to 255 letters, digits and ._:@-\\"},
    {"h 1 --name " + std::string(256, 'a'), "--name \"" + std::string(256, 'a') + "\"", "allowed: 1 to 255 letters"},
    {"h 1 --stats xml", "--stats \"xml\"", "allowed: json, json:INTERVAL as in json:10s, none"},
    {"h 1 --bind eth0", "--bind \"eth0\"", "addresses of this host"},
    {"h 1 --bind 192.0.2.1,", "--bind \"\"", "addresses of this host"},
    {"h 1 --bind 0.0.0.0", "--bind \"0.0.0.0\"", "addresses of this host"},
    {"h 1 --bind ::1,192.0.2.1,::1", "--bind \"::1,192.0.2.1,::1\"", "::1 is there twice"},
    {"h 1 --bind 192.0.2.1 --transport libudt", "--bind and --transport libudt", "allowed: auto, native or tcp"},
    {"-l 1 --bind 192.0.2.1", "--bind and -l", "the end that connects"},
    {"--via m --bind 192.0.2.1", "--bind and --via", "with HOST PORT"},
    // Addresses.
    {"h 0", "PORT \"0\"", "allowed: 1 to 65535"},
    {"h 65536", "PORT \"65536\"", "allowed: 1 to 65535"},
    {"h http", "arguments \"h http\"", "HOST PORT"},
    {"* 9000", "HOST \"*\"", "a name or an address"},
    {"-l 65536", "-l \"65536\"", "[ADDR:]PORT"},
    {"-l ::1:9000", "-l \"::1:9000\"", "[::1]:9000"},
    {"-l 9000 --to 80", "--to \"80\"", "HOST:PORT"},
    {"-l 9000 --to db:0", "--to \"db:0\"", "HOST:PORT"},
    {"h 1 --from nowhere", "--from \"nowhere\"", "[ADDR:]PORT"},
    // Combinations.
    {"h 1 --send-only --recv-only", "--send-only and --recv-only", "one of the two"},
    {"h 1 -4 -6", "-4 and -6", "one of the two"},
    {"h 1 -v -q", "-v and -q", "one of the two"},
    {"h 1 --progress --no-progress", "--progress and --no-progress", "one of the two"},
    {"h 1 --transport libudt --congestion bbr", "--congestion", "--transport native only"},
    {"h 1 --transport libudt --memory 1GiB", "--memory", "--transport native only"},
    {"h 1 --transport native --congestion fixed", "--congestion \"fixed\"", "needs --rate"},
    {"-l 1 --to a:1 --once", "--once", "HOST PORT and --from or --to only"},
    {"h 1 --once", "--once", "HOST PORT and --from or --to only"},
    {"h 1 --to a:1 --wait 1", "--wait", "with --from only"},
    {"h 1 --to db=a:1 --to db=b:1", "--to", "one of the name db"},
    {"-l 1 --to db:1 --send-only", "--send-only", "not with --to"},
    {"h 1 --from 2 --recv-only", "--recv-only", "not with --to or --from"},
    {"-l 1 --connect-timeout 1s", "--connect-timeout", "--accept-timeout"},
    {"h 1 --accept-timeout 1s", "--accept-timeout", "with -l"},
    {"-l 1 --to db:1 --accept-timeout 1s", "--accept-timeout", "without --to"},
    // --plain and names.
    {"h 1 --plain -k file", "--plain and -k", "no key"},
    {"h 1 --plain --as a", "--plain and --as", "no session"},
    {"h 1 --plain --peer b", "--plain and --peer", "no session"},
    {"h 1 --as a --peer a", "--as and --peer", "two names"},
    {"h 1 --as \x07", "--as \"\x07\"", "without white space"},
    {"h 1 --plain --protect private", "--plain and --protect", "no session"},
    {"h 1 --plain --cipher aes-256-gcm", "--plain and --cipher", "no cipher"},
    {"h 1 --plain --lanes 2", "--plain and --lanes", "no session"},
    {"h 1 --plain --threads 2", "--plain and --threads", "no session"},
    {"h 1 --plain --block 64KiB", "--plain and --block", "no blocks"},
    {"-l 1 --plain --to db:1", "--plain and --to", "stdin and stdout"},
    {"h 1 --plain --from 2", "--plain and --from", "stdin and stdout"},
    // Words.
    {"", "no arguments", "HOST PORT"},
    {"h", "arguments \"h\"", "HOST PORT"},
    {"h 1 2", "arguments \"h 1 2\"", "HOST PORT"},
    {"-l", "-l", "[ADDR:]PORT"},
    {"-l ::1 9000", "-l \"::1 9000\"", "takes one"},
    {"h 1 --colour", "option \"--colour\"", "udtcat --help"},
    {"h 1 --lanes", "option --lanes", "needs a value"},
    {"h 1 --key-file --verbose", "option --key-file", "needs a value"},
    {"h 1 -k -v", "option -k", "needs a value"},
    {"h 1 --progress=no", "option --progress", "has no value"},
    {"h 1 --config f", "--config f", "it comes first"},
    {"h 1 --stats json:", "--stats json: \"\"", "allowed: 100ms or more"},
    {"h 1 --stats json:99ms", "--stats json: \"99ms\"", "allowed: 100ms or more"},
    {"h 1 -k", "option --key-file", "needs a value"},
};
INSTANTIATE_TEST_SUITE_P(Of, OptionsRefusal, testing::ValuesIn(kRefusals));

TEST(Options, WriteAnAddressAsUsersDo) {
  EXPECT_EQ(to_string(HostPort{"example.org", 80}), "example.org:80");
  EXPECT_EQ(to_string(HostPort{"2001:db8::1", 80}), "[2001:db8::1]:80");
}

}  // namespace
}  // namespace udtcat::pipe
