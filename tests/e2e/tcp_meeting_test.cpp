// SPDX-License-Identifier: Apache-2.0
/// docs/spec/meet.md §6, tcp.md §6: hosts without UDP, and with nothing but an HTTP proxy, and a meeting place that
/// both reach.
#include <fstream>
#include <optional>

#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"
#include "support/gateways.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;

struct TcpEnds {
  Gateway connector;
  Gateway listener;
};

/// The near host connects, the far one listens, the place is in the middle. Each of the two may have a proxy.
class TcpMeetingHosts : public testing::Test {
 protected:
  void set_up(TcpEnds ends) {
    hosts_.emplace(ends.connector, ends.listener);
    ASSERT_EQ(shell("umask 077; $UDTCAT keygen > key").status, 0);
    if (ends.connector == Gateway::only_proxy) near_proxy_.emplace(start_proxy(hosts_->near_gateway()));
    if (ends.listener == Gateway::only_proxy) far_proxy_.emplace(start_proxy(hosts_->far_gateway()));
  }

  /// more   lines of its configuration
  [[nodiscard]] Process start_proxy(const Namespaces::Host& gateway, const std::string& more = "") const {
    const auto file = home_.path() / (gateway.name + ".conf");
    std::ofstream(file) << "Port 3128\nListen " << gateway.ipv4 << "\nTimeout 600\nMaxClients 50\nAllow 10.0.0.0/8\n"
                        << more;
    return Process({.argv = {"tinyproxy", "-d", "-c", file.string()}, .network_namespace = gateway.file});
  }

  [[nodiscard]] Arguments environment() const {
    const auto proxy = [](const std::optional<Process>& started, const Namespaces::Host& gateway) {
      return started ? "https_proxy=http://" + gateway.ipv4 + ":3128" : "https_proxy=";
    };
    return {"HOME=" + home_.path().string(),
            "XDG_RUNTIME_DIR=" + home_.path().string(),
            "UDTCAT=" UDTCAT_BINARY,
            "PLACE=" + hosts_->middle_host().ipv4,
            "LISTENER=" + hosts_->far_host().file.string(),
            "MIDDLE=" + hosts_->middle_host().file.string(),
            "LISTENERS_PROXY=" + proxy(far_proxy_, hosts_->far_gateway()),
            proxy(near_proxy_, hosts_->near_gateway())};
  }
  /// At the connector, for a minute at most.
  [[nodiscard]] Ran shell(const std::string& script) const {
    return run({.argv = {"bash", "-c", script},
                .environment = environment(),
                .working_directory = home_.path(),
                .network_namespace = hosts_->near_host().file},
               patience(std::chrono::seconds(60)));
  }
  /// With a place in the middle.
  [[nodiscard]] Ran with_place(const std::string& script) const {
    return shell(R"(
      at_listener() { exec nsenter --net=$LISTENER env $LISTENERS_PROXY "$@"; }
      nsenter --net=$MIDDLE env https_proxy= $UDTCAT meet -l 9000 --public 2> place.log & place=$!
      )" + script +
                 R"(
      [ $status = 0 ] || cat *.log >&2
      kill -9 $place; wait $place 2> wait.log
      exit $status)");
  }
  /// A megabyte from the listener, and a word to it.
  /// options   of both ends; more: of the connector
  [[nodiscard]] Ran pipe(const std::string& options = "", const std::string& more = "") const {
    return with_place(R"(
      head -c 1000000 /dev/urandom > sent
      at_listener $UDTCAT -l -v -k key --via $PLACE )" +
                      options + R"( < sent > word 2> listener.log & listener=$!
      echo hello | $UDTCAT -v -k key --via $PLACE )" +
                      options + " " + more + R"( > received; status=$?
      [ $status = 0 ] || kill $listener
      wait $listener
      [ $status != 0 ] || cmp sent received >&2 || status=99
      [ $status != 0 ] || [[ $(cat word) == hello ]] || status=98)");
  }

  TempDir home_;
  std::optional<Gateways> hosts_;
  std::optional<Process> near_proxy_;
  std::optional<Process> far_proxy_;
};

constexpr auto kU = Gateway::without_udp;
constexpr auto kP = Gateway::only_proxy;

class TcpMeetings : public TcpMeetingHosts {
 protected:
  void SetUp() override {
    if (!Namespaces::allowed()) GTEST_SKIP() << "needs root";
  }
};

TEST_F(TcpMeetings, SendFilesFromAHostWithAProxyToOneWithoutUdp) {
  set_up({kP, kU});
  const Ran sent = with_place(R"(
    mkdir tree in; head -c 3000000 /dev/urandom > tree/file
    at_listener $UDTCAT receive -l -k key --via $PLACE in 2> listener.log & listener=$!
    $UDTCAT send tree -k key --via $PLACE; status=$?
    kill $listener; wait $listener
    cmp tree/file in/tree/file >&2 || status=99)");
  EXPECT_EQ(sent.status, kSuccess) << sent.errors;
}

