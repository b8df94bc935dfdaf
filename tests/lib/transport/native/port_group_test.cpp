// SPDX-License-Identifier: Apache-2.0
/// Listeners whose connections are spread over threads.
#include "lib/transport/native/port_group.hpp"

#include <algorithm>
#include <array>

#include <sys/socket.h>

#include "lib/transport/native/handshake.hpp"
#include "lib/transport/native/packet.hpp"
#include "lib/transport/transport_fixture.hpp"
#include "support/packet_threads.hpp"

namespace udtcat::transport::native {
namespace {

using udtcat::test::packet_thread_times;

constexpr std::size_t kBulkBytes = 4 << 20;

TransportOptions options_with_threads(std::size_t threads) {
  TransportOptions options = options_for(TransportKind::native);
  options.packet_threads = threads;
  return options;
}

class PortGroupTest : public TransportTest {
 protected:
  explicit PortGroupTest(std::size_t threads = 3) : TransportTest(options_with_threads(threads)) {}

  /// Each has an engine, and so an address, of its own.
  Pair connect_client() {
    clients.push_back(make_engine(io, options_with_threads(1)).value());
    return connect_by(*clients.back());
  }
  Pair connect_by(Engine& client) {
    std::optional<Result<std::unique_ptr<Channel>>> here;
    std::optional<Result<std::unique_ptr<Channel>>> there;
    acceptor->async_accept([&](auto result) { there = std::move(result); });
    client.async_connect(local, {}, 5s, [&](auto result) { here = std::move(result); });
    EXPECT_TRUE(run_until([&] { return here && there; }));
    EXPECT_TRUE(*here) << here->error().message();
    return {std::move(**here), std::move(**there)};
  }

  /// Carries bulk both ways at once over each, and compares it.
  void carry(std::vector<Pair>& pairs) {
    struct Way {
      std::vector<std::byte> sent;
      std::vector<std::byte> got = std::vector<std::byte>(kBulkBytes);
    };
    std::vector<std::unique_ptr<Way>> ways;
    std::size_t done = 0;
    const auto begin = [&](Channel& from, Channel& to) {
      Way& way = *ways.emplace_back(std::make_unique<Way>());
      way.sent = random_bytes(kBulkBytes, static_cast<std::uint32_t>(ways.size()));
      from.async_write(copy_of(way.sent), [](const Status& status) { EXPECT_TRUE(status); });
      to.async_read(way.got, [&](const Status& status) {
        EXPECT_TRUE(status);
        ++done;
      });
    };
    for (const Pair& pair : pairs) {
      begin(*pair.here, *pair.there);
      begin(*pair.there, *pair.here);
    }
    ASSERT_TRUE(run_until([&] { return done == ways.size(); }, 60s));
    for (const auto& way : ways) EXPECT_EQ(way->sent, way->got);
  }

  /// Drains, as both ends are in this thread's hands.
  void end(Pair& pair) {
    pair.here->close(1s);
    pair.there->close(1s);
    pair = {};
  }

  std::unique_ptr<Acceptor> acceptor = listen({loopback(AddressFamily::ipv4)});
  const Endpoint local = acceptor->local_endpoints().front();
  std::vector<std::unique_ptr<Engine>> clients;
};

TEST_F(PortGroupTest, HasNoThreadForOneConnection) {
  std::vector<Pair> pairs;
  pairs.push_back(connect_client());
  carry(pairs);
  EXPECT_TRUE(packet_thread_times().empty());
}

TEST_F(PortGroupTest, SpreadsConnectionsOverThreads) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < 3; ++i) {
    pairs.push_back(connect_client());
    EXPECT_EQ(packet_thread_times().size(), i);
  }
  const auto before = packet_thread_times();
  carry(pairs);
  for (const auto& [thread, nanoseconds] : packet_thread_times())
    EXPECT_GT(nanoseconds, before.at(thread) + 1'000'000) << "of thread " << thread;
}

