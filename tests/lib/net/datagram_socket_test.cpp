// SPDX-License-Identifier: Apache-2.0
#include "lib/net/datagram_socket.hpp"
#include "lib/core/dropped_datagrams.hpp"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include <udtcat/log.hpp>

#include "lib/core/user_text.hpp"
#include "support/addresses.hpp"
#include "support/bytes.hpp"

namespace udtcat::net {
namespace {

using test::loopback;
using test::numbered_bytes;

constexpr std::size_t kMaxDatagramBytes = 65535;  // spec: RFC 768, length field
constexpr std::size_t kChunkBytes = kMaxDatagramBytes + 1;
constexpr std::size_t kBufferBytes = 4 << 20;

Endpoint address_of(const std::string& host, AddressFamily family) { return resolve({host, 0}, family)->front(); }

DatagramSocket open_at(const Endpoint& local, DatagramSocket::Options options = {}) {
  auto socket = UdpSocket::open(local.family()).value();
  EXPECT_TRUE(socket.bind(local));
  if (options.receive_buffer_bytes == 0) options.receive_buffer_bytes = kBufferBytes;
  return std::move(DatagramSocket::make(std::move(socket), options)).value();
}
DatagramSocket open_plain(const Endpoint& local) {
  DatagramSocket::Options options;
  options.offload = false;
  return open_at(local, options);
}
DatagramSocket open_telling(const Endpoint& local) {
  DatagramSocket::Options options;
  options.tell_local = true;
  return open_at(local, options);
}

Endpoint endpoint_of(const DatagramSocket& socket) { return socket.socket().local_endpoint().value(); }

/// All of `bytes`, in datagrams of `segment_bytes`, gathered from pieces of `piece_bytes` at most.
DatagramTrain train_of(const std::vector<std::byte>& bytes, const Endpoint& to, std::size_t segment_bytes,
                       std::size_t piece_bytes = kMaxDatagramBytes) {
  DatagramTrain train;
  train.to = to;
  train.segment_bytes = segment_bytes;
  train.total_bytes = bytes.size();
  for (std::size_t start = 0; start < bytes.size(); start += segment_bytes) {
    const auto datagram = std::span(bytes).subspan(start, std::min(segment_bytes, bytes.size() - start));
    const auto before = train.pieces.size();
    for (std::size_t at = 0; at < datagram.size(); at += piece_bytes)
      train.pieces.push_back(datagram.subspan(at, std::min(piece_bytes, datagram.size() - at)));
    train.piece_counts.push_back(static_cast<std::uint16_t>(train.pieces.size() - before));
  }
  return train;
}

bool readable(const DatagramSocket& socket, int timeout_ms) {
  pollfd wanted{socket.socket().descriptor(), POLLIN, 0};
  return ::poll(&wanted, 1, timeout_ms) == 1 && (wanted.revents & POLLIN) != 0;
}

/// The datagrams that have come over loopback, where a send is a receive.
class Inbox {
 public:
  void take_from(DatagramSocket& socket, std::size_t expected_bytes) {
    while (bytes().size() < expected_bytes && readable(socket, 2000)) socket.receive(trains, 16, chunks_);
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::vector<std::byte> joined;
    for (const auto& train : trains) {
      const auto part = train.chunk.bytes().first(train.total_bytes);
      joined.insert(joined.end(), part.begin(), part.end());
    }
    return joined;
  }
  [[nodiscard]] std::vector<std::size_t> datagram_bytes() const {
    std::vector<std::size_t> sizes;
    for (const auto& train : trains)
      for (std::size_t at = 0; at < train.total_bytes; at += train.segment_bytes)
        sizes.push_back(std::min(train.segment_bytes, train.total_bytes - at));
    return sizes;
  }

 private:
  core::ChunkPool chunks_{kChunkBytes};

