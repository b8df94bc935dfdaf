// SPDX-License-Identifier: Apache-2.0
/// One key for several things: what it was not meant for, and ends that are not who they should be, are refused.
#include <map>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "e2e/support/udtcat_test.hpp"
#include "support/udp_relay.hpp"

namespace udtcat::test::e2e {
namespace {

/// A TCP service that nobody should reach.
class UntouchedService {
 public:
  UntouchedService() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    address.sin_port = ::htons(port_);
    EXPECT_EQ(::bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_.fd(), 1), 0);
  }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] bool touched() const {
    pollfd watched{.fd = socket_.fd(), .events = POLLIN, .revents = 0};
    return ::poll(&watched, 1, 0) != 0;
  }

 private:
  const std::uint16_t port_ = free_port();
  const Descriptor socket_;
};

class PurposeTest : public UdtcatTest {
 protected:
  static void await(Process& listener) {
    ASSERT_TRUE(eventually(patience(std::chrono::seconds(10)), [&] {
      return count_lines(listener, "listening") + count_lines(listener, "serving") > 0;
    })) << listener.errors();
  }
  void expect_named(const Arguments& listens, const Arguments& connects, int status) {
    Arguments listener_args = listens;
    listener_args.emplace_back("-v");
    Consumer consumer;
    const RandomFile file(1, kMiB);
    Process listener = listen({.args = listener_args, .out = consumer.take_stdout()});
    await(listener);
    Process connector = connect({.args = connects, .in = open_for_reading(file.path())});
    expect_exit(connector, status);
    if (status == kSuccess) {
      expect_exit(listener, kSuccess);
      EXPECT_EQ(consumer.digest(), file.digest());
    } else {
      EXPECT_EQ(consumer.bytes_read(), 0U);
      EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(listener, "refused") > 0; })) << listener.errors();
      EXPECT_TRUE(listener.running()) << "the right one may still come";
    }
  }
};

TEST_F(PurposeTest, APipeThatIsLedToAServiceOfTheSameKeyIsRefusedAndNotAByteReachesTheService) {
  const UntouchedService service;
  const RandomFile file(1, kMiB);
  Process listener = listen({.args = {"--to", service.address(), "-v"}});
  await(listener);
  const UdpRelay relay(port_);
  Process sender = connect_to(relay.port(), {.args = {"--send-only"}, .in = open_for_reading(file.path())});
  expect_exit(sender, kRefused);
  expect_says(sender, "the listener is for forward, which is dialled by udtcat HOST PORT --from PLACE");
  EXPECT_TRUE(eventually(kAtOnce, [&] {
    return count_lines(listener, "the connector is for pipe, which dials udtcat -l PORT") == 1;
  })) << listener.errors();
  EXPECT_FALSE(service.touched());
}

TEST_F(PurposeTest, ASenderThatIsLedBackToTheListenerOfItsOwnHostIsRefusedAndBothSayWhy) {
  const RandomFile file(1, kMiB);
  for (const Arguments& levels : {Arguments{}, Arguments{"--protect", "auth"}, Arguments{"--flows", "3"}}) {
    Arguments args{"--as", "alpha", "--peer", "beta", "-v"};
    args.insert(args.end(), levels.begin(), levels.end());
    Consumer consumer;
    Process listener = listen({.args = args, .out = consumer.take_stdout()});
    await(listener);
    const UdpRelay relay(port_);
    Process sender = connect_to(relay.port(), {.args = args, .in = open_for_reading(file.path())});
    expect_exit(sender, kRefused);
    expect_says(sender, "this end met itself: both are called alpha");
    EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(listener, "both are called alpha") == 1; }))
        << listener.errors();
    EXPECT_EQ(consumer.bytes_read(), 0U);
  }
}

TEST_F(PurposeTest, EndsThatAreWhoTheyShouldBeMeet) {
  expect_named({"--as", "a", "--peer", "b"}, {"--as", "b", "--peer", "a"}, kSuccess);
  expect_named({"--as", "a"}, {"--peer", "a", "--flows", "2"}, kSuccess);
  expect_named({"--peer", "b"}, {"--as", "b"}, kSuccess);
  expect_named({"--as", "a"}, {}, kSuccess);
}

TEST_F(PurposeTest, EndsThatAreNotWhoTheyShouldBeAreRefused) {
  expect_named({"--as", "a"}, {"--peer", "b"}, kRefused);
  expect_named({}, {"--peer", "b"}, kRefused);
  expect_named({"--peer", "b"}, {"--as", "c"}, kRefused);
  expect_named({"--peer", "b"}, {}, kRefused);
}

/// The words of an end that listens, and of one that calls it.
struct Product {
  Arguments listens;
  Arguments calls;
};

/// One of each, on the test's port.
class EveryProduct : public PurposeTest, public testing::WithParamInterface<std::string> {
 protected:
  [[nodiscard]] std::map<std::string, Product> products() const {
    const std::string port = std::to_string(port_);
    const std::string at = "127.0.0.1:" + port;
    const auto file = (home_.path() / "file").string();
    return {{"pipe", {{"-l", at}, {"127.0.0.1", port, "--send-only"}}},
            {"forward", {{"-l", at, "--to", service_.address()}, {"127.0.0.1", port, "--from", "0"}}},
            {"gridftp",
             {{"gridftp", "serve", "--root", home_.path().string(), "--auth", "key", "-l", at},
              {"gridftp", "get", "udtcat://" + at + "/list", file}}},
            {"gateway",
             {{"gridftp", "gateway", "-l", at, "--to", service_.address()},
              {"gridftp", "gateway", "127.0.0.1", port, "--from", "0"}}}};
  }
  const UntouchedService service_;
};

TEST_P(EveryProduct, ServesNoOther) {
  const auto all = products();
  Process listener = udtcat(all.at(GetParam()).listens, {.args = {"-v"}, .key = key_});
  await(listener);
  for (const auto& [name, product] : all) {
    if (name == GetParam()) continue;
    Process caller = udtcat(product.calls, {.key = key_});
    expect_exit(caller, kRefused);
    expect_says(caller, "the listener is for " + GetParam() + ", which is dialled by ");
    expect_says(caller, "the connector is for " + name + ", which dials ");
  }
  EXPECT_FALSE(service_.touched());
  EXPECT_TRUE(listener.running()) << listener.errors();
}

INSTANTIATE_TEST_SUITE_P(Of, EveryProduct, testing::Values("pipe", "forward", "gridftp", "gateway"),
                         [](const auto& chosen) { return chosen.param; });

}  // namespace
}  // namespace udtcat::test::e2e
