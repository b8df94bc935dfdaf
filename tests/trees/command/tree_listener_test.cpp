// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_listener.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <udtcat/peering.hpp>
#include <udtcat/stream.hpp>

#include "lib/bridge/descriptor.hpp"
#include "tool/cli/console.hpp"
#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

using testing::HasSubstr;

std::uint16_t free_udp_port() {
  const bridge::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const general = reinterpret_cast<sockaddr*>(&address);  // SAFETY: as the socket calls have it
  EXPECT_EQ(::bind(socket.number(), general, bytes), 0);
  EXPECT_EQ(::getsockname(socket.number(), general, &bytes), 0);
  return ntohs(address.sin_port);
}

/// One that dials, and is told how its connection ends.
struct Caller {
  std::unique_ptr<Dialer> dialer;
  std::unique_ptr<Connection> connection;
  std::unique_ptr<Stream> stream;
  std::optional<Status> closed;
  std::optional<Error> refused;  // before it had a connection
  std::vector<std::byte> hello;
  bool has_begun = false;

  [[nodiscard]] std::string why() const {
    return closed && !*closed ? closed->error().message() : refused ? refused->message() : "";
  }
};

class Listening : public testing::Test {
 protected:
  Listening() {
    options.role = Role::sends;
    options.connect_mode = ConnectMode::listen;
    options.listens = true;
    options.directory = folder.path();
    options.progress = false;
    options.verbosity = -1;
    options.session.application = "trees";
    options.session.one_stream = true;
    options.session.threads = 1;
    options.local = {"127.0.0.1", free_udp_port()};
    options.limits.peers = options.limits.sessions_per_peer = kMaxSessions;
    run.emplace(options, console);
    key = std::move(*Key::generate());
  }
  void listen(std::chrono::milliseconds request_timeout = std::chrono::minutes(1)) {
    listener.emplace(*run, options, request_timeout);
    tool::FoundCredentials found;
    found.credentials = key->duplicate();
    const Status started = listener->start(std::move(found));
    ASSERT_TRUE(started) << started.error().message();
  }
  Caller& call() {
    Caller& caller = callers.emplace_back();
    DialRequest request;
    request.addresses = std::move(*resolve(options.local, AddressFamily::any));
    request.peer_name = "the listener";
    request.credentials = key->duplicate();
    request.session = options.session;
    caller.dialer = dial(run->io(), std::move(request), [&caller](Result<std::unique_ptr<Connection>> made) {
      if (!made) {
        caller.refused = made.error();
        return;
      }
      caller.connection = std::move(*made);
      caller.connection->on_closed([&caller](const Status& status) { caller.closed = status; });
    });
    EXPECT_TRUE(test::run_until(run->io(), [&caller] { return caller.connection || caller.refused; }));
    return caller;
  }
  /// It says what it wants, of which there is nothing, and hears that; it does not end.
  void begin(Caller& caller) {
    encode(Hello{.role = Role::receives, .place = {}, .paths = {}}, caller.hello);
    caller.stream = caller.connection->open_stream();
    caller.stream->async_write(caller.hello, [](const auto&...) {});
    into.resize(1);
    caller.stream->async_read(into, [&caller](const auto&...) { caller.has_begun = true; });
    EXPECT_TRUE(test::run_until(run->io(), [&caller] { return caller.has_begun || caller.closed; }));
  }
  [[nodiscard]] std::string ends(const Caller& caller) {
    EXPECT_TRUE(test::run_until(run->io(), [&caller] { return caller.closed || caller.refused; }))
        << "it has not ended";
    return caller.why();
  }

  Folder folder;
  TreeOptions options;
  tool::Console console{STDERR_FILENO};
  std::optional<tool::SessionRun> run;
  std::optional<Credentials> key;
  std::vector<std::byte> into;
  std::list<Caller> callers;
  std::optional<TreeListener> listener;
};

TEST_F(Listening, EndsASilentPeerInTime) {
  listen(std::chrono::milliseconds(300));
  EXPECT_THAT(ends(call()), HasSubstr("it has not said in time what it wants"));
  Caller& begun = call();
  begin(begun);
  EXPECT_THAT(ends(call()), HasSubstr("it has not said in time")) << "and so as long as the other had";
  EXPECT_FALSE(begun.closed) << "it has said it";
}

TEST_F(Listening, DismissesASilentPeerForANewOne) {
  listen();
  for (std::size_t number = 0; number < kMaxTransfers; ++number) call();
  Caller& last = call();
  begin(last);
  EXPECT_TRUE(last.has_begun) << last.why();
  EXPECT_THAT(ends(callers.front()), HasSubstr("others came while it was silent"));
}

TEST_F(Listening, RefusesAPeerThatHasItsShare) {
  listen();
  for (std::size_t number = 0; number < kMaxTransfersOfPeer; ++number) begin(call());
  EXPECT_THAT(ends(call()), HasSubstr("its peer has 12 under way"));
  for (std::size_t number = 0; number < kMaxTransfersOfPeer; ++number)
    EXPECT_FALSE(std::next(callers.begin(), static_cast<std::ptrdiff_t>(number))->closed) << number;
}

}  // namespace
}  // namespace udtcat::trees