 public:
  std::vector<ReceivedTrain> trains;
};

void expect_sent(const SendResult& result, std::size_t datagrams) {
  EXPECT_EQ(result.state, SendState::sent) << core::errno_text(result.errno_value);
  EXPECT_EQ(result.datagrams, datagrams);
}

/// The log's lines while it lives.
class LogWatch {
 public:
  LogWatch() {
    set_log_sink(LogLevel::info, [this](LogLevel, std::string_view line) { text_.append(line).push_back('\n'); });
  }
  ~LogWatch() { set_log_sink(LogLevel::info, {}); }
  LogWatch(const LogWatch&) = delete;
  LogWatch& operator=(const LogWatch&) = delete;

  [[nodiscard]] std::size_t lines() const {
    return static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n'));
  }
  [[nodiscard]] std::string text() const { return text_; }

 private:
  std::string text_;
};

class DatagramSockets : public testing::TestWithParam<AddressFamily> {
 protected:
  Endpoint here = loopback(GetParam());
};

TEST_P(DatagramSockets, MoveATrainAsOne) {
  auto receiver = open_at(here);
  auto sender = open_at(here);
  const auto bytes = numbered_bytes(43 * 1472 + 100);
  expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 1472)), 44);
  Inbox inbox;
  inbox.take_from(receiver, bytes.size());
  EXPECT_EQ(inbox.bytes(), bytes);
  ASSERT_EQ(inbox.trains.size(), 1U) << "loopback hands a train on as it is";
  EXPECT_EQ(inbox.trains[0].segment_bytes, 1472U);
  EXPECT_EQ(inbox.trains[0].from, endpoint_of(sender));
  EXPECT_FALSE(inbox.trains[0].to) << "nobody asked";
}

TEST_P(DatagramSockets, MoveTheSameDatagramsWithAndWithoutOffload) {
  const auto bytes = numbered_bytes(150 * 1000 + 1);
  const std::vector<std::size_t> whole(150, 1000);
  for (const bool sends_trains : {true, false})
    for (const bool takes_trains : {true, false}) {
      auto receiver = takes_trains ? open_at(here) : open_plain(here);
      auto sender = sends_trains ? open_at(here) : open_plain(here);
      expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 1000)), 151);
      Inbox inbox;
      inbox.take_from(receiver, bytes.size());
      EXPECT_EQ(inbox.bytes(), bytes);
      auto sizes = inbox.datagram_bytes();
      EXPECT_EQ(sizes.back(), 1U);
      sizes.pop_back();
      EXPECT_EQ(sizes, whole);
      EXPECT_EQ(inbox.trains.size(), sends_trains && takes_trains ? 3U : 151U) << "64 datagrams a message";
    }
}

TEST_P(DatagramSockets, GatherEachDatagramFromItsPieces) {
  for (const bool offload : {true, false}) {
    auto receiver = open_at(here);
    auto sender = offload ? open_at(here) : open_plain(here);
    const auto bytes = numbered_bytes(40 * 1200 + 7);
    expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 1200, 501)), 41);
    Inbox inbox;
    inbox.take_from(receiver, bytes.size());
    EXPECT_EQ(inbox.bytes(), bytes);
  }
}

TEST_P(DatagramSockets, SplitATrainOfMorePiecesThanAMessageTakes) {
  for (const bool offload : {true, false}) {
    auto receiver = open_at(here);
    auto sender = offload ? open_at(here) : open_plain(here);
    const auto bytes = numbered_bytes(64 * 300);
    expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 300, 11)), 64);
    Inbox inbox;
    inbox.take_from(receiver, bytes.size());
    EXPECT_EQ(inbox.bytes(), bytes);
    EXPECT_EQ(inbox.trains.size(), offload ? 2U : 64U) << "of 28 pieces a datagram";
  }
}

TEST_P(DatagramSockets, SplitATrainOfMoreBytesThanAMessageTakes) {
  auto receiver = open_at(here);
  auto sender = open_at(here);
  const auto bytes = numbered_bytes(20 * 9000);
  expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 9000)), 20);
  Inbox inbox;
  inbox.take_from(receiver, bytes.size());
  EXPECT_EQ(inbox.bytes(), bytes);
  EXPECT_EQ(inbox.trains.size(), 3U);
}

