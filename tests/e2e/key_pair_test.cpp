// SPDX-License-Identifier: Apache-2.0
/// Ends with key pairs of their own: who comes in, who does not, and who is cut off.
#include <csignal>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udt_strangers.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr std::chrono::milliseconds kCutOff{2'000};  // spec: udtcat-keygen(1), PEERS FILE

class KeyPairs : public UdtcatTest {
 protected:
  KeyPairs() { key_ = ""; }

  /// A key pair in the file `name` of the home.  returns   its public line
  std::string make_pair(const std::string& name) const {
    const Ran ran = run({.argv = {UDTCAT_BINARY, "keygen", "--pair", file(name)}});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    return ran.output.substr(0, ran.output.find('\n'));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (home_ / name).string(); }
  void write_peers(const std::string& lines) const { home_.write("peers", lines); }

  [[nodiscard]] End server(Arguments more = {}, Descriptor out = open_null()) const {
    Arguments args{"-k", file("server"), "--peers", file("peers"), "-v"};
    args.insert(args.end(), more.begin(), more.end());
    return {.args = std::move(args), .out = std::move(out)};
  }
  [[nodiscard]] End client(const std::string& own, Arguments more = {}, Descriptor in = open_null()) const {
    Arguments args{"-k", file(own), "--peer", server_};
    args.insert(args.end(), more.begin(), more.end());
    return {.args = std::move(args), .in = std::move(in)};
  }
  /// The client's bytes come out at the server.
  void expect_carried(Arguments of_both = {}) const {
    const RandomFile sent(1, kMiB);
    Consumer consumer;
    Process listener = listen(server(of_both, consumer.take_stdout()));
    Process connector = connect(client("alice", of_both, open_for_reading(sent.path())));
    expect_exit(connector, kSuccess);
    expect_exit(listener, kSuccess);
    EXPECT_EQ(consumer.digest(), sent.digest());
  }

  const std::string server_ = make_pair("server");
  const std::string alice_ = make_pair("alice");
};

TEST_F(KeyPairs, LetInAPeerThatIsListedAndSayItsName) {
  write_peers("# those who may come\n\nalice " + alice_ + " pipe\n");
  Consumer consumer;
  Process listener = listen(server({"--stats", "json"}, consumer.take_stdout()));
  Process connector = connect(client("alice"));
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  expect_says(listener, "connected to alice (127.0.0.1:");
  EXPECT_EQ(nlohmann::json::parse(listener.error_lines().back()).at("peer_name"), "alice");
}

TEST_F(KeyPairs, CarryAPipeAtEveryLevelOverSeveralFlowsAndByLibudt) {
  write_peers("alice " + alice_ + "\n");
  for (const Arguments& words : {Arguments{"--protect", "auth"}, Arguments{"--protect", "safe"},
                                 Arguments{"--flows", "4"}, Arguments{"--transport", "libudt"}})
    expect_carried(words);
}

TEST_F(KeyPairs, TurnAwayAPeerThatIsNotListed) {
  write_peers("alice " + alice_ + "\n");
  const std::string mallory = make_pair("mallory");
  Process listener = listen(server());
  Process stranger = connect(client("mallory"));
  expect_exit(stranger, kRefused, kAtOnce);
  const std::string key = mallory.substr(0, mallory.rfind(' '));
  expect_says(stranger, key);
  expect_says(listener, "admit the key " + key + ": " + file("peers") + " has no line with it");
  EXPECT_TRUE(listener.running()) << listener.errors();
}

TEST_F(KeyPairs, TurnAwayAPeerThatIsListedForSomethingElse) {
  write_peers("alice " + alice_ + " rsh,forward\n");
  Process listener = listen(server());
  Process other = connect(client("alice"));
  expect_exit(other, kRefused, kAtOnce);
  expect_says(other, "but not for pipe");
  expect_says(listener, "the key of alice is not for pipe: " + file("peers") + ":1 says rsh,forward");
}

TEST_F(KeyPairs, LeaveAListenerThatOnlyIsAClientOfTheOneMeant) {
  write_peers("alice " + alice_ + "\nbob " + make_pair("bob") + "\n");
  Process impostor = listen({.args = {"-k", file("bob"), "--peers", file("peers")}});
  Process connector = connect(client("alice"));
  expect_exit(connector, kRefused, kAtOnce);
  expect_says(connector, "it is not the peer that is meant");
}

