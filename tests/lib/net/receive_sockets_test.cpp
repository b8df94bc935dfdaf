// SPDX-License-Identifier: Apache-2.0
#include "lib/net/receive_sockets.hpp"

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "lib/core/byte_order.hpp"
#include "support/addresses.hpp"
#include "support/deadline.hpp"
#include "support/ordinary_user.hpp"

namespace udtcat::net {
namespace {

using test::loopback;

constexpr std::size_t kTrainChunkBytes = 64 * 1024;
constexpr std::size_t kPacketBytes = 1472;
constexpr std::size_t kTrainPackets = 40;
constexpr std::size_t kSockets = 8;

/// The largest SO_RCVBUF that a user may ask for.
std::size_t largest_wish() {
  std::ifstream file("/proc/sys/net/core/rmem_max");
  std::size_t bytes = 0;
  file >> bytes;
  return bytes;
}

DatagramSocket open_as_a_user(const Endpoint& local, std::size_t receive_buffer_bytes) {
  const test::OrdinaryUser user;
  auto socket = UdpSocket::open(local.family()).value();
  EXPECT_TRUE(socket.bind(local));
  return std::move(DatagramSocket::make(std::move(socket), {.receive_buffer_bytes = receive_buffer_bytes})).value();
}

Endpoint bound_at(const DatagramSocket& socket) { return socket.socket().local_endpoint().value(); }

/// A train of data packets, whose first words are their sequence numbers.
void send_train(DatagramSocket& sender, const Endpoint& to, std::uint32_t first_sequence) {
  std::vector<std::byte> bytes(kTrainPackets * kPacketBytes);
  DatagramTrain train;
  train.to = to;
  train.segment_bytes = kPacketBytes;
  train.total_bytes = bytes.size();
  for (std::size_t i = 0; i < kTrainPackets; ++i) {
    const auto packet = std::span(bytes).subspan(i * kPacketBytes, kPacketBytes);
    core::store_be(packet.first(4), first_sequence + static_cast<std::uint32_t>(i));
    train.pieces.emplace_back(packet);
    train.piece_counts.push_back(1);
  }
  EXPECT_EQ(sender.send(train).state, SendState::sent);
}

/// The sequence numbers of the trains that are there, in the order in which they are given.
std::vector<std::uint32_t> receive_all(DatagramSocket& receiver, std::size_t most = 3) {
  core::ChunkPool chunks(kTrainChunkBytes);
  std::vector<ReceivedTrain> trains;
  while (receiver.receive(trains, most, chunks) == most) continue;
  std::vector<std::uint32_t> firsts;
  for (const ReceivedTrain& train : trains) {
    EXPECT_EQ(train.segment_bytes, kPacketBytes);
    firsts.push_back(core::load_be<std::uint32_t>(train.chunk.bytes().first(4)));
  }
  return firsts;
}

class ReceiveSocketsTest : public testing::TestWithParam<AddressFamily> {
 protected:
  /// The system notes times of arrival from a moment after the first socket has asked for them, and before that times
  /// of reading.
  void SetUp() override {
    ASSERT_TRUE(test::eventually(std::chrono::seconds(10), [&] {
      send_train(sender, bound_at(asking_), 0);
      const auto sent = std::chrono::system_clock::now().time_since_epoch();
      core::ChunkPool chunks(kTrainChunkBytes);
      std::vector<ReceivedTrain> trains;
      return asking_.receive(trains, 1, chunks) == 1 && trains.front().arrived < sent;
    }));
  }

  const Endpoint here = loopback(GetParam());
  DatagramSocket sender = open_as_a_user(here, 0);