TEST_P(DatagramSockets, FillAMessageToItsLastByte) {
  const std::size_t largest_datagram = GetParam() == AddressFamily::ipv6 ? 65527 : 65507;
  auto receiver = open_at(here);
  auto sender = open_at(here);
  const std::pair<std::size_t, std::size_t> rows[] = {{65469, 1300}, {largest_datagram, largest_datagram}};
  for (const auto& [total_bytes, segment_bytes] : rows) {
    const auto bytes = numbered_bytes(total_bytes);
    const auto train = train_of(bytes, endpoint_of(receiver), segment_bytes);
    expect_sent(sender.send(train), train.datagrams());
    Inbox inbox;
    inbox.take_from(receiver, bytes.size());
    EXPECT_EQ(inbox.bytes(), bytes);
    EXPECT_EQ(inbox.trains.size(), 1U);
  }
}

TEST_P(DatagramSockets, SayWhichDatagramIsTooLarge) {
  auto receiver = open_at(here);
  auto sender = open_at(here);
  const auto bytes = numbered_bytes(2 * 65530);
  const auto result = sender.send(train_of(bytes, endpoint_of(receiver), 65530));
  EXPECT_EQ(result.state, SendState::too_large);
  EXPECT_EQ(result.datagrams, 0U);
  sender.probe_path_mtu(true);
  EXPECT_EQ(sender.send(train_of(bytes, endpoint_of(receiver), 65530)).state, SendState::too_large);
}

TEST_P(DatagramSockets, TellWhereADatagramWasSentTo) {
  auto receiver = open_telling(address_of("", GetParam()));
  auto sender = open_at(here);
  const auto bytes = numbered_bytes(10);
  expect_sent(sender.send(train_of(bytes, here.with_port(endpoint_of(receiver).port()), 10)), 1);
  Inbox inbox;
  inbox.take_from(receiver, bytes.size());
  ASSERT_EQ(inbox.trains.size(), 1U);
  EXPECT_EQ(inbox.trains[0].to, here);
}

TEST_P(DatagramSockets, SendFromTheAddressAskedFor) {
  auto receiver = open_at(here);
  for (const bool offload : {true, false}) {
    auto sender = offload ? open_at(address_of("", GetParam())) : open_plain(address_of("", GetParam()));
    const auto bytes = numbered_bytes(5 * 700);
    auto train = train_of(bytes, endpoint_of(receiver), 700);
    train.from = here.with_port(9);
    expect_sent(sender.send(train), 5);
    Inbox inbox;
    inbox.take_from(receiver, bytes.size());
    EXPECT_EQ(inbox.bytes(), bytes);
    for (const auto& received : inbox.trains)
      EXPECT_EQ(received.from, here.with_port(endpoint_of(sender).port())) << "the port is the socket's";
  }
}

TEST_P(DatagramSockets, ReceiveNothingFromAnEmptyQueue) {
  auto receiver = open_at(here);
  core::ChunkPool chunks(kChunkBytes);
  std::vector<ReceivedTrain> trains;
  EXPECT_EQ(receiver.receive(trains, 16, chunks), 0U);
  EXPECT_EQ(receiver.receive(trains, 0, chunks), 0U);
  EXPECT_TRUE(trains.empty());
  EXPECT_EQ(chunks.in_use(), 0U);
}

TEST_P(DatagramSockets, TakeNoMoreThanAskedFor) {
  auto receiver = open_plain(here);
  auto sender = open_plain(here);
  const auto bytes = numbered_bytes(40 * 10);
  expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 10)), 40);
  core::ChunkPool chunks(kChunkBytes);
  std::vector<ReceivedTrain> trains;
  ASSERT_TRUE(readable(receiver, 2000));
  EXPECT_EQ(receiver.receive(trains, 3, chunks), 3U);
  EXPECT_EQ(chunks.in_use(), 3U);
  EXPECT_EQ(receiver.receive(trains, 1000, chunks), 16U);
  EXPECT_EQ(trains.size(), 19U) << "appended";
  EXPECT_EQ(trains[18].chunk.bytes()[0], bytes[180]);
}