TEST_F(PortGroupTest, HasNoMoreThreadsThanItMay) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < 7; ++i) pairs.push_back(connect_client());
  EXPECT_EQ(packet_thread_times().size(), 2U);
  carry(pairs);
}

// Trains of its packets come as one, whichever connection they are of.
TEST_F(PortGroupTest, KeepsTheConnectionsOfOneAddressTogether) {
  clients.push_back(make_engine(io, options_with_threads(1)).value());
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < 3; ++i) pairs.push_back(connect_by(*clients.back()));
  EXPECT_TRUE(packet_thread_times().empty());
  carry(pairs);
}

TEST_F(PortGroupTest, TellsEachEndOfTheOthersClose) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < 3; ++i) pairs.push_back(connect_client());
  std::array<std::byte, 8> into{};
  for (Pair& pair : pairs) {
    ASSERT_TRUE(write(*pair.there, random_bytes(8, 1)));
    pair.there->close(1s);
    ASSERT_TRUE(read(*pair.here, into));
    EXPECT_EQ(read_some(*pair.here, into).value(), 0U);
  }
}

TEST_F(PortGroupTest, TellsItsUserWhenAPeerHasClosed) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < 3; ++i) pairs.push_back(connect_client());
  std::array<std::byte, 8> into{};
  for (Pair& pair : pairs) {
    pair.here->close({});
    EXPECT_EQ(read_some(*pair.there, into).value(), 0U);
    EXPECT_EQ(write(*pair.there, into).error().code, Errc::connection_broken);
  }
}

TEST_F(PortGroupTest, FillsTheThreadThatHasLostItsConnection) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < 3; ++i) pairs.push_back(connect_client());
  for (std::size_t i = 0; i < 20; ++i) {
    end(pairs[1]);
    run_for(20ms);  // it drains
    pairs[1] = connect_client();
  }
  EXPECT_EQ(packet_thread_times().size(), 2U);
  carry(pairs);
}

TEST_F(PortGroupTest, CountsWhatAThreadsChannelHasCarried) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < 2; ++i) pairs.push_back(connect_client());
  carry(pairs);
  EXPECT_TRUE(drained(*pairs[1].there));
  EXPECT_TRUE(run_until([&] { return pairs[1].there->stats().bytes_received >= kBulkBytes; }));
  EXPECT_GE(pairs[1].there->stats().packets_sent, kBulkBytes / 1500 / 44);
  EndStats end;
  pairs[1].there->add_end_stats(end);
  EXPECT_GT(end.packets_sent, 0U);
  EXPECT_GT(end.socket_buffer_bytes, 0U);
}

TEST_F(PortGroupTest, EndsWhileItsConnectionsAreBusy) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < 5; ++i) pairs.push_back(connect_client());
  std::vector<std::vector<std::byte>> into(pairs.size(), std::vector<std::byte>(2 * kBulkBytes));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].here->async_write(copy_of(random_bytes(kBulkBytes, 1)), [](const Status&) {});
    pairs[i].there->async_write(copy_of(random_bytes(kBulkBytes, 2)), [](const Status&) {});
    pairs[i].there->async_read(into[i], [](const Status&) { ADD_FAILURE() << "not all of it was written"; });
  }
  run_for(5ms);
  pairs.clear();
  into.clear();
  acceptor.reset();
  engine.reset();
  EXPECT_TRUE(packet_thread_times().empty());
}

TEST_F(PortGroupTest, DropsConnectionsThatNobodyHasAccepted) {
  std::vector<std::optional<Result<std::unique_ptr<Channel>>>> here(3);
  for (auto& one : here) {
    clients.push_back(make_engine(io, options_with_threads(1)).value());
    clients.back()->async_connect(local, {}, 5s, [&](auto result) { one = std::move(result); });
    ASSERT_TRUE(run_until([&] { return one.has_value(); }));
  }
  acceptor.reset();
  std::array<std::byte, 8> into{};
  for (auto& one : here) EXPECT_FALSE(read(***one, into));
}