TEST_F(KeyPairs, AndASharedKeyDoNotMeet) {
  write_peers("alice " + alice_ + "\n");
  const std::string shared = make_key();
  {
    Process listener = listen(server());
    Process connector = connect({.key = shared});
    expect_exit(connector, kRefused, kAtOnce);
    expect_says(connector,
                "with --peer PUBLIC-KEY, or a line for the listener in its peers file, this end uses its key pair");
    expect_says(listener, "the connector has a shared key, this listener a key pair");
    EXPECT_TRUE(listener.running()) << listener.errors();
  }
  Process listener = listen({.key = shared});
  Process connector = connect(client("alice"));
  expect_exit(connector, kRefused, kAtOnce);
  expect_says(connector, "-k FILE names this end's shared key");
  expect_says(listener, "the connector shows no shared key; it may have a key pair");
}

/// A peer that is in the middle of a pipe.
class KeyPairsAtWork : public KeyPairs {
 protected:
  void SetUp() override {
    write_peers("alice " + alice_ + "\n");
    two_way_.emplace(kMiB, Afterwards::keep_open, Begin::at_once);
    End there = two_way_->listener.end(server().args), here = two_way_->connector.end(client("alice").args);
    listener_.emplace(listen(std::move(there)));
    connector_.emplace(connect(std::move(here)));
    ASSERT_TRUE(two_way_->both_received(kMiB, kTransferLimit)) << listener_->errors() << connector_->errors();
  }
  std::optional<TwoWay> two_way_;
  std::optional<Process> listener_;
  std::optional<Process> connector_;
};

TEST_F(KeyPairsAtWork, AreCutOffWithinTwoSecondsOfASighupThatTakesThemOut) {
  write_peers("# alice has gone\n");
  listener_->send_signal(SIGHUP);
  expect_exit(*listener_, kRefused, kCutOff);
  expect_exit(*connector_, kPeerLost, kCutOff);
  expect_says(*listener_, "alice was taken off " + file("peers"));
}

TEST_F(KeyPairsAtWork, StayWhereTheNewListCannotBeUsed) {
  write_peers("alice is not a key\n");
  listener_->send_signal(SIGHUP);
  expect_says(*listener_, file("peers") + ":1: ");
  EXPECT_TRUE(listener_->running());
  two_way_->listener.producer.end();
  two_way_->connector.producer.end();
  expect_exit(*listener_, kSuccess);
  expect_exit(*connector_, kSuccess);
}

TEST_F(KeyPairs, OfAForwardAreCutOffToo) {
  write_peers("alice " + alice_ + " forward\n");
  Process service = listen(server({"--to", "127.0.0.1:9"}));
  const std::uint16_t front = free_port();
  Process forward = connect(client("alice", {"--from", "127.0.0.1:" + std::to_string(front), "-v"}));
  expect_says(service, "alice (127.0.0.1:");
  write_peers("alice " + alice_ + " pipe\n");
  service.send_signal(SIGHUP);
  expect_says(service, "the key of alice is not for forward");
  EXPECT_TRUE(eventually(kCutOff, [&] { return count_lines(service, "disconnected") == 1; })) << service.errors();
  EXPECT_TRUE(service.running());
}

TEST_F(KeyPairs, OfAForwardTakenOffTheListLetItsClientsWaitNoLonger) {
  write_peers("alice " + alice_ + "\n");
  Process service = listen(server({"--to", "127.0.0.1:9"}));
  const std::uint16_t front = free_port();
  Process forward = connect(client("alice", {"--from", "127.0.0.1:" + std::to_string(front), "--wait", "1m"}));
  ASSERT_TRUE(eventually(kAtOnce, [&] { return count_lines(forward, " stands") == 1; })) << forward.errors();
  write_peers("# nobody\n");
  service.send_signal(SIGHUP);
  ASSERT_TRUE(
      eventually(patience(std::chrono::seconds(10)), [&] { return count_lines(forward, "still dialling") == 1; }));
  EXPECT_TRUE(TcpClient(front, kAtOnce).receive_reset()) << forward.errors();
  expect_says(forward, "forward a client: ");
  expect_says(forward, "does not know our key");
}

TEST_F(KeyPairs, OfAForwardTakenOffTheListAreSaidToBeOffTheList) {
  write_peers("alice " + alice_ + " forward to=web\n");
  Process service = listen(server({"--to", "web=127.0.0.1:9"}));
  const std::uint16_t front = free_port();
  Process forward = connect(client("alice", {"--from", "127.0.0.1:" + std::to_string(front) + "=web"}));
  EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(service, "): connected") == 1; })) << service.errors();
  write_peers("# nobody\n");
  service.send_signal(SIGHUP);
  expect_says(service, "again: 0 peers");
  EXPECT_TRUE(eventually(kCutOff, [&] { return count_lines(service, "): disconnected after") == 1; }))
      << service.errors();
  expect_says(service, "has no line with it");
  EXPECT_EQ(count_lines(service, "may no longer reach"), 0) << service.errors();
  EXPECT_TRUE(
      eventually(patience(std::chrono::seconds(10)), [&] { return count_lines(forward, "still dialling") == 1; }))
      << "why it is refused: " << forward.errors();
}