TEST_P(DatagramSockets, DropWhatIsLargerThanAChunkOrEmpty) {
  auto receiver = open_at(here);
  auto sender = open_plain(here);
  const auto large = numbered_bytes(2000);
  const auto small = numbered_bytes(20);
  expect_sent(sender.send(train_of(large, endpoint_of(receiver), 2000)), 1);
  DatagramTrain empty = train_of({}, endpoint_of(receiver), 1);
  empty.piece_counts.push_back(0);
  expect_sent(sender.send(empty), 1);
  core::ChunkPool chunks(1000);
  std::vector<ReceivedTrain> trains;
  ASSERT_TRUE(readable(receiver, 2000));
  EXPECT_EQ(receiver.receive(trains, 1, chunks), 0U);
  expect_sent(sender.send(train_of(large, endpoint_of(receiver), 2000)), 1);
  expect_sent(sender.send(train_of(small, endpoint_of(receiver), 20)), 1);
  ASSERT_TRUE(readable(receiver, 2000));
  EXPECT_EQ(receiver.receive(trains, 1, chunks), 1U) << "what is behind a dropped one is there";
  ASSERT_EQ(trains.size(), 1U);
  EXPECT_EQ(trains[0].total_bytes, 20U);
  EXPECT_EQ(chunks.in_use(), 1U);
}

TEST_P(DatagramSockets, AreNotDisturbedByTheRefusalsOfOthers) {
  const Endpoint nobody = endpoint_of(open_at(here));
  auto receiver = open_at(here);
  auto sender = open_at(here);
  ASSERT_TRUE(sender.socket().keep_path_errors());
  const auto bytes = numbered_bytes(5 * 100);
  core::ChunkPool chunks(kChunkBytes);
  std::vector<ReceivedTrain> nothing;
  for (int i = 0; i < 20; ++i) {
    expect_sent(sender.send(train_of(bytes, nobody, 100)), 5);
    EXPECT_EQ(sender.receive(nothing, i % 2 == 0 ? 16 : 0, chunks), 0U);
    expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 100)), 5);
  }
  Inbox inbox;
  inbox.take_from(receiver, 20 * bytes.size());
  EXPECT_EQ(inbox.datagram_bytes(), std::vector<std::size_t>(100, 100));
}

TEST_P(DatagramSockets, CountWhatTheirBufferHadNoRoomFor) {
  DatagramSocket::Options small;
  small.offload = false;
  small.receive_buffer_bytes = 16384;
  auto receiver = open_at(here, small);
  const std::uint64_t dropped_before = core::dropped_datagrams();
  EXPECT_GE(receiver.receive_buffer_bytes(), 16384U);
  EXPECT_LT(receiver.receive_buffer_bytes(), 65536U);
  auto sender = open_plain(here);
  const auto bytes = numbered_bytes(64 * 1000);
  std::size_t sent = 0;
  std::size_t received = 0;
  core::ChunkPool chunks(kChunkBytes);
  std::vector<ReceivedTrain> trains;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(receiver.receive_drops(), sent - received) << "as of the last one received";
    expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 1000)), 64);
    sent += 64;
    while (readable(receiver, 0)) received += receiver.receive(trains, 16, chunks);
    // The next one to come tells of the drops.
    expect_sent(sender.send(train_of(numbered_bytes(1), endpoint_of(receiver), 1)), 1);
    sent += 1;
    ASSERT_TRUE(readable(receiver, 2000));
    received += receiver.receive(trains, 16, chunks);
    EXPECT_LT(received, sent);
  }
  EXPECT_EQ(receiver.receive_drops(), sent - received);
  EXPECT_EQ(core::dropped_datagrams() - dropped_before, sent - received) << "of the process, each once";
}