/// A plain UDT client of a few packets.
class RawClient {
 public:
  explicit RawClient(const Endpoint& to) : to_(to) { EXPECT_TRUE(socket_.bind(loopback(AddressFamily::ipv4))); }

  void send(std::span<const std::byte> packet) {
    EXPECT_EQ(::sendto(socket_.descriptor(), packet.data(), packet.size(), 0, to_.data(),
                       static_cast<socklen_t>(to_.size_bytes())),
              static_cast<ssize_t>(packet.size()));
  }
  void send(const HandshakePacket& handshake) { send(encode(handshake, 0, 0, std::nullopt)); }
  /// The next handshake packet that has come.
  std::optional<HandshakePacket> take() {
    std::array<std::byte, 2000> packet{};
    const auto got = ::recv(socket_.descriptor(), packet.data(), packet.size(), MSG_DONTWAIT);
    if (got < static_cast<ssize_t>(kHeaderBytes)) return std::nullopt;
    const auto bytes = std::span<const std::byte>(packet).first(static_cast<std::size_t>(got));
    if (!is_control(bytes) || decode_control_header(bytes).type != ControlType::handshake) return std::nullopt;
    return decode_handshake(bytes.subspan(kHeaderBytes));
  }

 private:
  const Endpoint to_;
  net::UdpSocket socket_ = net::UdpSocket::open(AddressFamily::ipv4).value();
};

class WrongPort : public PortGroupTest {
 protected:
  static constexpr std::uint32_t kInitialSequence = 1000;

  HandshakePacket ask(RawClient& client, const HandshakePacket& question) {
    std::optional<HandshakePacket> answer;
    client.send(question);
    EXPECT_TRUE(run_until([&] { return (answer = client.take()).has_value(); }));
    return answer.value_or(HandshakePacket());
  }
  /// returns   the listener's number of the connection
  std::uint32_t connect(RawClient& client) {
    request = {.initial_sequence = kInitialSequence, .mss = 1500, .flow_window = 8192, .socket_id = 77};
    request.cookie = ask(client, request).cookie;
    request.request = Request::conclusion;
    acceptor->async_accept([&](auto result) { accepted = std::move(*result); });
    const std::uint32_t id = ask(client, request).socket_id;
    EXPECT_TRUE(run_until([&] { return accepted != nullptr; }));
    return id;
  }
  /// A data packet with that message number.
  static std::vector<std::byte> data(std::uint32_t id, std::uint32_t message, std::span<const std::byte> payload) {
    std::vector<std::byte> packet(kHeaderBytes + payload.size());
    encode(DataHeader{kInitialSequence, message, 0, id}, std::span(packet).first<kHeaderBytes>());
    std::ranges::copy(payload, packet.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes));
    return packet;
  }

  HandshakePacket request;
  std::unique_ptr<Channel> accepted;
};

TEST_F(WrongPort, HandsOverWhatIsOfAnothersConnection) {
  constexpr std::uint32_t kStunCookieAsMessage =
      0x2112'a442;  // by which the filter takes it for STUN: the first port's
  const Pair first = connect_client();
  RawClient client(local);
  const std::uint32_t id = connect(client);
  EXPECT_EQ(id % 3, 1U);
  ASSERT_EQ(packet_thread_times().size(), 1U);
  const auto payload = random_bytes(100, 3);
  client.send(data(id, kStunCookieAsMessage, payload));
  std::vector<std::byte> got(payload.size());
  ASSERT_TRUE(read(*accepted, got));
  EXPECT_EQ(got, payload);
}

TEST_F(WrongPort, AnswersAConclusionOfAConnectionElsewhereAsBefore) {
  const Pair first = connect_client();
  RawClient client(local);
  const std::uint32_t id = connect(client);
  EXPECT_EQ(ask(client, request).socket_id, id);
}

}  // namespace
}  // namespace udtcat::transport::native