TEST_F(TcpMeetings, ForwardToAHostWithAProxy) {
  set_up({kU, kP});
  const Ran ran = with_place(R"(
    head -c 2000000 /dev/urandom > served
    nsenter --net=$LISTENER python3 -m http.server --bind 127.0.0.1 8000 > server.log 2>&1 & server=$!
    at_listener $UDTCAT -l -k key --via $PLACE --to 127.0.0.1:8000 2> listener.log & listener=$!
    $UDTCAT -k key --via $PLACE --from 7000 2> forward.log & forward=$!
    for i in 1 2; do
      https_proxy= curl -sS --retry 20 --retry-connrefused --retry-delay 1 -m 50 -o got \
        http://127.0.0.1:7000/served; status=$?
      cmp served got >&2 || status=99
    done
    kill $forward $listener $server; wait $forward $listener $server)");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
}

TEST_F(TcpMeetings, UseTcpAloneWhereTheyAreTold) {
  set_up({Gateway::random, Gateway::random});
  const Ran met = pipe("--transport tcp");
  EXPECT_EQ(met.status, kSuccess) << met.errors;
}

TEST_F(TcpMeetings, DoWithoutTcpWhereTheyAreTold) {
  set_up({kU, Gateway::open});
  const Ran met = pipe("--no-tcp", "--connect-timeout 2s");
  EXPECT_EQ(met.status, kUnreachable) << met.errors;
}

/// The ports of the relays are closed, and that of the place is not: no end knows beforehand.
TEST_F(TcpMeetings, GoByTcpWhereUdpFailsBehindThePlacesPort) {
  set_up({Gateway::random, Gateway::random});
  ASSERT_EQ(run({.argv = {"nft",
                          "table ip relays { chain i { type filter hook input priority 0; udp dport 9001-9200 "
                          "drop\n}\n}"},
                 .network_namespace = hosts_->middle_host().file})
                .status,
            0);
  const Ran met = pipe();
  EXPECT_EQ(met.status, kSuccess) << met.errors;
}

/// A relayed session is told of its other end's death by the session, and by nothing else.
TEST_F(TcpMeetings, LoseAPeerThatIsKilled) {
  set_up({kU, kU});
  const Ran ran = with_place(R"(
    mkfifo word begun
    { head -c 1000000; echo > begun; cat; } < word > /dev/null &
    at_listener $UDTCAT -l -k key --via $PLACE > word 2> listener.log & listener=$!
    $UDTCAT -k key --via $PLACE < /dev/zero & connector=$!
    read -r < begun; kill -9 $listener
    wait $connector; status=$?
    wait $listener 2> wait.log)");
  EXPECT_EQ(ran.status, kPeerLost) << ran.errors;
}

class Proxies : public TcpMeetings {
 protected:
  /// A dial without a place.
  [[nodiscard]] Ran dial(const std::string& options, const std::string& no_proxy = "") const {
    return shell("export no_proxy=" + no_proxy + R"(
      nsenter --net=$LISTENER env https_proxy= $UDTCAT -l 9000 -k key --accept-timeout 20s < /dev/null > word \
        2> listener.log & listener=$!
      echo hello | $UDTCAT -k key )" +
                 hosts_->far_host().ipv4 + " 9000 " + options + R"( ; status=$?
      [ $status = 0 ] || kill $listener
      wait $listener
      [ $status != 0 ] || [[ $(cat word) == hello ]] || status=99
      exit $status)");
  }
  [[nodiscard]] std::string near_proxy(const std::string& credentials = "") const {
    return "--proxy http://" + credentials + hosts_->near_gateway().ipv4 + ":3128";
  }
};

TEST_F(Proxies, CarryASessionToAListenerItself) {
  set_up({kP, Gateway::open});
  const Ran ran = dial("");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
}

TEST_F(Proxies, AreToldTheUserAndThePassword) {
  set_up({Gateway::without_udp, Gateway::open});
  near_proxy_.emplace(start_proxy(hosts_->near_gateway(), "BasicAuth alice s3cret\n"));
  const Ran right = dial(near_proxy("alice:s3%63ret@"));
  EXPECT_EQ(right.status, kSuccess) << right.errors;
  const Ran none = dial("--transport tcp " + near_proxy());
  EXPECT_EQ(none.status, kUnreachable);
  EXPECT_THAT(none.errors, HasSubstr("407"));
  EXPECT_THAT(none.errors, HasSubstr("it wants a user"));
  const Ran wrong = dial("--transport tcp " + near_proxy("alice:other@"));
  EXPECT_EQ(wrong.status, kUnreachable);
  EXPECT_THAT(wrong.errors, Not(HasSubstr("other")));
}

TEST_F(Proxies, ThatRefuseThePortAreNamed) {
  set_up({Gateway::without_udp, Gateway::open});
  near_proxy_.emplace(start_proxy(hosts_->near_gateway(), "ConnectPort 443\n"));
  const Ran ran = dial("--transport tcp " + near_proxy());
  EXPECT_EQ(ran.status, kUnreachable);
  EXPECT_THAT(ran.errors, HasSubstr("403"));
  EXPECT_THAT(ran.errors, HasSubstr("443"));
}

TEST_F(Proxies, AreNotAskedForExceptedHosts) {
  set_up({Gateway::without_udp, Gateway::open});
  const Ran asked = dial("--proxy http://10.71.0.1:1 --connect-timeout 2s");
  EXPECT_EQ(asked.status, kUnreachable);
  EXPECT_THAT(asked.errors, HasSubstr("the proxy 10.71.0.1:1"));
  const Ran excepted = dial("--proxy http://10.71.0.1:1", "10.72.0.0/16");
  EXPECT_EQ(excepted.status, kSuccess) << excepted.errors;
}

}  // namespace
}  // namespace udtcat::test::e2e