 private:
  DatagramSocket asking_ = open_as_a_user(here, 0);
};

TEST_P(ReceiveSocketsTest, AddSocketsWhereTheSystemLimitsTheBuffer) {
  auto receiver = open_as_a_user(here, kSockets * largest_wish());
  auto alone = open_as_a_user(here, largest_wish());
  EXPECT_EQ(receiver.receive_buffer_bytes(), kSockets * alone.receive_buffer_bytes());
  std::vector<std::uint32_t> sent;
  for (std::uint32_t i = 0; i < 3 * kSockets; ++i) sent.push_back(i * kTrainPackets);
  for (const auto sequence : sent) {
    send_train(sender, bound_at(receiver), sequence);
    send_train(sender, bound_at(alone), sequence);
  }
  EXPECT_EQ(receive_all(receiver), sent);
  EXPECT_EQ(receiver.receive_drops(), 0U);
  EXPECT_TRUE(largest_wish() > 212'992 || receive_all(alone).size() < sent.size()) << "else this proves nothing";
}

TEST_P(ReceiveSocketsTest, GiveTrainsInTheOrderOfTheirArrival) {
  auto receiver = open_as_a_user(here, kSockets * largest_wish());
  std::vector<std::uint32_t> sent(3 * kSockets);
  std::iota(sent.begin(), sent.end(), 0U);
  std::shuffle(sent.begin(), sent.end(), std::mt19937(1));
  for (auto& sequence : sent) send_train(sender, bound_at(receiver), sequence *= kTrainPackets);
  EXPECT_EQ(receive_all(receiver), sent);
}

TEST_P(ReceiveSocketsTest, AreReadableWhereOneOfThemIs) {
  auto receiver = open_as_a_user(here, kSockets * largest_wish());
  pollfd watched{receiver.readable_descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&watched, 1, 0), 0);
  for (std::uint32_t run = 0; run < 2 * kSockets; ++run) {
    send_train(sender, bound_at(receiver), run * 128);
    EXPECT_EQ(::poll(&watched, 1, 2000), 1);
    EXPECT_EQ(receive_all(receiver), std::vector<std::uint32_t>{run * 128});
    EXPECT_EQ(::poll(&watched, 1, 0), 0) << "emptied";
  }
}

TEST_P(ReceiveSocketsTest, ReceiveADatagramTooShortForTheFilter) {
  auto receiver = open_as_a_user(here, kSockets * largest_wish());
  const std::byte dot{};
  DatagramTrain train;
  train.to = bound_at(receiver);
  train.segment_bytes = train.total_bytes = 1;
  train.pieces.emplace_back(&dot, 1);
  train.piece_counts.push_back(1);
  ASSERT_EQ(sender.send(train).state, SendState::sent);
  core::ChunkPool chunks(kTrainChunkBytes);
  std::vector<ReceivedTrain> trains;
  EXPECT_EQ(receiver.receive(trains, 8, chunks), 1U);
}

TEST_P(ReceiveSocketsTest, KeepOthersFromTheirPort) {
  auto receiver = open_as_a_user(here, kSockets * largest_wish());
  const test::OrdinaryUser user;
  auto other = UdpSocket::open(GetParam()).value();
  EXPECT_FALSE(other.bind(bound_at(receiver)));
}

TEST_P(ReceiveSocketsTest, LeaveHalfOfTheDescriptorsToOthers) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = ::dup(0);
  ::close(lowest_free);
  // The socket, the epoll and two beside it, and as many descriptors again for others.
  const rlimit tight{2 * (static_cast<rlim_t>(lowest_free) + 4), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  auto receiver = open_as_a_user(here, kSockets * largest_wish());
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(receiver.receive_buffer_bytes(), 3 * open_as_a_user(here, largest_wish()).receive_buffer_bytes());
  std::vector<std::uint32_t> sent;
  for (std::uint32_t i = 0; i < 9; ++i) sent.push_back(i * kTrainPackets);
  for (const auto sequence : sent) send_train(sender, bound_at(receiver), sequence);
  EXPECT_EQ(receive_all(receiver), sent);
}

TEST_P(ReceiveSocketsTest, ReportEveryClosedPort) {
  const test::OrdinaryUser user;
  auto socket = UdpSocket::open(GetParam()).value();
  ASSERT_TRUE(socket.bind(here));
  auto asking = DatagramSocket::make(std::move(socket),
                                     {.receive_buffer_bytes = kSockets * largest_wish(), .keep_path_errors = true})
                    .value();
  core::ChunkPool chunks(kTrainChunkBytes);
  std::vector<ReceivedTrain> nothing;
  for (std::size_t i = 0; i < 4 * kSockets; ++i) {
    const Endpoint closed = bound_at(open_as_a_user(here, 0));
    send_train(asking, closed, 0);
    EXPECT_EQ(asking.receive(nothing, 1, chunks), 0U);
    const auto errors = asking.take_path_errors(64);
    ASSERT_FALSE(errors.empty()) << "attempt " << i;
    EXPECT_TRUE(errors.front().port_unreachable);
    EXPECT_EQ(errors.front().peer, closed);
  }
}

TEST_P(ReceiveSocketsTest, AreOneWhereTheSystemAllowsTheBuffer) {
  auto receiver = open_as_a_user(here, largest_wish() / 2);
  EXPECT_EQ(receiver.readable_descriptor(), receiver.socket().descriptor());
}

INSTANTIATE_TEST_SUITE_P(BothFamilies, ReceiveSocketsTest, testing::Values(AddressFamily::ipv4, AddressFamily::ipv6),
                         [](const auto& row) { return row.param == AddressFamily::ipv6 ? "Ipv6" : "Ipv4"; });

}  // namespace
}  // namespace udtcat::net
