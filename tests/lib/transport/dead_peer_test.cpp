// SPDX-License-Identifier: Apache-2.0
/// A peer that is killed, as the transports over UDP see it: they are told that its port is closed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "lib/transport/transport_fixture.hpp"

namespace udtcat::transport {
namespace {

/// Another process with one peer. Ports go through pipes.
/// Made while this process has one thread: the child goes on with a copy of libudt as it was never started.
class PeerProcess {
 public:
  enum class Role { listens, connects };

  PeerProcess(Role role, TransportKind kind) {
    int to_child[2];
    int from_child[2];
    EXPECT_EQ(::pipe(to_child), 0);
    EXPECT_EQ(::pipe(from_child), 0);
    pid_ = ::fork();
    if (pid_ == 0) role == Role::listens ? listen(from_child[1], kind) : connect(to_child[0], kind);
    ::close(to_child[0]);
    ::close(from_child[1]);
    to_child_ = to_child[1];
    from_child_ = from_child[0];
  }
  ~PeerProcess() {
    kill();
    ::close(to_child_);
    ::close(from_child_);
  }
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// Where a listening peer listens.
  [[nodiscard]] std::uint16_t port() const {
    std::uint16_t port = 0;
    EXPECT_EQ(::read(from_child_, &port, sizeof port), static_cast<ssize_t>(sizeof port));
    return port;
  }
  void connect_to(std::uint16_t port) const {
    EXPECT_EQ(::write(to_child_, &port, sizeof port), static_cast<ssize_t>(sizeof port));
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  [[noreturn]] static void listen(int report, TransportKind kind) {
    boost::asio::io_context io(1);
    const auto engine = make_engine(io, options_for(kind)).value();
    const auto acceptor = engine->listen({loopback(AddressFamily::ipv4), loopback(AddressFamily::ipv6)}).value();
    std::vector<std::unique_ptr<Channel>> channels;
    std::function<void()> accept_next = [&] {
      acceptor->async_accept([&](auto channel) {
        channels.push_back(std::move(*channel));
        accept_next();
      });
    };
    accept_next();
    const std::uint16_t port = acceptor->local_endpoints().front().port();
    if (::write(report, &port, sizeof port) == static_cast<ssize_t>(sizeof port)) io.run();
    ::_exit(1);
  }

  [[noreturn]] static void connect(int instructions, TransportKind kind) {
    std::uint16_t port = 0;
    if (::read(instructions, &port, sizeof port) != static_cast<ssize_t>(sizeof port)) ::_exit(1);
    boost::asio::io_context io(1);
    const auto engine = make_engine(io, options_for(kind)).value();
    std::unique_ptr<Channel> connected;
    std::byte never{};
    engine->async_connect(loopback(AddressFamily::ipv4, port), {}, 10s, [&](auto channel) {
      connected = std::move(*channel);
      connected->async_read({&never, 1}, [](const Status&) {});
    });
    io.run();
    ::_exit(1);
  }

  pid_t pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
};

// A base, so that the processes exist before the engine's threads do.
struct PeerProcesses {
  explicit PeerProcesses(TransportKind kind)
      : listening(PeerProcess::Role::listens, kind),
        connecting(PeerProcess::Role::connects, kind),
        also_connecting(PeerProcess::Role::connects, kind) {}
  PeerProcess listening;
  PeerProcess connecting;
  PeerProcess also_connecting;
};

class DeadPeer : private PeerProcesses, public TransportTest, public testing::WithParamInterface<TransportKind> {
 protected:
  DeadPeer() : PeerProcesses(GetParam()), TransportTest(options_for(GetParam())) {}
  using PeerProcesses::also_connecting;
  using PeerProcesses::connecting;
  using PeerProcesses::listening;

  std::unique_ptr<Channel> accept(Acceptor& acceptor) {
    std::optional<Result<std::unique_ptr<Channel>>> got;
    acceptor.async_accept([&](auto result) { got = std::move(result); });
    EXPECT_TRUE(run_until([&] { return got.has_value(); }));
    return std::move(**got);
  }
};

INSTANTIATE_TEST_SUITE_P(With, DeadPeer, testing::ValuesIn(transports_of_udp()),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(DeadPeer, IsKnownFromItsClosedPort) {
  const std::uint16_t port = listening.port();
  std::vector<std::unique_ptr<Channel>> channels;
  for (const auto family : {AddressFamily::ipv4, AddressFamily::ipv6})
    channels.push_back(connect(loopback(family, port)).value());
  std::array<std::byte, 1> into{};
  bool ended = false;
  for (const auto& channel : channels) {
    channel->async_read(into, [&](const Status&) { ended = true; });
    EXPECT_FALSE(channel->port_closed_since());
  }
  listening.kill();
  for (const auto& channel : channels) {
    EXPECT_TRUE(run_until([&] { return channel->port_closed_since().has_value(); }, 8s));
  }
  EXPECT_FALSE(ended) << "libudt alone needs the better part of a minute";
}

TEST_P(DeadPeer, IsToldFromALivingOneOfTheSameListener) {
  const auto acceptor = listen({loopback(AddressFamily::ipv4)});
  const std::uint16_t port = acceptor->local_endpoints().front().port();
  connecting.connect_to(port);
  const auto dead = accept(*acceptor);
  also_connecting.connect_to(port);
  const auto living = accept(*acceptor);
  connecting.kill();
  EXPECT_TRUE(run_until([&] { return dead->port_closed_since().has_value(); }, 8s));
  EXPECT_FALSE(living->port_closed_since());
}

std::chrono::nanoseconds cpu_time_of_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

class DeadNativePeer : private PeerProcesses, public TransportTest {
 protected:
  DeadNativePeer() : PeerProcesses(TransportKind::native), TransportTest(options_for(TransportKind::native)) {}
  using PeerProcesses::listening;
};

TEST_F(DeadNativePeer, IsNotWaitedForByAnEngineThatEnds) {
  constexpr auto kDrain = 20s;
  auto channel = connect(loopback(AddressFamily::ipv4, listening.port())).value();
  listening.kill();
  ASSERT_TRUE(write(*channel, random_bytes(1000)));
  channel->close(kDrain);
  channel.reset();
  const auto cpu = cpu_time_of_thread();
  const auto begun = Clock::now();
  engine.reset();
  EXPECT_LT(Clock::now() - begun, kDrain / 2);
  EXPECT_LT(cpu_time_of_thread() - cpu, 500ms) << "the error of its port ends each wait";
}

}  // namespace
}  // namespace udtcat::transport