TEST_P(DatagramSockets, FailForAReasonOfTheirOwn) {
  auto sender = open_at(here);
  const auto bytes = numbered_bytes(2 * 10);
  auto train = train_of(bytes, endpoint_of(sender), 10);
  train.from = address_of(GetParam() == AddressFamily::ipv6 ? "2001:db8::1" : "192.0.2.1", GetParam());
  const LogWatch log;
  const auto result = sender.send(train);
  EXPECT_EQ(result.state, SendState::failed) << "nobody sends from an address that is not there";
  EXPECT_NE(result.errno_value, 0);
  EXPECT_EQ(result.datagrams, 0U);
  EXPECT_EQ(log.lines(), 0U) << "trains are not at fault: " << log.text();
}

/// The kernel cuts no train that is to go without checksums.
void refuse_trains(DatagramSocket& sender, DatagramSocket& receiver) {
  const int on = 1;
  const int from = sender.socket().descriptor();
  const int to = receiver.socket().descriptor();
  if (sender.socket().family() == AddressFamily::ipv6) {
    ASSERT_EQ(::setsockopt(from, IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof on), 0);
    ASSERT_EQ(::setsockopt(to, IPPROTO_UDP, UDP_NO_CHECK6_RX, &on, sizeof on), 0);
  } else {
    ASSERT_EQ(::setsockopt(from, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
  }
}

TEST_P(DatagramSockets, GoOnSinglyWhereTrainsAreRefused) {
  auto receiver = open_at(here);
  auto sender = open_at(here);
  sender.probe_path_mtu(true);
  refuse_trains(sender, receiver);
  const auto bytes = numbered_bytes(30 * 900);
  const LogWatch log;
  Inbox inbox;
  for (const std::size_t segment_bytes : {900U, 900U, 300U})
    expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), segment_bytes)), bytes.size() / segment_bytes);
  inbox.take_from(receiver, 3 * bytes.size());
  EXPECT_EQ(inbox.trains.size(), 30U + 30U + 90U) << "each datagram on its own";
  EXPECT_EQ(log.lines(), 1U) << log.text();
  EXPECT_EQ(sender.max_train_datagrams(), 64U) << "in one call still";
}

TEST_P(DatagramSockets, TrySmallerTrainsWhereTheRefusalMayBeForTheirSize) {
  auto receiver = open_at(here);
  auto sender = open_at(here);
  refuse_trains(sender, receiver);
  const auto bytes = numbered_bytes(30 * 900);
  const LogWatch log;
  Inbox inbox;
  for (const std::size_t segment_bytes : {900U, 900U, 300U})
    expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), segment_bytes)), bytes.size() / segment_bytes);
  inbox.take_from(receiver, 3 * bytes.size());
  EXPECT_EQ(inbox.trains.size(), 30U + 30U + 90U);
  EXPECT_EQ(log.lines(), 2U) << "without probing, EINVAL may speak of fragments: " << log.text();
}

INSTANTIATE_TEST_SUITE_P(BothFamilies, DatagramSockets, testing::Values(AddressFamily::ipv4, AddressFamily::ipv6),
                         [](const auto& row) { return row.param == AddressFamily::ipv6 ? "Ipv6" : "Ipv4"; });

/// A socket whose paths are as narrow as IPv6 allows.
DatagramSocket open_narrow(std::size_t mtu_bytes) {
  auto sender = open_at(loopback(AddressFamily::ipv6));
  const int mtu = static_cast<int>(mtu_bytes);
  EXPECT_EQ(::setsockopt(sender.socket().descriptor(), IPPROTO_IPV6, IPV6_MTU, &mtu, sizeof mtu), 0);
  return sender;
}