TEST_F(KeyPairs, LimitedToOneServiceReachNoOther) {
  write_peers("alice " + alice_ + " forward to=web\n");
  const TcpListener web;
  const TcpListener db;
  const std::uint16_t to_web = free_port();
  const std::uint16_t to_db = free_port();
  const auto here = [](std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); };
  Process listener = listen(server({"--to", "web=" + here(web.port()), "--to", "db=" + here(db.port())}));
  Process connector = connect(client("alice", {"--from", here(to_web) + "=web", "--from", here(to_db) + "=db"}));
  ASSERT_TRUE(accepts_tcp(to_web, kAtOnce)) << connector.errors();
  EXPECT_TRUE(web.accept(kAtOnce)) << connector.errors() << listener.errors();
  EXPECT_TRUE(TcpClient(to_db, kAtOnce).receive_reset());
  expect_says(connector, "reach the service db: no such service; offered: web");
  EXPECT_FALSE(db.accept(std::chrono::milliseconds(0)));
  write_peers("alice " + alice_ + " forward to=web,db\n");
  listener.send_signal(SIGHUP);
  EXPECT_TRUE(eventually(kAtOnce,
                         [&] {
                           const TcpClient again(to_db, kAtOnce);
                           return db.accept(std::chrono::milliseconds(100)).has_value();
                         }))
      << connector.errors() << listener.errors();
  const TcpClient open(to_db, patience(std::chrono::seconds(20)));
  const auto served = db.accept(kAtOnce);
  ASSERT_TRUE(served);
  write_peers("alice " + alice_ + " forward to=web\n");
  listener.send_signal(SIGHUP);
  EXPECT_TRUE(open.receive_reset());
  expect_says(listener, "may no longer reach all the services");
}

TEST_F(KeyPairs, TellACommandWhoItServes) {
  write_peers("alice " + alice_ + "\n");
  Process listener = listen(server({"--exec", "echo I serve $UDTCAT_PEER", "--send-only"}));
  Consumer consumer;
  End here = client("alice", {"--recv-only"});
  here.out = consumer.take_stdout();
  Process connector = connect(std::move(here));
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_TRUE(eventually(kAtOnce, [&] { return consumer.bytes_read() == std::string("I serve alice\n").size(); }));
}

/// Strangers that know the listener's public key, and so have its admission key.
TEST_F(KeyPairs, ServeTheRightPeerWhateverStrangersDo) {
  write_peers("alice " + alice_ + "\n");
  make_pair("mallory");
  const RandomFile sent(3, kMiB);
  Consumer consumer;
  Process listener = listen(server({}, consumer.take_stdout()));
  const UdtStrangers silent(port_, scaled_count(200));
  std::vector<Process> unlisted;
  for (int left = scaled_count(20); left > 0; --left) unlisted.push_back(connect(client("mallory")));
  send_garbage(port_, 10'000);
  EXPECT_TRUE(silent.arrived(kTransferLimit));
  for (Process& each : unlisted) expect_exit(each, kRefused);
  Process peer = connect(client("alice", {}, open_for_reading(sent.path())));
  expect_exit(peer, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), sent.digest());
}

class FirstTrust : public KeyPairs {
 protected:
  FirstTrust() { write_peers("alice " + alice_ + "\n"); }
  [[nodiscard]] Process trust(Arguments more = {}) const {
    Arguments args{"-k", file("alice"), "--trust-first"};
    args.insert(args.end(), more.begin(), more.end());
    return connect({.args = std::move(args)});
  }
  const std::filesystem::path known_ = home_ / ".config/udtcat/peers";
};

TEST_F(FirstTrust, WritesAnUnknownListenerDownAndKnowsItFromThenOn) {
  Process listener = listen(server());
  Process first = trust();
  expect_exit(first, kSuccess);
  expect_says(first, known_.string());
  const std::string place = "127.0.0.1:" + std::to_string(port_);
  EXPECT_EQ(read_file(known_), place + " " + server_.substr(0, server_.rfind(' ')) + "\n");
  expect_exit(listener, kSuccess);
  Process again = listen(server());
  Process second = connect({.args = {"-k", file("alice")}});  // without a word about whom it means
  expect_exit(second, kSuccess);
  expect_exit(again, kSuccess);
}

