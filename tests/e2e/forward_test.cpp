// SPDX-License-Identifier: Apache-2.0
/// Forwards that live: the far end first or last, killed and started again; several services, unix sockets, both ways.
#include <csignal>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/tcp_services.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

constexpr auto kOneShot = "GET /small HTTP/1.0\r\n\r\n";

std::string at(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

/// Dials until it listens: bind() makes the name, and listen() comes after.
TcpClient unix_client(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  Descriptor socket;
  const bool connected = eventually(kAtOnce, [&] {
    socket = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
    return ::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  });
  EXPECT_TRUE(connected) << path;
  return {std::move(socket), patience(20s)};
}

/// Whether the whole answer comes, and its end.
testing::AssertionResult is_answered(const TcpClient& client) {
  if (!client.connected() || !client.send(kOneShot)) return testing::AssertionFailure() << "it takes no request";
  std::string all;
  for (std::string more = client.receive(1); !more.empty(); more = client.receive(1)) all += more;
  if (all.ends_with(HttpServer::kSmallBody)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the answer is \"" << all << "\"";
}

class ForwardTest : public UdtcatTest {
 protected:
  void SetUp() override { ASSERT_TRUE(http_.ready()); }
  [[nodiscard]] Arguments to_service() const { return {"--to", at(http_.port())}; }
  [[nodiscard]] Arguments from_entrance() const { return {"--from", at(entrance_)}; }
  [[nodiscard]] TcpClient client() const { return client(entrance_); }
  [[nodiscard]] static TcpClient client(std::uint16_t entrance) {
    for (const auto end = Clock::now() + kAtOnce; Clock::now() < end;)
      if (TcpClient connected(entrance, patience(20s)); connected.connected()) return connected;
    return {entrance, patience(20s)};
  }
  /// `end` has its local listener by now.
  [[nodiscard]] testing::AssertionResult is_open(const Process& end) const {
    if (accepts_tcp(entrance_, kAtOnce)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << end.errors();
  }

  const HttpServer http_;
  const std::uint16_t entrance_ = free_port();
};

TEST_F(ForwardTest, MayBeThereBeforeItsFarEnd) {
  Process near = connect({.args = from_entrance()});
  ASSERT_TRUE(is_open(near));
  const TcpClient early = client();
  expect_says(near, "still dialling");
  Process far = listen({.args = to_service()});
  EXPECT_TRUE(is_answered(early)) << near.errors() << far.errors();
  expect_says(near, "is there after");
  expect_says(far, ": connected");
  near.send_signal(SIGTERM);
  EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(far, ": disconnected after") == 1; })) << far.errors();
}

TEST_F(ForwardTest, LivesWhileTheNameOfItsServiceIsNotFound) {
  Process far = listen({.args = {"--to", "nowhere.invalid:80"}});
  Process near = connect({.args = from_entrance()});
  ASSERT_TRUE(is_open(near)) << far.errors();
  expect_says(far, "resolve 'nowhere.invalid': ");
  EXPECT_TRUE(client().receive_reset());
  expect_says(near, "connect tcp nowhere.invalid:80: resolve 'nowhere.invalid': ");
  far.send_signal(SIGTERM);
  expect_exit(far, kTerminated, patience(10s));
}