TEST(DatagramSocket, KeepsOffloadWhereATrainsDatagramsExceedThePath) {
  auto receiver = open_at(loopback(AddressFamily::ipv6));
  auto sender = open_narrow(1280);
  sender.probe_path_mtu(true);
  const auto bytes = numbered_bytes(10 * 1233);
  const LogWatch log;
  const auto refused = sender.send(train_of(bytes, endpoint_of(receiver), 1233));
  EXPECT_EQ(refused.state, SendState::too_large);
  EXPECT_EQ(refused.datagrams, 0U);
  expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 1232)), 11);
  Inbox inbox;
  inbox.take_from(receiver, bytes.size());
  EXPECT_EQ(inbox.bytes(), bytes);
  EXPECT_EQ(inbox.trains.size(), 1U) << "1232 bytes fit";
  EXPECT_EQ(log.lines(), 0U) << log.text();
}

TEST(DatagramSocket, SendsFragmentsWhereItDoesNotProbe) {
  auto receiver = open_at(loopback(AddressFamily::ipv6));
  auto sender = open_narrow(1280);
  sender.probe_path_mtu(true);
  sender.probe_path_mtu(false);
  const auto bytes = numbered_bytes(10 * 1300);
  expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 1300)), 10);
  expect_sent(sender.send(train_of(bytes, endpoint_of(receiver), 1000)), 13);
  Inbox inbox;
  inbox.take_from(receiver, 2 * bytes.size());
  EXPECT_EQ(inbox.datagram_bytes().size(), 23U);
  EXPECT_EQ(inbox.trains.size(), 11U) << "those that need no fragments go as a train";
}

TEST(DatagramSocket, KnowsItsAddressesOnTheLoopbackNet) {
  const auto family = AddressFamily::ipv4;
  auto server = open_telling(address_of("", family));
  auto client = open_at(loopback(family));
  const auto bytes = numbered_bytes(3 * 500);
  const Endpoint second = address_of("127.0.0.2", family);
  expect_sent(client.send(train_of(bytes, second.with_port(endpoint_of(server).port()), 500)), 3);
  Inbox at_server;
  at_server.take_from(server, bytes.size());
  ASSERT_EQ(at_server.trains.size(), 1U);
  EXPECT_EQ(at_server.trains[0].to, second);
  auto answer = train_of(bytes, at_server.trains[0].from, 500);
  answer.from = at_server.trains[0].to;
  expect_sent(server.send(answer), 3);
  Inbox at_client;
  at_client.take_from(client, bytes.size());
  EXPECT_EQ(at_client.bytes(), bytes);
  ASSERT_EQ(at_client.trains.size(), 1U);
  EXPECT_EQ(at_client.trains[0].from, second.with_port(endpoint_of(server).port()));
}

TEST(DatagramSocket, KeepsTheBuffersThatWereNotRequested) {
  auto before = UdpSocket::open(AddressFamily::ipv4).value();
  auto plain = DatagramSocket::make(UdpSocket::open(AddressFamily::ipv4).value(), {}).value();
  before.request_buffers(0, 0);
  int bytes = 0;
  socklen_t length = sizeof bytes;
  ASSERT_EQ(::getsockopt(before.descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, &length), 0);
  EXPECT_EQ(plain.receive_buffer_bytes(), static_cast<std::size_t>(bytes));
  EXPECT_GT(bytes, 100 * 1024);
}

TEST(DatagramSocket, CanBeMoved) {
  auto receiver = open_at(loopback(AddressFamily::ipv4));
  auto first = open_at(loopback(AddressFamily::ipv4));
  auto second = std::move(first);
  second = open_plain(loopback(AddressFamily::ipv4));
  const auto bytes = numbered_bytes(1);
  expect_sent(second.send(train_of(bytes, endpoint_of(receiver), 1)), 1);
  Inbox inbox;
  inbox.take_from(receiver, 1);
  EXPECT_EQ(inbox.bytes(), bytes);
}

}  // namespace
}  // namespace udtcat::net