TEST_F(FirstTrust, OfOnePortLeavesASharedKeyAtAnotherAndIsNeverTakenBackAtItsOwn) {
  std::filesystem::create_directories(known_.parent_path());
  const std::string shared = make_key();
  home_.write(".config/udtcat/key", shared, 0600);
  {
    Process pair = listen(server());
    Process first = trust();
    expect_exit(first, kSuccess);
    expect_exit(pair, kSuccess);
  }
  std::filesystem::rename(file("alice"), home_ / ".config/udtcat/identity");
  Process downgraded = listen({.key = shared});
  Process refused = connect({.key = ""});
  expect_exit(refused, kRefused, kAtOnce);
  expect_says(refused, "the listener shows no key pair");
  port_ = free_port();
  Process other = listen({.key = shared});
  Process second = connect({.key = ""});
  expect_exit(second, kSuccess);
  expect_exit(other, kSuccess);
}

TEST_F(FirstTrust, NeverTakesAnotherKeyForAName) {
  make_pair("other");
  std::filesystem::create_directories(known_.parent_path());
  home_.write(".config/udtcat/peers", "# known\n127.0.0.1 " + server_ + "\n");
  Process impostor = listen({.args = {"-k", file("other"), "--peers", file("peers")}});
  Process connector = trust();
  expect_exit(connector, kRefused, kAtOnce);
  expect_says(connector, known_.string() + ":2");
  EXPECT_EQ(read_file(known_), "# known\n127.0.0.1 " + server_ + "\n");
}

TEST_F(FirstTrust, WritesNothingForAListenerThatTurnsItAway) {
  write_peers("bob " + make_pair("bob") + "\n");
  Process listener = listen(server());
  Process connector = trust();
  expect_exit(connector, kRefused, kAtOnce);
  EXPECT_FALSE(std::filesystem::exists(known_));
}

TEST_F(KeyPairs, OfAUserAreFoundInHisDirectoryWhereAnOptionAsksForOne) {
  std::filesystem::create_directories(home_ / ".config/udtcat");
  std::filesystem::rename(file("alice"), home_ / ".config/udtcat/identity");
  write_peers("alice " + alice_ + "\n");
  Process listener = listen(server());
  Process connector = connect({.args = {"--peer", server_}});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
}

TEST_F(KeyPairs, AreMadeWhereTheUserHasNone) {
  Process keygen = udtcat({"keygen", "--pair"});
  expect_exit(keygen, kSuccess);
  const auto made = home_ / ".config/udtcat/identity";
  EXPECT_EQ(std::filesystem::status(made).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::filesystem::status(made.parent_path()).permissions(), std::filesystem::perms(0700));
  Process again = udtcat({"keygen", "--pair"});
  expect_exit(again, kUsage);
  expect_says(again, "not overwritten");
}

struct Misuse {
  const char* name;
  Arguments words;
  const char* says;
};

class KeyPairMisuse : public KeyPairs, public testing::WithParamInterface<Misuse> {};

TEST_P(KeyPairMisuse, IsExplained) {
  write_peers("alice " + alice_ + "\n");
  std::filesystem::permissions(home_.write("open", "alice " + alice_ + "\n"), std::filesystem::perms(0666));
  home_.write("shared", make_key());
  Process process = udtcat(GetParam().words);
  expect_exit(process, kUsage, kAtOnce);
  expect_says(process, GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    Of, KeyPairMisuse,
    testing::Values(Misuse{"AListenerWithoutAList", {"-l", "0", "-k", "server"}, "--peers FILE"},
                    Misuse{"AListThatOthersCanWrite", {"-l", "0", "-k", "server", "--peers", "open"}, "chmod go-w"},
                    Misuse{"ASharedKey", {"-l", "0", "-k", "shared", "--peers", "peers"}, "needs a key pair"},
                    Misuse{"AnUnknownListener", {"localhost", "9", "-k", "alice"}, "--trust-first"},
                    Misuse{"NoPairOfOnesOwn", {"localhost", "9", "--trust-first"}, "keygen --pair"},
                    Misuse{"NamesForSharedKeys", {"localhost", "9", "-k", "alice", "--as", "x"}, "--as"},
                    Misuse{"Clear", {"-l", "0", "--protect", "clear", "--peers", "peers"}, "clear"},
                    Misuse{"Plain", {"-l", "0", "--plain", "--peers", "peers"}, "--plain"}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

}  // namespace
}  // namespace udtcat::test::e2e