TEST_F(ForwardTest, OutlivesASignalThatItsShellIgnored) {
  Process near({.argv = {"sh", "-c", "trap '' INT; exec \"$@\"", "sh", UDTCAT_BINARY, "127.0.0.1",
                         std::to_string(port_), "--from", std::to_string(entrance_)},
                .environment = {"UDTCAT_KEY=" + key_}});
  ASSERT_TRUE(accepts_tcp(entrance_, kAtOnce)) << near.errors();
  near.send_signal(SIGINT);
  EXPECT_FALSE(near.wait(1'500ms)) << "as with ssh -N";
}

TEST_F(ForwardTest, DialsAFarEndWhoseNameIsNotFoundYet) {
  const Arguments to_nowhere{"nowhere.invalid", std::to_string(port_), "--from", at(entrance_)};
  Process near = udtcat(to_nowhere, {.key = key_});
  ASSERT_TRUE(is_open(near));
  ASSERT_TRUE(eventually(patience(30s), [&] { return count_lines(near, "; still dialling") == 1; })) << near.errors();
  expect_says(near, "find host nowhere.invalid: ");
  EXPECT_FALSE(near.wait(1'500ms)) << "it goes on";
  EXPECT_EQ(count_lines(near, "nowhere.invalid: "), 1) << near.errors();
  near.send_signal(SIGTERM);
  expect_exit(near, kTerminated, patience(10s));
  Process once = udtcat(to_nowhere, {.args = {"--once"}, .key = key_});
  expect_exit(once, kUnreachable, patience(30s));
  expect_says(once, "nowhere.invalid");
}

TEST_F(ForwardTest, OutlivesAFarEndThatIsKilledAndHoldsItsPort) {
  Process near = connect({.args = from_entrance()});
  for (int round = 0; round < 4; ++round) {
    Process far = listen({.args = to_service()});
    const auto returned = Clock::now();
    EXPECT_TRUE(is_answered(client())) << round << near.errors() << far.errors();
    EXPECT_LT(Clock::now() - returned, patience(2s)) << round;
    EXPECT_EQ(count_lines(near, "is back"), round == 0 ? 0 : round) << near.errors();
    far.send_signal(SIGKILL);
    std::ignore = far.wait(kAtOnce);
    ASSERT_TRUE(TcpClient(entrance_, kAtOnce).connected()) << "the port is there, whoever is not";
    EXPECT_TRUE(eventually(patience(10s), [&] { return count_lines(near, "is gone") == round + 1; })) << near.errors();
  }
}

TEST_F(ForwardTest, NeverMakesACutAnswerLookWhole) {
  Process near = connect({.args = from_entrance()});
  Process far = listen({.args = to_service()});
  const TcpClient reading = client();
  ASSERT_TRUE(reading.send("GET /large HTTP/1.0\r\n\r\n"));
  ASSERT_EQ(reading.receive(1000).size(), 1000U) << near.errors();
  far.send_signal(SIGKILL);
  EXPECT_TRUE(reading.receive_reset());
}

/// The other machine cannot make the reset that the first one would have made.
TEST_F(ForwardTest, CutsWhatWaitsForAFarEndWhosePlaceAnotherMachineHasTaken) {
  Process near = connect({.args = {"--from", at(entrance_), "-v"}});
  Process far = listen({.args = to_service()});
  const TcpClient reading = client();
  ASSERT_TRUE(reading.send("GET /large HTTP/1.0\r\n\r\n"));
  ASSERT_EQ(reading.receive(1000).size(), 1000U) << near.errors();
  far.send_signal(SIGKILL);
  std::ignore = far.wait(kAtOnce);
  const auto machine_id = home_.write("machine-id", "0123456789abcdef0123456789abcdef\n");
  const Process other({.argv = {"unshare", "--mount", "sh", "-c", "mount --bind \"$0\" /etc/machine-id && exec \"$@\"",
                                machine_id.string(), UDTCAT_BINARY, "-l", at(port_), "--to", at(http_.port())},
                       .environment = {"HOME=" + home_.path().string(), "UDTCAT_KEY=" + key_}});
  EXPECT_TRUE(reading.receive_reset()) << near.errors() << other.errors();
  expect_says(near, "no longer in this one");
  EXPECT_TRUE(is_answered(client())) << near.errors() << other.errors();
}

TEST_F(ForwardTest, CutsWhatWaitsForAFarEndThatCameBackWithAnotherKey) {
  Process near = connect({.args = from_entrance()});
  std::optional<Process> far;
  far.emplace(listen({.args = to_service()}));
  const TcpClient reading = client();
  ASSERT_TRUE(reading.send("GET /large HTTP/1.0\r\n\r\n"));
  ASSERT_EQ(reading.receive(1000).size(), 1000U) << near.errors();
  far->send_signal(SIGKILL);
  std::ignore = far->wait(kAtOnce);
  const auto killed = Clock::now();
  far.emplace(listen({.args = to_service(), .key = make_key()}));
  EXPECT_TRUE(reading.receive_reset()) << near.errors() << far->errors();
  EXPECT_LT(Clock::now() - killed, patience(10s)) << "far below the idle timeout";
  expect_says(near, "who is there now refuses");
  EXPECT_EQ(count_lines(near, "does not hold our key; both ends need the same one; still dialling"), 1)
      << near.errors();
  far->send_signal(SIGKILL);
  std::ignore = far->wait(kAtOnce);
  far.emplace(listen({.args = to_service()}));
  EXPECT_TRUE(is_answered(client())) << near.errors() << far->errors();
  expect_says(near, "is back after");
}

TEST_F(ForwardTest, DialsEverMoreSeldomAFarEndThatDoesNotStay) {
  Process near = connect({.args = {"--from", at(entrance_), "-v"}});
  int sessions = 0;
  for (const auto end = Clock::now() + 6s; Clock::now() < end;) {
    Process far = listen({.args = to_service()});
    if (eventually(6s, [&] { return count_lines(near, " stands") + count_lines(near, " is back ") > sessions; }))
      ++sessions;
    far.send_signal(SIGKILL);
    std::ignore = far.wait(kAtOnce);
  }
  EXPECT_GE(sessions, 2) << near.errors();
  EXPECT_LE(sessions, 5) << "after 0, 1, 2 and 4 s";
}

TEST_F(ForwardTest, ResetsClientsThatWaitedInVain) {
  Process near = connect({.args = {"--from", at(entrance_), "--wait", "1s"}});
  ASSERT_TRUE(is_open(near));
  const auto begin = Clock::now();
  EXPECT_TRUE(client().receive_reset());
  EXPECT_LT(Clock::now() - begin, patience(3s));
  expect_says(near, "no session within 1 s");
}

TEST_F(ForwardTest, EndsWithItsSessionWhereItIsToLiveOnce) {
  Process nobody = connect({.args = {"--from", at(entrance_), "--once"}});
  expect_exit(nobody, kUnreachable, patience(10s));
  Process far = listen({.args = to_service()});
  Process near = connect({.args = {"--from", at(entrance_), "--once"}});
  EXPECT_TRUE(is_answered(client())) << near.errors();
  far.send_signal(SIGTERM);
  expect_exit(far, kTerminated, kAtOnce);
  expect_exit(near, kPeerLost, patience(15s));
}

TEST_F(ForwardTest, TellsAWrongKeyAtOnceAndLivesThroughOneThatComesLater) {
  const auto with_key = [this](const std::string& key) { return listen({.args = to_service(), .key = key}); };
  {
    const Process far = with_key(make_key());
    Process near = connect({.args = from_entrance()});
    expect_exit(near, kRefused, patience(10s));
  }
  Process near = connect({.args = {"--from", at(entrance_), "--idle-timeout", "3s"}});
  {
    const Process far = with_key(key_);
    EXPECT_TRUE(is_answered(client())) << near.errors();
  }
  {
    const Process wrong = with_key(make_key());
    EXPECT_TRUE(eventually(patience(10s), [&] { return count_lines(near, "is gone") > 0; })) << near.errors();
    EXPECT_TRUE(eventually(patience(10s), [&] { return count_lines(wrong, "refused") > 0; })) << wrong.errors();
  }
  const Process far = with_key(key_);
  // A client that comes while the dial to the wrong host still ends is refused with it.
  EXPECT_TRUE(eventually(patience(10s), [&] { return is_answered(client()); })) << near.errors();
}

TEST_F(ForwardTest, ReachesEachServiceByItsName) {
  const DatabaseServer database;
  ASSERT_TRUE(database.ready());
  const std::uint16_t second = free_port();
  const std::uint16_t third = free_port();
  Process far = listen({.args = {"--to", "web=" + at(http_.port()), "--to", "db=" + at(database.port())}});
  Process near = connect(
      {.args = {"--from", at(entrance_) + "=web", "--from", at(second) + "=db", "--from", at(third) + "=vault"}});
  EXPECT_TRUE(is_answered(client())) << near.errors() << far.errors();
  const TcpClient redis = client(second);
  ASSERT_TRUE(redis.send("PING\r\n"));
  EXPECT_EQ(redis.receive(7), "+PONG\r\n");
  EXPECT_TRUE(client(third).receive_reset());
  expect_says(near, "reach the service vault: no such service; offered: web, db, as in --from PORT=web");
  expect_says(far, "reach the service vault: no such service");
}

TEST_F(ForwardTest, CarriesUnixSocketsAtBothEnds) {
  const std::string front = home_.path() / "front";
  const std::string service = home_.path() / "service";
  // redis speaks at a unix socket, too.
  const Process redis({.argv = {"redis-server", "--port", "0", "--unixsocket", service + ".redis", "--save", "",
                                "--dir", home_.path().string()}});
  Process far = listen({.args = {"--to", "db=unix:" + service + ".redis"}});
  std::optional<Process> near;
  near.emplace(connect({.args = {"--from", "unix:" + front + "=db"}}));
  std::ignore = unix_client(service + ".redis");  // redis listens
  SCOPED_TRACE(redis.errors());
  const TcpClient client = unix_client(front);
  ASSERT_TRUE(client.send("PING\r\n"));
  EXPECT_EQ(client.receive(7), "+PONG\r\n") << near->errors() << far.errors();
  near->send_signal(SIGTERM);
  expect_exit(*near, kTerminated, kAtOnce);
  EXPECT_FALSE(std::filesystem::exists(front));
}

TEST_F(ForwardTest, ServesFromTheEndThatDials) {
  Process near = listen({.args = {"--from", at(entrance_) + "=web"}});
  ASSERT_TRUE(is_open(near));
  const TcpClient early = client();
  Process other = connect({.args = {"--to", "db=" + at(free_port())}});
  Process far = connect({.args = {"--to", "web=" + at(http_.port())}});
  EXPECT_TRUE(is_answered(early)) << near.errors() << far.errors();
  Process client_only = connect({.args = {"--from", at(free_port()), "-v"}});
  expect_says(client_only, "stands");
  EXPECT_TRUE(is_answered(client())) << "the peer that has the service, of two";
  far.send_signal(SIGKILL);
  Process again = connect({.args = {"--to", "web=" + at(http_.port())}});
  // A client may be given to the session that is dead, before that is known: it is reset then.
  EXPECT_TRUE(eventually(patience(20s), [&] { return bool(is_answered(client())); }))
      << near.errors() << again.errors();
}

TEST_F(ForwardTest, CarriesBothWaysAtOnce) {
  const std::uint16_t back = free_port();
  Process listener = listen({.args = {"--to", "web=" + at(http_.port()), "--from", at(back) + "=web"}});
  Process connector = connect({.args = {"--to", "web=" + at(http_.port()), "--from", at(entrance_) + "=web"}});
  EXPECT_TRUE(is_answered(client())) << connector.errors() << listener.errors();
  EXPECT_TRUE(is_answered(client(back))) << connector.errors() << listener.errors();
}

TEST_F(ForwardTest, RunsOverIpv6) {
  host_ = "::1";
  Process far = listen({.args = to_service()});
  Process near = connect({.args = from_entrance()});
  EXPECT_TRUE(is_answered(client())) << near.errors() << far.errors();
}

TEST_F(ForwardTest, LetsInAsManyPeersAndConnectionsAsItsOperatorAllows) {
  Process far = listen({.args = {"--to", at(http_.port()), "--max-sessions", "1", "--max-streams", "1"}});
  Process near = connect({.args = from_entrance()});
  const TcpClient first = client();
  ASSERT_TRUE(first.send("GET /small"));
  const TcpClient second = client();  // waits for the first to end, since there is no other session to be had
  ASSERT_TRUE(second.send(kOneShot));
  expect_says(far, "it has 1 session already");
  ASSERT_TRUE(first.send(" HTTP/1.0\r\n\r\n"));
  first.finish_sending();
  EXPECT_TRUE(first.receive_end());
  EXPECT_TRUE(second.receive(4) == "HTTP") << near.errors() << far.errors();
}

using ReverseForwardTest = TwoHostsTest;

TEST_F(ReverseForwardTest, ServesFromAHostThatUdpFromOutsideDoesNotReach) {
  const auto in_far = hosts_->far_host();
  const std::string rules =
      "table inet t { chain c { type filter hook input priority 0; udp sport != " + std::to_string(port_) +
      " drop; }; }";
  const auto file = home_.write("rules", rules);
  ASSERT_EQ(run({.argv = {"nft", "-f", file.string()}, .network_namespace = in_far.file}).status, 0);
  const Process web({.argv = {"python3", "-m", "http.server", "8000", "--bind", "127.0.0.1"},
                     .working_directory = home_.path(),
                     .network_namespace = in_far.file});
  home_.write("page", "from behind\n");
  Process near = udtcat({"-l", hosts_->near_host().ipv4 + ":" + std::to_string(port_), "--from", "127.0.0.1:8001"},
                        {.key = key_, .network_namespace = hosts_->near_host().file});
  Process far = udtcat({hosts_->near_host().ipv4, std::to_string(port_), "--to", "127.0.0.1:8000"},
                       {.key = key_, .network_namespace = in_far.file});
  Ran fetched;
  EXPECT_TRUE(eventually(patience(20s),
                         [&] {
                           fetched = run({.argv = {"curl", "-s", "-m", "5", "http://127.0.0.1:8001/page"},
                                          .network_namespace = hosts_->near_host().file});
                           return fetched.status == 0;
                         }))
      << near.errors() << far.errors();
  EXPECT_EQ(fetched.output, "from behind\n");
}

}  // namespace
}  // namespace udtcat::test::e2e
